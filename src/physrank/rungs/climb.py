"""The ladder: the cheapest rung that settles what was asked, climbed only while something is open.

coarse grid ─► finer grids ─► the problem's own grid: response ─► corrections ─► solve
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from physrank.geometry.space import Array
from physrank.physics import Correction, Problem, capabilities
from physrank.rungs import nested
from physrank.rungs.asked import Asked
from physrank.rungs.diagnosis import defect_norm
from physrank.rungs.effort import Effort, Spent
from physrank.rungs.evidence import BelowGrid, OnGrid, Seen
from physrank.rungs.respond import correct, respond, respond_batch
from physrank.rungs.rung import Question, Rung
from physrank.rungs.solve import solve

ARITHMETIC = 2  # of the ladder: raised when what it computes changes, since studies keep what it found
WHOLE = "solve on the problem's grid"
STEPS = "steps on the problem's grid"
STEPPED = 2  # pairs of steps: each takes away a hundredfold where it serves at all
CONTRACTS = 0.5  # of a step that the next one may be: beyond that, steps say nothing


@dataclass(eq=False)
class Climber:
    """One input on its way up."""

    problem: Problem
    question: Question
    asked: Asked
    states: Array  # of the valid candidates
    anchor: Callable[
        [], tuple[Array, dict[str, str]]
    ]  # their own, and who had no part in it: asked for on the top rungs
    left_out: dict[str, str] = field(default_factory=dict)
    rung: Rung | None = None
    below: nested.Standing | None = None  # the level stood on last
    whole: Array | None = None  # where steps on the problem's grid have led
    spent: list[Spent] = field(default_factory=list)

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

    def stood(self, level: int, found: nested.Standing, seconds: float) -> None:
        """A level is reached: with the one below it, it can tell how far it may be off.

        A coarser grid counts only above one that resolved its state; the problem's own grid is what it is.
        """
        state, output = np.asarray(found.state), np.asarray(found.output)
        name, below = WHOLE if level == 0 else nested.name(found), self.below
        self.below = found
        if below is None or not found.solved or not (below.resolved or level == 0):
            self.spent.append(Spent(name, seconds, 1))
            return
        lifted = BelowGrid(self.problem, state, np.asarray(below.state), self.shape)
        evidence = lifted if level else OnGrid(state, state)
        seen = Seen(output, output, self._discretisation(output, below) if bool(below.solved) else {})
        extra = {} if level or float(found.tail) <= nested.RESOLVED else self._unresolved
        self.take(Rung(name, self.question, evidence, seen, solves=1, seconds=seconds, extra=extra), 1)

    @property
    def _unresolved(self) -> dict[str, Array]:
        """The problem's own grid does not carry its solution: then it decides nothing, and no finer one is there."""
        number = len(self.question.outputs)
        return {"resolution": np.where(np.eye(number, dtype=bool), 0.0, np.inf)}

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

    @property
    def _pairs(self) -> np.ndarray:
        """Which pairs are settled; those with an excluded candidate are nobody's question."""
        assert self.rung is not None
        missing = np.isnan(np.diagonal(self.rung.gaps))
        return self.asked.pairs(self.rung) | missing[:, None] | missing[None, :]

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
        self.take(Rung(STEPS, self.question, evidence, evidence.seen(self.question.task), solves=0, seconds=seconds), 0)

    def arrived(self, rung: Rung, solves: int = 1) -> None:
        """A rung on the problem's grid; the level below shows how far that grid itself may be off."""
        if self.below is not None and bool(self.below.solved):
            changes = {**rung.seen.changes, **self._discretisation(rung.proxy, self.below)}
            rung = replace(rung, seen=replace(rung.seen, changes=changes))
            looked = rung.state[-1] if self.question.task.last else rung.state
            if not float(capabilities.tail(self.problem, looked)) <= nested.RESOLVED:
                rung = replace(rung, extra={**rung.extra, **self._unresolved})
        self.take(rung, solves)

    def take(self, rung: Rung, solves: int) -> None:
        self.rung = self.asked.doubtful(self.problem, rung)
        self.spent.append(Spent(rung.name, rung.seconds, solves, self._pairs))


def climb(climbers: Sequence[Climber], effort: Effort, correction: Correction, width: int = 1) -> list[Rung]:
    """Inputs of one shape up the ladder together, at most `width` of them; those that are settled leave."""
    _nested(climbers, effort, width)
    _on_grid([c for c in climbers if not (effort.early and c.settled)], effort, correction, width)
    return [_finished(c) for c in climbers]


def _finished(climber: Climber) -> Rung:
    assert climber.rung is not None
    solves, seconds = (sum(getattr(step, price) for step in climber.spent) for price in ("solves", "seconds"))
    return replace(climber.rung, solves=int(solves), seconds=float(seconds), spent=tuple(climber.spent))


def _nested(climbers: Sequence[Climber], effort: Effort, width: int) -> None:
    problem = climbers[0].problem
    levels = list(nested.levels(problem)) if effort.levels else []
    if effort.early and isinstance(problem, capabilities.Polishes):
        _descend(climbers, levels, width)
        return
    below, going = levels[-effort.levels :], list(climbers)
    for k, level in enumerate([*below, 0] if below and capabilities.cheap_to_solve(problem) else below):
        if not going:
            break
        _stand(going, level, k == 0, width)
        if level and effort.early:
            _look([c for c in going if c.settled], level, width)
            going = [c for c in going if not c.settled]


