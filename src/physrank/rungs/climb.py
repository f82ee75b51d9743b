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

ARITHMETIC = 2  # of the ladder: raised when what it computes changes, since studies keep what it found
STEPPED = 2  # pairs of steps: each takes away a hundredfold where it serves at all


def climb(climbers: Sequence[Climber], effort: Effort, correction: Correction, width: int = 1) -> list[Rung]:
    """Inputs of one shape up the ladder together, at most `width` of them; those that are settled leave."""
    levels = nested.levels(climbers[0].problem) if effort.levels else ()
    if effort.early and isinstance(climbers[0].problem, capabilities.Polishes):
        _descend(climbers, levels[: effort.levels], width)
    else:
        _ascend(climbers, levels[-effort.levels :], effort, width)
    _on_grid([c for c in climbers if not (effort.early and c.settled)], effort, correction, width)
    return [climber.finished() for climber in climbers]


def _together(
    function: Callable[..., Any], climbers: Sequence[Climber], arrays: Sequence[Any], width: int, *fixed: Any
) -> Iterator[tuple[Climber, Any, float]]:
    """What a compiled program finds for each, with its share of the time."""
    started = time.perf_counter()
    found = nested.many(function, [c.problem for c in climbers], arrays, width, *fixed)
    seconds = (time.perf_counter() - started) / len(climbers)
    return ((climber, one, seconds) for climber, one in zip(climbers, found, strict=True))


def _ascend(climbers: Sequence[Climber], levels: Sequence[int], effort: Effort, width: int) -> None:
    """Level by level, until the difference of two settles it and the problem's own grid does not object."""
    going, first = list(climbers), climbers[0]
    task, shape = first.question.task, first.shape
    for level in levels:
        if not going:
            return
        under, fixed = [c.under for c in going], (level, task, shape, level == levels[0])
        for climber, standing, seconds in _together(nested.stand, going, under, width, *fixed):
            climber.stood(standing, seconds)
        sure = [c for c in going if effort.early and c.settled]
        if sure:
            states = [c.below.state for c in sure if c.below is not None]
            for climber, (carried, rest), seconds in _together(nested.unseen, sure, states, width, level, task, shape):
                climber.looked(carried, rest, seconds)
            going = [c for c in going if not c.settled]


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
            for climber, steps, seconds in _together(nested.steps, unsure, [c.whole for c in unsure], width):
                climber.stepped(level, steps, seconds)
        going = next_ones


def _on_grid(climbers: Sequence[Climber], effort: Effort, correction: Correction, width: int) -> None:
    """One response at the better of two anchors, the candidates' and that of the level below; then corrections."""
    if not climbers:
        return
    # A march solved step by step starts each step from the last; a response has to undo every roughness of its anchor.
    marched = climbers[0].below is not None and isinstance(climbers[0].problem, capabilities.Glances)
    if not effort.response or marched:
        _outright(climbers, width)
        return
    anchors = [_better_anchor(c) for c in climbers]
    problems, questions = [c.problem for c in climbers], [c.question for c in climbers]
    if width == 1:
        rungs = [respond(problems[0], anchors[0], correction, questions[0])]
    else:
        rungs = respond_batch(*nested.filled(problems, anchors, width), correction, questions)
    for climber, rung in zip(climbers, rungs, strict=True):
        climber.arrived(rung)
        while _worthwhile(climber, effort):
            assert climber.rung is not None
            climber.arrived(correct(climber.problem, climber.rung))
    if effort.solve:
        _outright([c for c, rung in zip(climbers, rungs, strict=True) if rung.failed is not None], width)


def _outright(climbers: Sequence[Climber], width: int) -> None:
    """The equation itself, unless that fails and something else is there."""
    if not climbers:
        return
    marched = isinstance(climbers[0].problem, capabilities.Glances)  # from the initial state, whatever the guess
    guesses = [np.zeros(c.shape) if marched else c.anchored[0] for c in climbers]
    solutions = _together(solved, climbers, guesses, width)
    for guess, (climber, first, seconds) in zip(guesses, solutions, strict=True):
        found, remarks = retried(climber.problem, guess, first)
        if found.failed is None or climber.rung is None:
            climber.arrived(replace(solve_rung(climber.question, found, seconds), remarks=remarks))


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
    own = climber.anchored[0]
    if climber.below is None or not bool(climber.below.solved):
        return own
    lifted = np.asarray(capabilities.raised(climber.problem, np.asarray(climber.below.state), climber.shape))
    sizes = [defect_norm(climber.problem, state) for state in (own, lifted)]
    return lifted if sizes[1] <= sizes[0] or not np.isfinite(sizes[0]) else own
