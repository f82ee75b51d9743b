"""Concentration of mean scores over independent, identically distributed inputs (Hoeffding's inequality).

Stratified or otherwise dependent panels do not satisfy its assumptions; they need the clustered bootstrap instead.
"""

import numpy as np
from numpy.typing import ArrayLike

from physrank.geometry.decisions import top1


def mean_score_radius(bound: float, candidates: int, samples: int, failure: float) -> float:
    """B₀ √(log(2N/δ) / 2m): with probability ≥ 1 − δ all N mean scores over m i.i.d. inputs are this accurate.

    Every single score must lie in [0, B₀]. For stratified or dependent panels use the clustered bootstrap.
    """
    if not (np.isfinite(bound) and bound >= 0):
        raise ValueError(f"bound must be a finite number ≥ 0 that no score exceeds; got {bound}.")
    if candidates < 1 or samples < 1:
        raise ValueError(f"Expected at least one candidate and one sample; got {candidates} and {samples}.")
    if not 0 < failure < 1:
        raise ValueError(f"failure is a probability strictly between 0 and 1; got {failure}.")
    return float(bound * np.sqrt(np.log(2 * candidates / failure) / (2 * samples)))


def recovers(mean_scores: ArrayLike, bound: float, samples: int, failure: float) -> int | None:
    """The best candidate of the population, with probability ≥ 1 − failure; None (abstention) when it is not settled.

    Settled means that the second-best mean exceeds the best by more than twice the radius. Only means are seen here:
    that every single score lies in [0, bound], and that inputs are i.i.d., is the caller's statement. For stratified
    or dependent panels use the clustered bootstrap.
    """
    means = np.asarray(mean_scores, np.float64)
    radius = mean_score_radius(bound, means.size, samples, failure)
    if means.ndim != 1 or not np.all((means >= 0) & (means <= bound)):
        raise ValueError(
            f"Expected one mean score in [0, {bound:g}] per candidate; got {means}. The bound must hold for every "
            "score: state a larger one, and leave excluded candidates out."
        )
    if means.size == 1:
        return 0
    best, second = np.partition(means, 1)[:2]
    return top1(means) if second - best > 2 * radius else None
