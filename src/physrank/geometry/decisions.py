"""Decisions from scores: gaps, three-way labels, weak order, top-1, margins and regret. Knows no PDE.

Convention throughout: `gaps[i, j] = scores[j] − scores[i]`, so a positive gap prefers candidate i.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from physrank.geometry.space import Array, TaskSpace

REGRET_FLOOR = 1e-8  # the paper's floor of the best-to-worst span in normalized regret


def scores_of(space: TaskSpace, outputs: Array, target: Array) -> Array:
    """S_i = ‖target − y_i‖²_M."""
    return space.norm_squared(np.asarray(target) - np.asarray(outputs))


def gaps_of(space: TaskSpace, outputs: Array, target: Array) -> Array:
    """G_ij = ⟨y_i − y_j, 2t − y_i − y_j⟩_M, without forming scores, whose large common part would cancel."""
    outputs, target = np.asarray(outputs, np.float64), np.asarray(target, np.float64)
    # The bracket keeps the matrix antisymmetric to the last bit.
    return np.stack([space.inner(y - outputs, 2 * target - (y + outputs)) for y in outputs])


def gap_matrix(scores: ArrayLike) -> Array:
    """G_ij = S_j − S_i: positive where i is the better one."""
    scores = np.asarray(scores, np.float64)
    return scores[None, :] - scores[:, None]


def pair_labels(scores: ArrayLike, tolerance: float = 0.0) -> NDArray[np.int8]:
    """+1 where i is preferred to j, −1 where j is, 0 where |gap| ≤ tolerance."""
    if not tolerance >= 0:
        raise ValueError(f"tolerance must be a number ≥ 0; got {tolerance}.")
    gaps = gap_matrix(scores)
    return (np.sign(gaps) * (np.abs(gaps) > tolerance)).astype(np.int8)


def weak_order(scores: ArrayLike) -> list[list[int]]:
    """Candidates best to worst, grouped: each inner list holds exact ties in index order."""
    scores = _comparable(scores)
    return [[int(i) for i in np.flatnonzero(scores == value)] for value in np.unique(scores)]


def best_first(scores: ArrayLike) -> list[int]:
    """Candidates best to worst; ties by lowest index."""
    return [int(i) for i in np.argsort(np.asarray(scores, np.float64), kind="stable")]


def top1(scores: ArrayLike) -> int:
    """The lowest index among the minimizers."""
    return int(np.argmin(_comparable(scores)))


def tolerant_winners(scores: ArrayLike, tolerance: float) -> list[int]:
    """Every candidate whose score is within `tolerance` of the smallest."""
    scores = np.asarray(scores, np.float64)
    return [int(i) for i in np.flatnonzero(scores <= scores.min() + tolerance)]


def _comparable(scores: ArrayLike) -> Array:
    scores = np.asarray(scores, np.float64)
    if np.any(np.isnan(scores)):
        raise ValueError("Scores with NaN have no order; leave excluded candidates out first.")
    return scores


def settled_pairs(gaps: Array, uncertainty: Array, tolerance: float = 0.0) -> NDArray[np.bool_]:
    """Pairs whose sign survives the uncertainty, or that are within `tolerance` of each other whatever it does.

    Where the uncertainty is not known (NaN) nothing is settled; a candidate is settled with itself.
    """
    sizes = np.abs(gaps)
    with np.errstate(invalid="ignore"):
        found = (sizes > uncertainty) | (sizes + uncertainty <= tolerance)
    found.flat[:: len(found) + 1] = True
    return found


def possible_regret(gaps: Array, uncertainty: Array) -> Array:
    """The most that a candidate may lose against another one: max_j (U_j − G_j), not below zero. For one candidate or, with
    a leading axis, for each; NaN in `gaps` is nobody, NaN in `uncertainty` anything."""
    with np.errstate(invalid="ignore"):
        excess = uncertainty - gaps
    excess = np.where(np.isnan(gaps), 0.0, np.where(np.isnan(excess), np.inf, excess))
    return np.maximum(np.max(excess, axis=-1), 0.0)


def margin_radius(space: TaskSpace, outputs: Array, epsilon: float) -> Array:
    """How far a proxy error ‖P_𝒟(t − q)‖ ≤ ε can move each gap: 2ε‖y_i − y_j‖. Sharp for a ball of errors."""
    return 2.0 * epsilon * space.distances(outputs)


def safe_error(space: TaskSpace, outputs: Array, scores: ArrayLike) -> Array:
    """The largest ε for which each pair's sign cannot flip: |G_ij| / (2‖y_i − y_j‖); ∞ for identical outputs."""
    distances = space.distances(outputs)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(distances == 0, np.inf, np.abs(gap_matrix(scores)) / (2.0 * distances))  # NaN stays NaN


def regret(losses: ArrayLike, chosen: int) -> float:
    """Excess true loss of the chosen candidate over the best one."""
    losses = np.asarray(losses, np.float64)
    return float(losses[chosen] - losses.min())


def normalized_regret(losses: ArrayLike, chosen: int) -> float:
    """Regret divided by the best-to-worst span (not below 1e-8): 0 is the best choice, 1 the worst."""
    losses = np.asarray(losses, np.float64)
    return regret(losses, chosen) / max(float(losses.max() - losses.min()), REGRET_FLOOR)
