"""The ladder: the cheapest rung that settles what was asked, climbed only while something is open.

coarse grid ─► finer grids ─► the problem's own grid: response ─► corrections ─► solve
"""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from physrank.geometry.space import Array
from physrank.physics import Correction, capabilities
from physrank.rungs import nested
from physrank.rungs.climber import STEPS, Climber
from physrank.rungs.diagnosis import defect_norm
from physrank.rungs.effort import Effort, Spent
from physrank.rungs.respond import correct, respond, respond_batch
from physrank.rungs.rung import Rung
from physrank.rungs.solve import retried, solve_rung, solved

ARITHMETIC = 11  # of rungs: raised when what they compute changes, since studies keep what it found
ENOUGH = 1e-4  # ‖residual‖ / ‖rhs‖ at which an iteration ends, if pairs are separated from what it leaves
STRAYED = (
    "no correction from the candidates held, so the equation was solved from where they are: if it has several solutions, "
    "this one need not be theirs"
)
STEPPED = 2  # pairs of steps: each takes away a hundredfold where it serves at all


def climb(climbers: Sequence[Climber], effort: Effort, correction: Correction, width: int = 1) -> list[Rung]:
    """Inputs of one shape up the ladder together, at most `width` of them; those that are settled leave."""
    levels = nested.levels(climbers[0].problem) if effort.levels else ()
    if effort.early and capabilities.steps_serve(climbers[0].problem):
        _descend(climbers, levels[: effort.levels], width)
    elif effort.early:
        for chosen, some in _by_start(climbers, levels, effort.levels).items():
            _ascend(some, chosen, width)
    _on_grid([c for c in climbers if not c.settled], effort, correction, width)
    if not effort.early:
        _compare(climbers, levels[-effort.levels :], width)
    for level in levels if effort.early else ():
        _compare([c for c in climbers if c.wants_finer_than(level)], (level,), width)
    return [climber.finished() for climber in climbers]


def _together(
    function: Callable[..., Any], climbers: Sequence[Climber], arrays: Sequence[Any], width: int, *fixed: Any
) -> Iterator[tuple[Climber, Any, float]]:
    """What a compiled program finds for each, with its share of the time."""
    started = time.perf_counter()
    found = nested.many(function, [c.problem for c in climbers], arrays, width, *fixed)
    seconds = (time.perf_counter() - started) / len(climbers)
    return ((climber, one, seconds) for climber, one in zip(climbers, found, strict=True))


def _by_start(
    climbers: Sequence[Climber], levels: tuple[int, ...], number: int
) -> dict[tuple[int, ...], list[Climber]]:
    """Who stands on which levels: the finest ones, or as many from a grid further down where that will do."""
    found: dict[tuple[int, ...], list[Climber]] = {}
    for climber in climbers:
        first = max(len(levels) - number, 0)
        while first > 0 and climber.expects_nothing_above(levels[first - 1]):
            first -= 1
        found.setdefault(levels[first : first + number], []).append(climber)
    return found


def _ascend(climbers: Sequence[Climber], levels: Sequence[int], width: int) -> None:
    """Level by level, until the difference of two settles it and the problem's own grid does not object. One level alone
    settles nothing, so the first two are one program."""
    going, first = list(climbers), climbers[0]
    groups = [tuple(levels[:2]), *((level,) for level in levels[2:])] if levels else []
    for group in groups:
        footings, fixed = [c.footing for c in going], (group, first.question.task, first.shape, group is groups[0])
        for climber, (reached, look), seconds in _together(nested.stand, going, footings, width, *fixed):
            climber.stood(reached, look, seconds)
        going = [c for c in going if not c.settled]
        if not going:
            return


def _compare(climbers: Sequence[Climber], levels: Sequence[int], width: int) -> None:
    """How far the problem's own grid may be off, from what coarser ones make of the state that was found there: the coarsest
    costs next to nothing, and a finer one is asked only while it is the grid that leaves pairs open."""
    if not levels or not climbers:
        return
    going, first = [c for c in climbers if c.rung is not None and c.rung.failed is None and not c.smooth], climbers[0]
    for level in levels:
        if not going:
            return
        states = [c.rung.state for c in going if c.rung is not None]
        fixed = (level, first.question.task, first.shape)
        for climber, found, seconds in _together(nested.beneath, going, states, width, *fixed):
            climber.compared(level, found, seconds)
        going = [c for c in going if c.wants_finer]


