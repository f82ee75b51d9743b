"""One input on its way up the ladder: what it has found so far, and at what price."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial

import numpy as np

from physrank.geometry.space import Array
from physrank.physics import Problem, capabilities
from physrank.rungs import nested
from physrank.rungs.asked import Asked
from physrank.rungs.effort import Spent
from physrank.rungs.evidence import BelowGrid, Coarse, OnGrid, Seen
from physrank.rungs.question import MANY, Question, median
from physrank.rungs.rung import UNSEEN, Rung

STEPS, LOOK = "steps on the problem's grid", "a look at the problem's grid"
SMOOTH = 1e-10  # of the variance where a grid ends: what is lost there has 1e-5 of the size of the rest
SKIPPED = 0.1  # of a step of what is smooth that the rest may be
NOISE = 2.0  # times what lies above a grid twice as fine that may lie above a grid: structure decays by tens
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
    below: nested.OnLevel | None = None
    level: int = 1  # how many halvings lie between it and the next grid that counts
    whole: Array | None = None  # where steps on the problem's grid have led
    spent: list[Spent] = field(default_factory=list)
    _judged: tuple[Rung, bool] | None = None

    @property
    def settled(self) -> bool:
        """Whether the best answer so far settles what was asked; found out when somebody wants to know."""
        if self.rung is None:
            return False
        if self._judged is None or self._judged[0] is not self.rung:
            self._judged = self.rung, self.asked.settled(self.rung)
        return self._judged[1]

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
    def under(self) -> Array:
        """Where the next level starts; nowhere, where levels are marched."""
        if capabilities.cheap_to_solve(self.problem):
            return np.zeros(())
        return self._middle if self.below is None else np.asarray(self.below.state)

    @property
    def footing(self) -> nested.Footing:
        """`under`, and whether the level that was stood on last resolved its state: else the next one does not count."""
        return self.under, np.asarray(self.below is not None and self.below.resolved)  # pyright: ignore[reportReturnType]

    @property
    def _middle(self) -> Array:
        """The median of some candidates, which no outlier moves, on a few points: a place to start from, no more. A march
        starts from its initial state, wherever it is told to: there, anything of that shape."""
        grid = capabilities.grid(self.problem)
        strides = [max(len(self.states) // MANY, 1), *[1] * len(self.shape)]
        if grid is not None:
            strides[len(strides) - len(grid.shape) :] = [max(n // 16, 1) for n in grid.shape]
        some = self.states[tuple(slice(None, None, step) for step in strides)]
        return np.zeros(some.shape[1:], some.dtype) if capabilities.marched(self.problem) else median(some)

    def expects_nothing_above(self, level: int) -> bool:
        """Whether the candidates have about the same where this grid ends as where one twice as fine does: that is noise of
        theirs, and no reason to begin on the finer one. A guess, which costs two grids where it is wrong."""
        grid = capabilities.grid(self.problem)
        if grid is None or not self.question.task.last:
            return False
        ends = [capabilities.carried(self.problem) / 2**k for k in (level, level - 1)]
        here, finer = grid.tails(self.states[:, -1].sum(axis=0), ends)
        return bool(here <= min(nested.RESOLVED, NOISE * finer))

    def stood(self, reached: Sequence[nested.OnLevel], look: nested.Look, seconds: float) -> None:
        """Coarser grids are reached. One counts only above another that resolved its state: the two tell how far it is off,
        and a look from the last what the problem's own grid has to say against it."""
        *lower, found = reached
        for one in lower:
            self.spent.append(Spent(nested.name(one), 0.0, 1))
            self.below = one
        name, below, self.below = nested.name(found), self.below, found
        if below is None or not below.resolved or not bool(found.solved):
            self.spent.append(Spent(name, seconds, 1))
            return
        evidence = BelowGrid(self.problem, np.asarray(found.state), np.asarray(below.state), self.shape)
        output = np.asarray(found.output)
        change = capabilities.left(self.problem, 1, output - np.asarray(below.output))
        seen = Seen(output, output, {"discretisation": change})
        rung = Rung(name, self.question, evidence, seen, solves=1, seconds=seconds)
        self.spent.append(Spent(name, seconds, 1, partial(_pairs, self.asked, rung)))
        self._take(replace(rung, seen=self.looked(seen, look)), looked=True)

    def looked(self, seen: Seen, look: nested.Look) -> Seen:
        """With what the problem's own grid has to say; of what a coarser one cannot carry, only the size counts."""
        beyond = float(self.question.space.norm(self.question.measured(np.asarray(look.rest))).sum())
        return replace(seen, unseen=np.asarray(look.carried), beyond=beyond)

    def stepped(self, level: int, found: nested.Steps, seconds: float) -> None:
        """Two steps on the problem's grid: the second tells what is left, all of them what the level below missed."""
        state = np.asarray(found.state)
        if not (float(found.contraction) <= CONTRACTS and np.isfinite(state).all()):
            self.spent.append(Spent(STEPS, seconds, 0))
            return
        self.whole = state
        if not float(found.skipped) <= SKIPPED:  # whole steps have to follow
            self.spent.append(Spent(STEPS, seconds, 0))
            return
        assert self.below is not None
        coarse = Coarse(self.problem, np.asarray(self.below.state), level)
        moves = {"linearisation": np.asarray(found.last), "discretisation": np.asarray(found.left)}
        evidence = OnGrid(state, state, movements=moves, loose=float(found.contraction), coarse=coarse)
        self._take(Rung(STEPS, self.question, evidence, evidence.seen(self.question.task), solves=0, seconds=seconds))

    def arrived(self, rung: Rung) -> None:
        """A rung on the problem's grid."""
        self._take(self._beside_below(rung))

    def compared(self, level: int, found: nested.OnLevel, seconds: float) -> None:
        """What a coarser grid makes of the state that was found on the problem's own."""
        assert self.rung is not None
        self.below, self.level = found, level
        self.rung = self._beside_below(self.rung)
        name = f"a look at the {nested.name(found)}"
        self.spent.append(Spent(name, seconds, 0, partial(_pairs, self.asked, self.rung)))

    def _beside_below(self, rung: Rung) -> Rung:
        """The level below shows how far the problem's own grid may be off."""
        if self.below is None or not bool(self.below.solved):
            return rung
        coarse = Coarse(self.problem, np.asarray(self.below.state), self.level)
        change, resolved = rung.seen.further - np.asarray(self.below.output), float(self.below.tail) <= nested.RESOLVED
        change = coarse.left(change) if resolved else change
        seen = replace(rung.seen, changes={**rung.seen.changes, "discretisation": change}, unseen=None, beyond=0.0)
        if not resolved:  # neither how fast differences of grids fall is known, nor where they point
            seen = replace(seen, unseen=np.zeros_like(change), beyond=rung.size(change))
        assert isinstance(rung.evidence, OnGrid)
        rung = rung.doubted(seen=seen, evidence=replace(rung.evidence, coarse=coarse))
        if resolved:  # what a coarser grid resolves, this one does
            return rung
        looked = rung.state[-1] if self.question.task.last else rung.state
        if not float(capabilities.tail(self.problem, looked)) <= nested.RESOLVED:
            everything = np.where(np.eye(len(self.question.outputs), dtype=bool), 0.0, np.inf)
            rung = rung.doubted(extra={**rung.extra, "resolution": everything})
        return rung

    @property
    def smooth(self) -> bool:
        """Whether an explicit march is so smooth where the task looks that a coarser one, hardly cheaper, is not asked: in
        space, and what drives it in time."""
        if self.rung is None or not capabilities.cheap_to_solve(self.problem):
            return False
        if not nested.even_in_time(self.problem):
            return False
        looked = self.rung.state[-1] if self.question.task.last else self.rung.state
        return float(capabilities.tail(self.problem, looked)) <= SMOOTH

    @property
    def wants_finer(self) -> bool:
        """Whether a finer one of the grids below could settle what this one leaves open, or says nothing about."""
        assert self.rung is not None and self.below is not None
        if self.settled:
            return False
        return not bool(self.below.solved) or self.asked.left_open_by(self.rung, "discretisation", UNSEEN)

    def wants_finer_than(self, level: int) -> bool:
        """Whether the problem's own grid was reached, it is grids that leave pairs open, and this one is finer than the one
        that was stood on last."""
        if self.rung is None or self.below is None or self.rung.failed is not None:
            return False
        if not isinstance(self.rung.evidence, OnGrid) or not self.wants_finer:  # before anything is stated anew
            return False
        coarse = capabilities.coarser(self.problem, level)
        grid = None if coarse is None else capabilities.grid(coarse)
        return grid is not None and grid.shape[-1] > self.below.state.shape[-1]

    def _take(self, rung: Rung, looked: bool = False) -> None:
        """The best answer so far; its price was told before if it was only `looked` at again."""
        self.rung = self.asked.doubtful(self.problem, rung)
        name, seconds, solves = (LOOK, 0.0, 0) if looked else (rung.name, rung.seconds, rung.solves)
        self.spent.append(Spent(name, seconds, solves, partial(_pairs, self.asked, self.rung)))

    def finished(self) -> Rung:
        """The answer, with the whole way as its price."""
        assert self.rung is not None
        solves, seconds = sum(step.solves for step in self.spent), sum(step.seconds for step in self.spent)
        return self.rung.priced(solves, seconds, tuple(self.spent))


def _pairs(asked: Asked, rung: Rung) -> np.ndarray:
    """Which pairs are settled; those with an excluded candidate are nobody's question."""
    missing = np.isnan(np.diagonal(rung.gaps))
    return asked.pairs(rung) | missing[:, None] | missing[None, :]
