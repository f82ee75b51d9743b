"""What certificates of a terminal state share: what must hold before any bound, and the enclosure that a radius gives."""

from typing import Any

import numpy as np

from physrank.certificates.certificate import Assumption, Enclosure, all_hold, arithmetic, open_gaps
from physrank.certificates.ranked import Ranked
from physrank.geometry import GapIntervals, gaps_of, margin_radius
from physrank.geometry.space import Array
from physrank.tasks import terminal

UP = 1 + 2.0**-30  # covers the rounding of norms and of a few scalars
ROUND_OFF = 1e-9  # of the largest gap, by which two bounds may miss each other
LOST = 2.0**-530  # above what underflow takes from an entry of a norm
ORDINARY = (
    2.0**40
)  # lengths up to it, and down to its inverse, do not lift what underflow took from a square above `SMALL`s
FIELDS = 2.0**-45  # of the largest entry, more than `scaled_nyquist` errs by


def ready(problem: Any, ranking: Ranked, kind: type[Any]) -> tuple[Assumption, ...]:
    """What has to hold before a bound of the terminal state means anything."""
    exact = type(problem) is kind  # a derived class may have another defect
    fits = exact and np.shape(ranking.state) == problem.state_shape
    shortest = float(np.diff(np.asarray(problem.times)).min(initial=np.inf)) if exact else np.nan
    finite = bool(np.all(np.isfinite(ranking.state)))
    return (
        arithmetic(),
        Assumption(f"the problem is {kind.__name__}", exact, type(problem).__name__),
        ordinary(problem.length if exact else np.nan),
        Assumption("time increases from row to row", shortest > 0, shortest),
        Assumption("the task is the terminal state, tasks.terminal(…)", is_terminal(ranking), ranking.task.name),
        Assumption("the response converged", ranking.unresolved is None, ranking.unresolved or "it did"),
        Assumption(
            "the corrected state is finite and has the problem's shape",
            fits and finite,
            f"{np.shape(ranking.state)}, {'finite' if finite else 'not finite'}",
        ),
    )


def ordinary(length: float) -> Assumption:
    statement = "the length is between 2⁻⁴⁰ and 2⁴⁰, so that bounds of underflow hold: choose another unit otherwise"
    return Assumption(statement, 1 / ORDINARY <= length <= ORDINARY, float(length))


def is_terminal(ranking: Ranked) -> bool:
    return ranking.task.map is terminal().map and np.array_equal(ranking.proxy, ranking.state[-1], equal_nan=True)


def from_initial(problem: Any, state: Any) -> Array:
    """The trajectory with the problem's own first row. Its last row is the same: a bound of one is a bound of the other."""
    return np.concatenate([np.asarray(problem.initial)[None], np.asarray(state, np.float64)[1:]])


def channel_weights(ranking: Ranked) -> tuple[Array, float]:
    """The largest metric weight of a point in each of the two fields, relative to the larger one, and the root of that."""
    weights = ranking.space.weights.reshape(2, -1).max(axis=1)
    return weights / weights.max(), float(np.sqrt(weights.max()))


def unknown(ranking: Ranked, target: str, norm: str, assumptions: tuple[Assumption, ...]) -> Enclosure:
    """Nothing is known, because of an assumption that does not hold."""
    return Enclosure("theorem", target, open_gaps(len(ranking.names)), float("inf"), norm, assumptions)


def enclose(
    ranking: Ranked,
    radius: float,
    state_bound: float,
    *,
    target: str,
    norm: str,
    assumptions: tuple[Assumption, ...],
    fields: tuple[Array, Array] | None = None,
) -> Enclosure:
    """G_ij(q) ± 2 radius ‖y_i − y_j‖, where ‖t − q‖ ≤ radius in the task's metric; open when that is not a number.

    `fields` are (outputs, proxy) where they are not compared as they are stored.
    """
    known = bool(np.isfinite(radius) and np.isfinite(state_bound))
    assumptions = (*assumptions, Assumption("the bound is a finite number", known, float(radius)))
    if not all_hold(assumptions):
        return unknown(ranking, target, norm, assumptions)
    outputs, proxy = (ranking.outputs, ranking.proxy) if fields is None else fields
    with np.errstate(all="ignore"):  # a pair whose numbers overflow stays open
        lost = 2 * radius * LOST * np.sqrt(ranking.space.weights.size)
        reach = UP * (margin_radius(ranking.space, outputs, radius) + lost)
        if fields is not None:  # these were computed: every entry is off by a few roundings of the largest
            size = np.sqrt(np.sum(ranking.space.weights)) * np.abs([*outputs, proxy]).reshape(len(outputs) + 1, -1).max(
                axis=1
            )
            size, far = size[:-1] + size[-1], ranking.space.norm(outputs - proxy)
            reach = reach + FIELDS * (size[:, None] + size) * (far[:, None] + far + 2 * radius)
        gaps = GapIntervals.around(gaps_of(ranking.space, outputs, proxy), reach)
    return Enclosure("theorem", target, gaps, state_bound, norm, assumptions)


def together(a: GapIntervals, b: GapIntervals) -> tuple[GapIntervals, float]:
    """What two bounds say together, and by how much they miss each other at most, relative to the gaps.

    Where they do, by round-off, their hull is taken.
    """
    low, high = np.maximum(a.low, b.low), np.minimum(a.high, b.high)
    apart = low > high
    size = np.max(np.abs(low[np.isfinite(low)]), initial=0.0)
    missed = float(np.max((low - high)[apart], initial=0.0) / (size or 1.0))
    both = GapIntervals(
        np.where(apart, np.minimum(a.low, b.low), low), np.where(apart, np.maximum(a.high, b.high), high)
    )
    return both, missed