def _descend(climbers: Sequence[Climber], levels: Sequence[int], width: int) -> None:
    """From the coarsest grid that resolves its state straight to the problem's own: where steps serve, a few are cheaper
    than the grids between."""
    going = list(climbers)
    for level in levels:
        if not going:
            return
        under, next_ones = [c.under for c in going], []
        fixed = (level, climbers[0].shape, level == levels[0])
        for climber, (coarse, steps), seconds in _together(nested.descend, going, under, width, *fixed):
            climber.below = coarse
            climber.spent.append(Spent(nested.name(coarse), 0.0, 1))
            if coarse.resolved:
                climber.stepped(level, steps, seconds)
            else:
                climber.spent.append(Spent(STEPS, seconds, 0))
            if climber.whole is None and not np.isinf(steps.contraction):
                next_ones.append(climber)
        for _ in range(STEPPED):
            unsure = [c for c in going if c.whole is not None and not c.settled]
            if not unsure:
                break
            places = [(c.whole, c.below.output) for c in unsure if c.below is not None]
            for climber, steps, seconds in _together(nested.steps, unsure, places, width, level):
                climber.stepped(level, steps, seconds)
        going = next_ones


def _on_grid(climbers: Sequence[Climber], effort: Effort, correction: Correction, width: int) -> None:
    """One response at the better of two anchors, the candidates' and that of the level below; then corrections."""
    if not climbers:
        return
    # A march solved step by step starts each step from the last; a response has to undo every roughness of its anchor.
    marched = climbers[0].below is not None and capabilities.marched(climbers[0].problem)
    if not effort.response or marched:
        _outright(climbers, width)
        return
    anchors = [_better_anchor(c) for c in climbers]
    rungs = _responses(climbers, anchors, effort.early, correction, width)
    for climber, rung in zip(climbers, rungs, strict=True):
        climber.arrived(rung)
        while _worthwhile(climber, effort):
            assert climber.rung is not None
            climber.arrived(correct(climber.problem, climber.rung))
    if effort.solve:
        _outright([c for c, rung in zip(climbers, rungs, strict=True) if rung.failed is not None], width)


def _responses(
    climbers: Sequence[Climber], anchors: Sequence[Array], early: bool, correction: Correction, width: int
) -> list[Rung]:
    """One for each input. An iteration ends early if it may: where pairs are separated from what it leaves, that was enough,
    and elsewhere a correction of its result follows, solved to the end."""
    ended = [
        _ended(c.problem, anchor.size) if early else c.problem for c, anchor in zip(climbers, anchors, strict=True)
    ]
    rungs = _respond(climbers, ended, anchors, correction, width)
    again = [k for k, rung in enumerate(rungs) if rung.failed is not None and ended[k] is not climbers[k].problem]
    if again:
        some = [climbers[k] for k in again]
        whole = _respond(some, [c.problem for c in some], [anchors[k] for k in again], correction, width)
        for k, rung in zip(again, whole, strict=True):
            rungs[k] = replace(rung, seconds=rung.seconds + rungs[k].seconds)
    return rungs


def _respond(
    climbers: Sequence[Climber], problems: Sequence[Any], anchors: Sequence[Array], correction: Correction, width: int
) -> list[Rung]:
    questions = [c.question for c in climbers]
    if width == 1:
        return [respond(problems[0], anchors[0], correction, questions[0])]
    return respond_batch(*nested.filled(problems, anchors, width), correction, questions)


def _ended(problem: Any, size: int) -> Any:
    """The problem, its iteration ending early where there is one."""
    ended = problem.ended_at(np.asarray(ENOUGH), size) if isinstance(problem, capabilities.Iterates) else None
    return problem if ended is None else ended


def _outright(climbers: Sequence[Climber], width: int) -> None:
    """The equation itself, unless that fails and something else is there."""
    if not climbers:
        return
    marched = capabilities.marched(climbers[0].problem)
    guesses = [np.zeros(c.shape) if marched else c.anchored[0] for c in climbers]
    solutions = _together(solved, climbers, guesses, width)
    for guess, (climber, first, seconds) in zip(guesses, solutions, strict=True):
        found, remarks = retried(climber.problem, guess, first)
        if not marched and climber.rung is not None:  # a response that failed
            remarks = (*remarks, STRAYED)
        if found.failed is None or climber.rung is None:
            climber.arrived(replace(solve_rung(climber.problem, climber.question, found, seconds), remarks=remarks))


def _worthwhile(climber: Climber, effort: Effort) -> bool:
    """Whether a further correction is allowed and could settle anything: not where it is the grid that leaves pairs open."""
    rung = climber.rung
    assert rung is not None and rung.response is not None
    if rung.failed is not None or rung.response.variant.count >= effort.corrections or climber.settled:
        return False
    return climber.asked.left_open_by(rung, "linearisation", "algebra")


def _better_anchor(climber: Climber) -> Array:
    own = climber.anchored[0]
    if climber.below is None or not bool(climber.below.solved):
        return own
    lifted = np.asarray(capabilities.raised(climber.problem, np.asarray(climber.below.state), climber.shape))
    sizes = [defect_norm(climber.problem, state) for state in (own, lifted)]
    return lifted if sizes[1] <= sizes[0] or not np.isfinite(sizes[0]) else own
