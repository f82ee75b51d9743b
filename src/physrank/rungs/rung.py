"""A rung: whatever yields a proxy, with how far every gap may still move and what it cost. Decisions never ask which one.

physics ─► rung: state s ─► proxy q = Q(s) ± uncertainty of every gap ─► scores, labels, best
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from physrank.geometry.space import Array
from physrank.physics import Response
from physrank.rungs.effort import Spent
from physrank.rungs.evidence import Evidence, Seen
from physrank.rungs.question import Question

SAFETY = 2.0  # a gap is settled when it exceeds so many times what a further correction would move it by
ROUND_OFF = 64 * float(np.finfo(np.float64).eps)
PROXY, UNSEEN = "the proxy", "unseen"  # beside the causes of doubt
ANSWERED = ("scores", "gaps", "leader", "_relative", "algebra", "proxy_size", "_last")  # what does not depend on doubts
ASTRAY = 0.01  # of what a coarser grid changes: so much a finer one may change in any direction, also where that one is blind
BLIND = 1e-6  # a pair differs along a direction when the cosine exceeds this


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

    @property
    def _asked(self) -> dict[str, Array]:
        """The proxy, and how far it may move for every cause of doubt."""
        unseen = {} if self.seen.unseen is None else {UNSEEN: self.seen.unseen}
        return {PROXY: self.proxy, **self.seen.changes, **self.seen.free, **unseen}

    @cached_property
    def _weighed(self) -> dict[str, tuple[Array, float]]:
        """⟨change, y_i − c⟩ and ‖change‖ of all of them, and of q − c, at once: candidates are the largest arrays."""
        new = {cause: change for cause, change in self._asked.items() if cause not in self._kept}
        changes = [change - self.question.centre if cause == PROXY else change for cause, change in new.items()]
        found = zip(*self.question.weighed(changes), strict=True) if new else ()
        return self._kept | dict(zip(new, found, strict=True))

    @cached_property
    def _kept(self) -> dict[str, tuple[Array, float]]:
        """Of these, what was found before some doubt was added."""
        return {}

    @cached_property
    def scores(self) -> Array:
        """S_i = ‖q − y_i‖², in units²."""
        return self.question.scores(self.proxy, *self._weighed[PROXY])

    @cached_property
    def _relative(self) -> Array:
        """2⟨q − c, y_i − c⟩ − ‖y_i − c‖²: scores up to a common part and its sign, without its round-off."""
        with np.errstate(invalid="ignore", over="ignore"):
            return 2 * self._weighed[PROXY][0] - self.question.squares

    @cached_property
    def gaps(self) -> Array:
        """G_ij = S_j − S_i, in units², without the round-off of the scores."""
        return self.question.of_pairs(self._relative)

    @cached_property
    def leader(self) -> int | None:
        """Who loses against nobody; None where nobody has a score."""
        known = ~np.isnan(self._relative)
        return int(np.argmax(np.where(known, self._relative, -np.inf))) if known.any() else None

    @cached_property
    def parts(self) -> dict[str, Array]:
        """By cause: how far each gap may move (N × N, units²). Estimates, not bounds; ∞ where the equation does not say."""
        return self._parts()

    def _parts(self, row: int | None = None) -> dict[str, Array]:
        """Of all pairs, or of one candidate's."""
        question, found = self.question, {}
        rows = slice(None) if row is None else row
        for cause in self.seen.changes:
            moved = question.of_pairs(self._weighed[cause][0], row)
            np.multiply(np.abs(moved, out=moved), 2 * SAFETY, out=moved)
            if cause == "linearisation" and self.after_next > 0:
                moved += 2 * SAFETY * self.after_next * question.distances_of(row)
            elif cause == "discretisation":
                moved += 2 * SAFETY * ASTRAY * self._weighed[cause][1] * question.distances_of(row)
            found[cause] = moved
        if self.seen.unseen is not None:
            carried = np.abs(question.of_pairs(self._weighed[UNSEEN][0], row))
            found[UNSEEN] = 2 * (carried + self.seen.beyond * question.distances_of(row))
        found |= {cause: part[rows] for cause, part in self.extra.items()}
        found["algebra"] = 2 * self.algebra * question.distances_of(row)
        for cause in self.seen.free:
            along, size = self._weighed[cause]
            visible = np.abs(question.of_pairs(along, row)) > BLIND * size * question.distances_of(row)
            found[cause] = np.where(visible, np.inf, 0.0)
        return found

    def against_others(self, row: int) -> tuple[Array, Array]:
        """One candidate's gaps and how far they may move: for very many candidates far less than those of all pairs."""
        gaps = self.question.of_pairs(self._relative, row)
        return gaps, np.sum(list(self._parts(row).values()), axis=0) if self.seen.changes else np.full_like(
            gaps, np.nan
        )

    @cached_property
    def algebra(self) -> float:
        """How far q may be off because the solve stopped at ℓ, and because numbers are rounded."""
        rounding = ROUND_OFF * self.proxy_size
        if self.response is None:
            return rounding
        defect = float(self.response.defect_norm)
        share = float(self.response.algebraic_norm) / defect if defect > 0 else 0.0
        return min(share, 1.0) * self.size(self._last) + rounding

    @cached_property
    def _last(self) -> Array:
        """What the last correction did to q."""
        if self.response is None:
            return np.zeros_like(self.proxy)
        return self.proxy - self.question.task.outputs(np.asarray(self.response.base)[None])[0]

    def _held(self, change: Array) -> float:
        """The size of a change but for its part along directions in which nothing is known: pairs that see those are open."""
        rows = [self.question.space.coordinates(self.question.measured(free)) for free in self.seen.free.values()]
        left = self.question.space.coordinates(self.question.measured(change))
        for row in rows:
            left = left - (row @ left) / (row @ row or 1.0) * row
        return float(np.linalg.norm(left))

    @cached_property
    def after_next(self) -> float:
        """How far the correction after the next may move q, in units, in any direction: that the next one happens not to move
        a pair says nothing about it. Corrections are so many times smaller each time, also where a task hardly sees one."""
        loose, change = self.seen.loose, self.seen.changes.get("linearisation")
        if loose == 0 or change is None:
            return 0.0
        before = 0.0 if self.response is None else self._held(self._last)
        held = self._held(change) if self.seen.free else self._weighed["linearisation"][1]
        return loose * max(held, loose * before)

    @cached_property
    def proxy_size(self) -> float:
        """‖q‖ in units."""
        return self.size(self.proxy)

    def size(self, output: Array) -> float:
        """‖output‖ in units."""
        return float(self.question.space.norm(self.question.measured(output)))

    @property
    def reach(self) -> float:
        """How far ‖q − y_i‖ may still move, all causes together; NaN where nothing is known about it."""
        if not self.seen.changes:
            return float("nan")
        moved = SAFETY * (sum(self._weighed[cause][1] for cause in self.seen.changes) + self.after_next)
        if self.seen.unseen is not None:
            moved += self._weighed[UNSEEN][1] + self.seen.beyond
        return self.question.unit * (moved + self.algebra + self.off)

    @cached_property
    def uncertainty(self) -> Array:
        """How far each gap may still move, all causes together (N × N, units²); NaN where nothing is known about it."""
        number = len(self.question.outputs)
        if not self.seen.changes:
            return np.full((number, number), np.nan)
        total, *others = self.parts.values()
        total = total.copy()
        for part in others:
            total += part
        return total

    def doubted(self, **changes: Any) -> "Rung":
        """The same answer with other doubts (`seen`, `extra`, …): what was computed of the answer itself stays."""
        other = replace(self, **changes)
        vars(other).update({name: vars(self)[name] for name in ANSWERED if name in vars(self)})
        found, before, now = vars(self).get("_weighed", {}), self._asked, other._asked
        vars(other)["_kept"] = {cause: found[cause] for cause in found if now.get(cause) is before[cause]}
        return other

    def priced(self, solves: int, seconds: float, spent: tuple[Spent, ...]) -> "Rung":
        """The same at another price: what was found out about its pairs stays known."""
        found = object.__new__(Rung)
        vars(found).update(vars(self), solves=solves, seconds=seconds, spent=spent)
        return found

    def seen_by(self, question: Question) -> "Rung":
        """The same physics, another question: no new solve. What was found out pair by pair is found out again."""
        extra = {cause: part for cause, part in self.extra.items() if cause == "resolution"}
        return replace(self, question=question, seen=self.evidence.seen(question.task), extra=extra, off=0.0)
