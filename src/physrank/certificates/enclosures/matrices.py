"""Norms of float matrices that are bounds, not estimates: of a matrix, and of the inverse of one known up to an error."""

import numpy as np

from physrank.certificates.enclosures.rounding import SMALLEST, Interval, above, below, gamma, product_bounds
from physrank.geometry.space import Array

FAINT = 2.0**-960  # radii below it are enlarged to it: arithmetic below the smallest normal number is slow


def spectral_norm(matrix: Array) -> float:
    """≥ ‖A‖₂, within rounding of it: with AAᵀ ≈ V D Vᵀ computed, ‖A‖² ≤ ‖V‖² max D + ‖AAᵀ − V D Vᵀ‖_F, all enclosed.

    ‖V‖² ≤ 1 + ‖VᵀV − 1‖_F. The matrix is scaled by a power of two first, which is exact.
    """
    scale = _power_of_two(float(np.abs(matrix).max(initial=0.0)))
    if scale == 0.0:
        return 0.0
    if not np.isfinite(scale):
        return float("inf")
    scaled = matrix / scale
    if np.any(scaled * scale != matrix):  # the smallest entries fell below the smallest number
        return float(_frobenius(Interval.of(matrix)))
    square = product_bounds(scaled, scaled)
    values, vectors = np.linalg.eigh(square.middle)
    weighted = Interval.of(vectors) * values
    back = _product(weighted, vectors)
    skew = product_bounds(vectors.T, vectors.T) - np.eye(len(values))
    stretch = Interval.of(1.0) + float(_frobenius(skew))
    found = stretch * float(max(values.max(), 0.0)) + float(_frobenius(square - back))
    return float(above(found.root().high * scale))


def inverse_norm(matrix: Array, error: Array) -> float:
    """≥ ‖J⁻¹‖₂ for every J within `error` of `matrix`, entry by entry; ∞ where that is not shown.

    With an approximate inverse R and ‖1 − R J‖ ≤ ε < 1, J is invertible and ‖J⁻¹‖ ≤ ‖R‖ / (1 − ε).
    """
    try:
        rough = np.asarray(np.linalg.inv(matrix), np.float64)
    except np.linalg.LinAlgError:
        return float("inf")
    if not (np.isfinite(rough).all() and np.isfinite(error).all()):
        return float("inf")
    doubt = product_bounds(np.abs(rough), error.T).high
    left = product_bounds(rough, matrix.T) - np.eye(len(matrix)) + Interval(-doubt, doubt)
    missed = float(_frobenius(left))
    if not missed < 0.5:
        return float("inf")
    return float(above(np.asarray(spectral_norm(rough) / float(below(np.asarray(1 - missed))))))


def contracted(left: Interval, right: Interval) -> Interval:
    """Σ_c L[b, i, c] R[b, j, c] for interval arrays: middles, and |L| r_R + r_L (|R| + r_R) + γ |L| |R| around them.

    Sums of n numbers that are not negative come out at least 1/(1 + γ_n) of what they are.
    """
    (a, p), (b, q) = left.ball, right.ball
    p, q = (np.where((r > 0) & (r < FAINT), FAINT, r) for r in (p, q))
    grow = gamma(left.shape[-1] + 4)
    product = lambda x, y: x @ np.swapaxes(y, -1, -2)  # noqa: E731
    with np.errstate(all="ignore"):
        sizes = product(np.abs(a), above(grow * np.abs(b)) + q)
        if p.any():
            sizes = sizes + product(p, above(np.abs(b) + q))
        return Interval.around(product(a, b), above(above(sizes * (1 + 2 * grow)) + left.shape[-1] * 8 * SMALLEST))


def _product(left: Interval, right: Array) -> Interval:
    """L Rᵀ for an interval matrix L: its middle, and what it may be off by."""
    middle, radius = left.ball
    reach = product_bounds(radius, np.abs(right)).high
    return product_bounds(middle, right) + Interval(-reach, reach)


def _frobenius(matrix: Interval) -> float:
    return float(matrix.squared().total(2).root().high)


def _power_of_two(size: float) -> float:
    return 0.0 if size == 0 else float(2.0 ** np.floor(np.log2(size))) if np.isfinite(size) else float("inf")
