"""Where decisions are easy or hard: accuracy by truth gap, best–runner-up gaps, rank concordance and flips.

`losses` and `scores` are `(cases, candidates)` as in `recovery`; candidates without a score are handled as there.
"""

from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from physrank.geometry.decisions import REGRET_FLOOR
from physrank.geometry.space import Array
from physrank.lab.evaluation.recovery import REFERENCE_TIE, Counts, Flags, labels, pair_gaps, population

DECILES = 10


class Deciles(NamedTuple):
    """Counts per decile of the truth gap, smallest gaps first."""

    correct: Counts
    total: Counts


def margin_deciles(losses: ArrayLike, scores: ArrayLike, cells: ArrayLike, tolerance: float = REFERENCE_TIE) -> Deciles:
    """Sign accuracy of reference non-ties, by the size of their truth gap.

    Gaps are ranked within each cell (`cells` names the library of each case) because libraries differ in scale;
    the equal-count deciles are then pooled. Where ten does not divide a cell, decile sizes differ by one.
    """
    losses, scores = population(losses, scores)
    cells = np.asarray(cells)
    if cells.shape != losses.shape[:1]:
        raise ValueError(f"cells must name the library of each case, shape {losses.shape[:1]}; got {cells.shape}.")
    gaps = pair_gaps(losses)
    truth = labels(gaps, tolerance)
    non_tie = truth != 0
    correct = (truth == labels(pair_gaps(scores)))[non_tie]
    cell_of_case = np.unique(cells, return_inverse=True)[1]
    cell = np.broadcast_to(cell_of_case[:, None], gaps.shape)[non_tie]

    order = np.lexsort((np.abs(gaps)[non_tie], cell))  # by cell, then by gap
    sizes = np.bincount(cell)
    rank = np.arange(len(cell)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    decile = rank * DECILES // np.repeat(sizes, sizes)
    return Deciles(
        correct=np.bincount(decile[correct[order]], minlength=DECILES),
        total=np.bincount(decile, minlength=DECILES),
    )


@dataclass(frozen=True)
class RunnerUp:
    """The gap between the best and the second-best loss; quantiles are relative to the best-to-worst span."""

    cases: int
    within_tolerance: int  # cases whose absolute gap does not exceed the tolerance
    q10: float
    median: float
    q90: float

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


def best_runner_up(losses: ArrayLike, tolerance: float = REFERENCE_TIE) -> RunnerUp:
    losses, _ = population(losses, losses)
    ordered = np.sort(losses, axis=1)
    gap = ordered[:, 1] - ordered[:, 0]
    span = ordered[:, -1] - ordered[:, 0]
    q10, median, q90 = np.quantile(gap / np.maximum(span, REGRET_FLOOR), (0.1, 0.5, 0.9))
    return RunnerUp(len(losses), int(np.sum(gap <= tolerance)), float(q10), float(median), float(q90))


def concordance(losses: ArrayLike, scores: ArrayLike) -> Counts:
    """How often a candidate of true rank r (row) was given diagnostic rank s (column); exact ties by lowest index.

    Candidates without a score have no diagnostic rank and are left out of the table.

    >>> concordance([[1.0, 2.0]], [[5.0, 4.0]])
    array([[0, 1],
           [1, 0]])
    """
    losses, scores = population(losses, scores)
    candidates = losses.shape[1]
    ranked = ~np.isnan(scores)
    cell = candidates * _ranks(losses) + _ranks(scores)
    return np.bincount(cell[ranked], minlength=candidates**2).reshape(candidates, candidates)


def _ranks(values: Array) -> Counts:
    """0 for the smallest; NaN last."""
    return np.argsort(np.argsort(values, axis=1, kind="stable"), axis=1)


@dataclass(frozen=True)
class Flips:
    """Pairs between two realizations of the same states: whose strict preference reversed?"""

    none: int
    both: int
    diagnostic_only: int
    truth_only: int

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


def flips(losses_a: ArrayLike, losses_b: ArrayLike, scores_a: ArrayLike, scores_b: ArrayLike) -> Flips:
    """Count reversals; a preference that becomes an exact tie, or leaves one, did not reverse."""
    losses_a, scores_a = population(losses_a, scores_a)
    losses_b, scores_b = population(losses_b, scores_b)
    if losses_a.shape != losses_b.shape:
        raise ValueError(f"Both realizations need the same cases; got {losses_a.shape} and {losses_b.shape}.")
    if np.isnan(scores_a).any() or np.isnan(scores_b).any():
        raise ValueError(
            "A flip needs both scores of a pair in both realizations; leave out cases with missing scores."
        )
    truth = _reversed(losses_a, losses_b)
    diagnostic = _reversed(scores_a, scores_b)
    return Flips(
        none=int(np.sum(~diagnostic & ~truth)),
        both=int(np.sum(diagnostic & truth)),
        diagnostic_only=int(np.sum(diagnostic & ~truth)),
        truth_only=int(np.sum(~diagnostic & truth)),
    )


def _reversed(a: Array, b: Array) -> Flags:
    return labels(pair_gaps(a)) * labels(pair_gaps(b)) < 0
