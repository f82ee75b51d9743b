"""One input on its way up the ladder: what it has found so far, and at what price."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from physrank.geometry.space import Array
from physrank.physics import Problem, capabilities
from physrank.rungs import nested
from physrank.rungs.asked import Asked
from physrank.rungs.effort import Spent
from physrank.rungs.evidence import BelowGrid, OnGrid, Seen
from physrank.rungs.rung import Question, Rung

STEPS = "steps on the problem's grid"
CONTRACTS = 0.5  # of a step that the next one may be: beyond that, steps say nothing


@dataclass(eq=False)
class Climber:
    """A question to a problem, its best answer so far, and the level that was stood on last."""

    problem: Problem
    question: Question
    asked: Asked
    states: Array  # of the valid candidates
    anchor: Callable[[], tuple[Array, dict[str, str]]]  # their own, and who had no part in it
    rung: Rung | None = None
    below: nested.Standing | None = None
    whole: Array | None = None  # where steps on the problem's grid have led
    spent: list[Spent] = field(default_factory=list)

    @cached_property
    def anchored(self) -> tuple[Array, dict[str, str]]:
        """The anchor, found when a rung asks for it."""
        return self.anchor()

    @property
    def left_out(self) -> dict[str, str]:
        """Who had no part in the anchor; nobody, where none was needed."""
        return self.anchored[1] if "anchored" in vars(self) else {}

    @property
    def shape(self) -> tuple[int, ...]:
        return self.states.shape[1:]

    @property
    def settled(self) -> bool:
        return self.rung is not None and self.asked.settled(self.rung)

    @property
    def under(self) -> Array:
        """Where the next level starts; nowhere, where levels are marched."""
        if capabilities.cheap_to_solve(self.problem):
            return np.zeros(())
        return self._middle if self.below is None else np.asarray(self.below.state)

    @property
    def _middle(self) -> Array:
        """The median of the candidates, which no outlier moves, on a few points: a place to start from, no more."""
        grid = capabilities.grid(self.problem)
        strides = [1] * len(self.shape)
        if grid is not None:
            strides[len(strides) - len(grid.shape) :] = [max(n // 16, 1) for n in grid.shape]
        return np.median(self.states[(slice(None), *(slice(None, None, step) for step in strides))], axis=0)

    def stood(self, found: nested.Standing, seconds: float) -> None:
        """A coarser grid is reached. It counts only above one that resolved its state: the two tell how far it is off."""
        name, below, self.below = nested.name(found), self.below, found
        if below is None or not below.resolved or not bool(found.solved):
            self.spent.append(Spent(name, seconds, 1))
            return
        evidence = BelowGrid(self.problem, np.asarray(found.state), np.asarray(below.state), self.shape)
        output = np.asarray(found.output)
        seen = Seen(output, output, self._discretisation(output, below))
        self._take(Rung(name, self.question, evidence, seen, solves=1, seconds=seconds))

    def _discretisation(self, output: Array, below: nested.Standing) -> dict[str, Array]:
        """A scheme of order p leaves about a (2^p − 1)th of what the last halving changed."""
        return {"discretisation": (output - np.asarray(below.output)) / (2.0 ** capabilities.order(self.problem) - 1)}

    def looked(self, carried: Array, rest: Array, seconds: float) -> None:
        """What the problem's own grid has to say against a coarser one; of what that cannot carry, only the size counts."""
        assert self.rung is not None
        size = float(np.sum(self.question.space.norm(self.question.measured(rest))))
        against = {"unseen": 2 * (np.abs(self.question.along(carried)) + size * self.question.distances)}
        self.rung = replace(self.rung, extra={**self.rung.extra, **against})
        self.spent.append(Spent("a look at the problem's grid", seconds, 0, self._pairs))

    def stepped(self, level: int, found: nested.Steps, seconds: float) -> None:
        """Two steps on the problem's grid: the second tells what is left, all of them what the level below missed."""
        state = np.asarray(found.state)
        if not (float(found.contraction) <= CONTRACTS and np.isfinite(state).all()):
            self.spent.append(Spent(STEPS, seconds, 0))
            return
        assert self.below is not None
        ratio = 2.0 ** (level * capabilities.order(self.problem)) - 1
        change = (state - np.asarray(self.below.output)) / ratio
        evidence = OnGrid(state, state, movements={"linearisation": np.asarray(found.last), "discretisation": change})
        self.whole = state
        self._take(Rung(STEPS, self.question, evidence, evidence.seen(self.question.task), solves=0, seconds=seconds))

    def arrived(self, rung: Rung) -> None:
        """A rung on the problem's grid; the level below shows how far that grid itself may be off."""
        if self.below is not None and bool(self.below.solved):
            changes = {**rung.seen.changes, **self._discretisation(rung.proxy, self.below)}
            rung = replace(rung, seen=replace(rung.seen, changes=changes))
            looked = rung.state[-1] if self.question.task.last else rung.state
            if not float(capabilities.tail(self.problem, looked)) <= nested.RESOLVED:
                everything = np.where(np.eye(len(self.question.outputs), dtype=bool), 0.0, np.inf)
                rung = replace(rung, extra={**rung.extra, "resolution": everything})
        self._take(rung)

    def _take(self, rung: Rung) -> None:
        self.rung = self.asked.doubtful(self.problem, rung)
        self.spent.append(Spent(rung.name, rung.seconds, rung.solves, self._pairs))

    @property
    def _pairs(self) -> np.ndarray:
        """Which pairs are settled; those with an excluded candidate are nobody's question."""
        assert self.rung is not None
        missing = np.isnan(np.diagonal(self.rung.gaps))
        return self.asked.pairs(self.rung) | missing[:, None] | missing[None, :]

    def finished(self) -> Rung:
        """The answer, with the whole way as its price."""
        assert self.rung is not None
        solves, seconds = sum(step.solves for step in self.spent), sum(step.seconds for step in self.spent)
        return replace(self.rung, solves=solves, seconds=seconds, spent=tuple(self.spent))
