"""A rung: whatever yields a proxy, with how far every gap may still move and what it cost. Decisions never ask which one.

physics ─► rung: state s ─► proxy q = Q(s) ± uncertainty of every gap ─► scores, labels, best
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from physrank.geometry import TaskSpace, gap_matrix
from physrank.geometry.space import Array
from physrank.physics import Response
from physrank.rungs.effort import Spent
from physrank.rungs.evidence import Evidence, Seen
from physrank.tasks import Task

SAFETY = 2.0  # a gap is settled when it exceeds so many times what a further correction would move it by
ROUND_OFF = 64 * float(np.finfo(np.float64).eps)
MANY = 64  # candidates up to which every distance between two of them is computed
CANCELLED = 1e-3  # of its terms: a squared distance below is computed from differences
BLIND = 1e-6  # a pair differs along a direction when the cosine exceeds this


@dataclass(frozen=True, eq=False)
class Question:
    """What is asked of the physics: candidates' outputs y_i under a task, in the space where they are compared."""

    task: Task
    outputs: Array  # (N, *output); NaN for excluded candidates
    space: TaskSpace

    @classmethod
    def of(cls, task: Task, states: Array, valid: np.ndarray) -> "Question":
        outputs = task.outputs(states)
        shown = outputs if valid.all() else np.where(valid.reshape(-1, *[1] * (outputs.ndim - 1)), outputs, np.nan)
        return cls(task, shown, task.space(shown))

    @cached_property
    def unit(self) -> float:
        """A power of two in which outputs are measured before anything is squared: 1e-300 ranks like 1."""
        parts = (self.outputs.real, self.outputs.imag) if np.iscomplexobj(self.outputs) else (self.outputs,)
        size = max(max(float(np.nanmax(p, initial=0.0)), -float(np.nanmin(p, initial=0.0))) for p in parts)
        return 1.0 if size == 0 or 1e-120 < size < 1e120 else float(2.0 ** np.floor(np.log2(size)))

    def measured(self, values: Array) -> Array:
        """Outputs, or changes of them, in that unit."""
        return values if self.unit == 1.0 else values / self.unit

    @cached_property
    def distances(self) -> Array:
        """‖y_i − y_j‖, in units; for very many candidates the way over their centre, which is no shorter."""
        _, rows, products = self._centred
        squares = self._squares
        with np.errstate(invalid="ignore", over="ignore"):
            if len(rows) > MANY:
                return np.sqrt(squares)[:, None] + np.sqrt(squares)[None, :]
            terms = squares[:, None] + squares[None, :]
            found = terms - 2 * products
            for i, j in np.argwhere(np.triu(~(found > CANCELLED * terms), 1)):
                found[i, j] = found[j, i] = np.sum((rows[i] - rows[j]) ** 2)
            np.fill_diagonal(found, np.where(np.isnan(squares), np.nan, 0.0))
            return np.sqrt(found)

    @cached_property
    def _centred(self) -> tuple[Array, Array, Array]:
        """A centre c, all √M (y_i − c) as rows, and their products, in units (for very many candidates, their squares):
        differences first, so that large common parts do not cancel."""
        number = len(self.outputs)
        centre = self.outputs[int(np.argmin(np.isnan(self.outputs.reshape(number, -1)[:, 0])))]
        with np.errstate(invalid="ignore", over="ignore"):
            rows = self.space.coordinates(self.measured(self.outputs - centre))
            return centre, rows, rows @ rows.T if number <= MANY else np.einsum("nk,nk->n", rows, rows)

    @property
    def _squares(self) -> Array:
        """‖y_i − c‖², in units²."""
        products = self._centred[2]
        return products if products.ndim == 1 else np.diagonal(products)

    def _products(self, change: Array) -> Array:
        """⟨change, y_i − c⟩, in units²."""
        with np.errstate(invalid="ignore", over="ignore"):
            return self._centred[1] @ self.space.coordinates(self.measured(change))

    @property
    def all_equal(self) -> bool:
        """Whether the candidates have one and the same output."""
        return not np.any(np.nan_to_num(self._squares))

    def along(self, change: Array) -> Array:
        """⟨change, y_i − y_j⟩ for all pairs, in units²."""
        moved = self._products(change)
        return self._of_pairs(moved[:, None] - moved[None, :])

    def gaps(self, proxy: Array) -> Array:
        """G_ij = ‖q − y_j‖² − ‖q − y_i‖², in units²."""
        centre = self._centred[0]
        return self._of_pairs(gap_matrix(self._squares - 2 * self._products(proxy - centre)))

    def scores(self, proxy: Array) -> Array:
        """S_i = ‖q − y_i‖², in units²: from the products, and from the difference itself where those cancel."""
        squares, change = self._squares, self.space.coordinates(self.measured(proxy - self._centred[0]))
        with np.errstate(invalid="ignore", over="ignore"):
            terms = squares + change @ change
            found = terms - 2 * (self._centred[1] @ change)
            near = np.flatnonzero(~(found > CANCELLED * terms))
            if len(near):
                found[near] = np.sum((self._centred[1][near] - change) ** 2, axis=-1)
        return found

    def _of_pairs(self, values: Array) -> Array:
        """Zero between candidates that are the same: a sum in another order is not a difference."""
        return values if len(values) > MANY else np.where(self.distances == 0, 0.0, values)


