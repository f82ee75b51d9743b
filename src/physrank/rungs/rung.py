"""A rung: whatever yields a proxy, with how far every gap may still move and what it cost. Decisions never ask which one.

physics ─► rung: state s ─► proxy q = Q(s) ± uncertainty of every gap ─► scores, labels, best
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from physrank.geometry import TaskSpace
from physrank.geometry.space import Array
from physrank.physics import Response
from physrank.tasks import Task


@dataclass(frozen=True, eq=False)
class Question:
    """What is asked of the physics: candidates' outputs y_i under a task, in the space where they are compared."""

    task: Task
    outputs: Array  # (N, *output); NaN for excluded candidates
    space: TaskSpace

    @classmethod
    def of(cls, task: Task, states: Array, valid: np.ndarray) -> "Question":
        outputs = task.outputs(states)
        shown = np.where(valid.reshape(-1, *[1] * (outputs.ndim - 1)), outputs, np.nan)
        return cls(task, shown, task.space(shown))


@dataclass(frozen=True, eq=False)
class Rung:
    """An answer to a question: a corrected state, how far it may still move, and at what price."""

    name: str
    question: Question
    state: Array  # s, on the problem's grid
    base: Array  # where it was linearised; the state itself for a solve
    solves: int  # physics solves spent
    seconds: float
    failed: str | None = None  # why the answer must not be trusted; None: it may be
    response: Response | None = None  # how the linear solve went, where there was one
    movements: Mapping[str, Array] = field(default_factory=dict)  # by cause: how far s may still move, state-shaped

    @cached_property
    def _proxies(self) -> tuple[Array, Array]:
        return self.question.task.proxies(self.base, self.state)

    @property
    def proxy(self) -> Array:
        """q = Q(s)."""
        return self._proxies[1]

    @property
    def proxy_linear(self) -> Array:
        """Q(w) + DQ(w)(s − w); equal to the proxy for linear tasks."""
        return self._proxies[0]

    @cached_property
    def parts(self) -> dict[str, Array]:
        """By cause: |2⟨Q(s + m) − Q(s), y_i − y_j⟩|, how far each gap moves when the state moves by m."""
        task, space = self.question.task, self.question.space
        outputs = self.question.outputs
        centred = outputs - np.nanmean(outputs, axis=0) if len(outputs) else outputs
        found = {}
        for cause, movement in self.movements.items():
            change = task.outputs((self.state + movement)[None])[0] - self.proxy
            moved = 2 * space.inner(change, centred)
            found[cause] = np.abs(moved[:, None] - moved[None, :])
        return found

    @property
    def uncertainty(self) -> Array:
        """How far each gap may still move, all causes together (N × N); NaN where nothing is known about it."""
        number = len(self.question.outputs)
        return sum(self.parts.values(), np.zeros((number, number))) if self.parts else np.full((number, number), np.nan)

    def asked(self, question: Question) -> "Rung":
        """The same physics, another question: no new solve."""
        return replace(self, question=question)