def _descend(climbers: Sequence[Climber], levels: Sequence[int], width: int) -> None:
    """From the coarsest grid that resolves its state straight to the problem's own: where steps serve, a few are cheaper
    than the grids between."""
    going, first = list(climbers), climbers[0]
    for k, level in enumerate(levels):
        if not going:
            return
        started = time.perf_counter()
        under = [c.under for c in going]
        fixed = (level, first.question.task, first.shape, k == 0)
        found = nested.many(nested.descend, [c.problem for c in going], under, width, *fixed)
        seconds = (time.perf_counter() - started) / len(going)
        for climber, descent in zip(going, found, strict=True):
            climber.below = descent.coarse
            climber.spent.append(Spent(nested.name(descent.coarse), 0.0, 1))
            if descent.coarse.resolved:
                climber.stepped(level, descent.steps, seconds)
            else:
                climber.spent.append(Spent(STEPS, seconds, 0))
        _step([c for c in going if c.whole is not None and not c.settled], level, width)
        going = [c for c, d in zip(going, found, strict=True) if c.whole is None and not np.isinf(d.steps.contraction)]


def _stand(climbers: Sequence[Climber], level: int, lowest: bool, width: int) -> None:
    started, first = time.perf_counter(), climbers[0]
    problems, under = [c.problem for c in climbers], [c.under for c in climbers]
    found = nested.many(nested.stand, problems, under, width, level, first.question.task, first.shape, lowest)
    seconds = (time.perf_counter() - started) / len(climbers)
    for climber, standing in zip(climbers, found, strict=True):
        climber.stood(level, standing, seconds)


def _step(climbers: Sequence[Climber], level: int, width: int) -> None:
    """More steps while something is open."""
    going = list(climbers)
    for _ in range(STEPPED):
        if not going:
            return
        started = time.perf_counter()
        states = [c.whole for c in going]
        found = nested.many(nested.steps, [c.problem for c in going], states, width, going[0].shape)
        seconds = (time.perf_counter() - started) / len(going)
        for climber, steps in zip(going, found, strict=True):
            climber.stepped(level, steps, seconds)
        going = [c for c in going if not c.settled]


def _look(climbers: Sequence[Climber], level: int, width: int) -> None:
    """Coarse grids agree on what none of them sees: one defect on the problem's own grid must not speak against it."""
    if not climbers:
        return
    started, first = time.perf_counter(), climbers[0]
    problems, states = [c.problem for c in climbers], [c.below.state for c in climbers if c.below is not None]
    changes = nested.many(nested.unseen, problems, states, width, level, first.question.task, first.shape)
    seconds = (time.perf_counter() - started) / len(climbers)
    for climber, (carried, rest) in zip(climbers, changes, strict=True):
        climber.looked(carried, rest, seconds)


def _on_grid(climbers: Sequence[Climber], effort: Effort, correction: Correction, width: int) -> None:
    """One response at the better of two anchors, the candidates' and that of the level below; then corrections."""
    climbers = [c for c in climbers if c.below is None or c.below.state.shape != c.shape or not bool(c.below.solved)]
    if not climbers:
        return
    # A march solved step by step starts each step from the last; a response has to undo every roughness of its anchor.
    marched = climbers[0].below is not None and isinstance(climbers[0].problem, capabilities.Glances)
    if not effort.response or marched:
        for climber in climbers:
            _outright(climber)
        return
    anchors = [_better_anchor(c) for c in climbers]
    problems, questions = [c.problem for c in climbers], [c.question for c in climbers]
    if width == 1:
        rungs = [respond(problems[0], anchors[0], correction, questions[0])]
    else:
        rungs = respond_batch(*nested.filled(problems, anchors, width), correction, questions)
    for climber, rung in zip(climbers, rungs, strict=True):
        climber.arrived(rung, rung.solves)
        while _worthwhile(climber, effort):
            assert climber.rung is not None
            before = climber.rung.seconds
            further = correct(climber.problem, climber.rung)
            climber.arrived(replace(further, seconds=further.seconds - before))
        if rung.failed is not None and effort.solve:
            _outright(climber)


def _outright(climber: Climber) -> None:
    """The equation itself, unless that fails and something else is there."""
    start = None if isinstance(climber.problem, capabilities.Glances) else climber.anchor()[0]  # marches need none
    whole = solve(climber.problem, climber.problem, climber.shape, climber.question, WHOLE, start)
    if whole.failed is None or climber.rung is None:
        climber.arrived(whole)


def _worthwhile(climber: Climber, effort: Effort) -> bool:
    """Whether a further correction is allowed and could settle anything: not where it is the grid that leaves pairs open."""
    rung = climber.rung
    assert rung is not None and rung.response is not None
    if rung.failed is not None or climber.settled or rung.response.variant.count >= effort.corrections:
        return False
    kept = {cause: change for cause, change in rung.seen.changes.items() if cause != "linearisation"}
    sharper = replace(rung, seen=replace(rung.seen, changes=kept)) if kept else None
    return sharper is None or bool(np.any(climber.asked.pairs(sharper) & ~climber.asked.pairs(rung)))


def _better_anchor(climber: Climber) -> Array:
    own, climber.left_out = climber.anchor()
    if climber.below is None or not bool(climber.below.solved):
        return own
    lifted = np.asarray(capabilities.raised(climber.problem, np.asarray(climber.below.state), climber.shape))
    sizes = [defect_norm(climber.problem, state) for state in (own, lifted)]
    return lifted if sizes[1] <= sizes[0] or not np.isfinite(sizes[0]) else own