@dataclass(frozen=True, eq=False)
class Rung:
    """An answer to a question: what the physics says, how far it may still move, and at what price."""

    name: str
    question: Question
    evidence: Evidence
    seen: Seen  # the evidence under the question's task
    solves: int  # physics solves spent
    seconds: float
    failed: str | None = None  # why the answer must not be trusted; None: it may be
    extra: Mapping[str, Array] = field(default_factory=dict)  # by cause: N × N, what moves gaps without moving s
    off: float = 0.0  # how far uncertain data may move any ‖q − y_i‖, in units
    reduction: float | None = None  # ‖A(s)‖ / ‖A(w)‖, where it is known
    spent: tuple[Spent, ...] = ()  # the way up to it
    remarks: tuple[str, ...] = ()  # what the computation itself has to say about it

    @property
    def state(self) -> Array:
        """s, on the problem's grid."""
        return self.evidence.state

    @property
    def response(self) -> Response | None:
        return self.evidence.response

    @property
    def proxy(self) -> Array:
        """q = Q(s)."""
        return self.seen.proxy

    @cached_property
    def scores(self) -> Array:
        """S_i = ‖q − y_i‖², in units²."""
        return self.question.scores(self.proxy)

    @cached_property
    def gaps(self) -> Array:
        """G_ij = S_j − S_i, in units², without the round-off of the scores."""
        return self.question.gaps(self.proxy)

    @cached_property
    def parts(self) -> dict[str, Array]:
        """By cause: how far each gap may move (N × N, units²). Estimates, not bounds; ∞ where the equation does not say."""
        question, found = self.question, {}
        for cause, change in self.seen.changes.items():
            found[cause] = 2 * SAFETY * np.abs(question.along(change))
        found |= self.extra
        found["algebra"] = 2 * self.algebra * question.distances
        if self.seen.free is not None:
            cosine = np.abs(question.along(self.seen.free))
            visible = cosine > BLIND * self.size(self.seen.free) * question.distances
            found["undetermined"] = np.where(visible, np.inf, 0.0)
        return found

    @cached_property
    def algebra(self) -> float:
        """How far q may be off because the solve stopped at ℓ, and because numbers are rounded."""
        rounding = ROUND_OFF * self.size(self.proxy)
        if self.response is None:
            return rounding
        moved = self.size(self.proxy - self.question.task.outputs(np.asarray(self.response.base)[None])[0])
        defect = float(self.response.defect_norm)
        share = float(self.response.algebraic_norm) / defect if defect > 0 else 0.0
        return min(share, 1.0) * moved + rounding

    def size(self, output: Array) -> float:
        """‖output‖ in units."""
        return float(self.question.space.norm(self.question.measured(output)))

    @property
    def reach(self) -> float:
        """How far ‖q − y_i‖ may still move, all causes together; NaN where nothing is known about it."""
        if not self.seen.changes:
            return float("nan")
        moved = SAFETY * sum(self.size(change) for change in self.seen.changes.values())
        return self.question.unit * (moved + self.algebra + self.off)

    @cached_property
    def uncertainty(self) -> Array:
        """How far each gap may still move, all causes together (N × N, units²); NaN where nothing is known about it."""
        number = len(self.question.outputs)
        if not self.seen.changes:
            return np.full((number, number), np.nan)
        return np.sum(list(self.parts.values()), axis=0)

    def seen_by(self, question: Question) -> "Rung":
        """The same physics, another question: no new solve. What was found out pair by pair is found out again."""
        extra = {cause: part for cause, part in self.extra.items() if cause == "resolution"}
        return replace(self, question=question, seen=self.evidence.seen(question.task), extra=extra, off=0.0)
