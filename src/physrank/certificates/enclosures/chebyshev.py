"""L² norms of analytic functions on a box from their values at Chebyshev nodes; matrices of Chebyshev polynomials, enclosed.

Let r be analytic in a polyellipse, |r| ≤ m there, each ellipse with foci ±1 and semi-axes of sum ρ. Its Chebyshev
coefficients are at most 2^d m ρ^{−(k_1 + … + k_d)}, so that the terms of a degree above N along some axis sum to at most

    ε = m d S^{d−1} 2 ρ^{−N} / (ρ − 1),   S = (ρ + 1)/(ρ − 1).

What is left is a polynomial within ε of r. Fejér's rule on the zeros of T_M, M = 2N + 1, integrates its square exactly, with
positive weights w that sum to the volume:

    ‖r‖ ≤ (Σ_nodes w |r|²)^½ + 2ε |Ω|^½.
"""

from functools import lru_cache

import numpy as np

from physrank.certificates.enclosures.discs import Disc
from physrank.certificates.enclosures.rounding import UNIT
from physrank.geometry.space import Array

UP = 1 + 2.0**-30
ARCS = 32  # discs that cover an ellipse


@lru_cache(maxsize=8)
def at_zeros(points: int, degree: int) -> Disc:
    """T_k at the zeros of T_points, `(points, degree + 1)`: cos(k θ) with θ a multiple of π/2·points, reduced in integers."""
    half = 2 * points  # as many of these multiples make π
    turn = (np.arange(1, 2 * points, 2)[:, None] * np.arange(degree + 1)) % (2 * half)
    folded = np.minimum(turn, 2 * half - turn)  # cos is even: within [0, π]
    mirrored = np.minimum(folded, half - folded)
    # Within [0, π/2] the rounding of the argument moves the cosine by less than 3u.
    found = np.where(folded > points, -1.0, 1.0) * np.cos(np.pi * mirrored / half)
    return Disc(found, np.full(found.shape, 32 * UNIT))


def at_uniform(intervals: int, degree: int) -> Disc:
    """T_k at 2j/intervals − 1, `(intervals + 1, degree + 1)`: θ = 2 arcsin √(1 − j/intervals), by symmetry below π/2."""
    nearest = np.minimum(np.arange(intervals + 1), intervals - np.arange(intervals + 1))
    angle = 2 * np.arcsin(np.sqrt(nearest / intervals))  # from the nearer end; right to 80u
    k = np.arange(degree + 1)
    from_left = np.arange(intervals + 1) <= intervals / 2
    sign = np.where(from_left[:, None] & (k % 2 == 1), -1.0, 1.0)
    return Disc(sign * np.cos(angle[:, None] * k), (32 + 128 * angle[:, None] * k) * UNIT)


def derivative(degree: int) -> Array:
    """Coefficients of p′ from those of p, a matrix of whole numbers."""
    k, j = np.arange(degree + 1)[:, None], np.arange(degree + 1)
    found = np.where((j > k) & ((j - k) % 2 == 1), 2.0 * j, 0.0)
    found[0] /= 2
    return found


def conforming(degree: int) -> Array:
    """Coefficients of Σ p_k (T_k − T_{k+2}), zero at both ends whatever p is: `(degree + 1, degree − 1)`."""
    return np.eye(degree + 1, degree - 1) - np.eye(degree + 1, degree - 1, -2)


def ellipse(rho: float) -> Disc:
    """Discs that cover (ρe^{iθ} + ρ⁻¹e^{−iθ})/2: |dz/dθ| ≤ (ρ + 1/ρ)/2."""
    angle = 2 * np.pi * np.arange(ARCS) / ARCS
    centre = (rho + 1 / rho) / 2 * np.cos(angle) + 0.5j * (rho - 1 / rho) * np.sin(angle)
    return Disc(centre, np.full(ARCS, (rho + 1 / rho) / 2 * (np.pi / ARCS) * UP))


def cells(number: int) -> Disc:
    """Discs that cover [−1, 1]."""
    middles = (2 * np.arange(number) + 1) / number - 1
    return Disc(middles, np.full(number, UP / number))


def tail(size: float, rho: float, degree: int, dims: int) -> float:
    """ε: what lies above the degree of a function of at most this size in the polyellipse."""
    with np.errstate(all="ignore"):
        spread = ((rho + 1) / (rho - 1)) ** (dims - 1) * dims * 2 / (rho - 1)
        found = size * spread * rho ** -float(degree) * UP + 2.0**-1000
    return float(found) if np.isfinite(found) else np.inf


def degree_for(size: float, rho: float, dims: int, goal: float) -> float:
    """The least degree whose tail is below the goal."""
    return float(np.ceil(np.log(max(tail(size, rho, 0, dims) / goal, 1.0)) / np.log(rho)))


@lru_cache(maxsize=8)
def fejer(points: int) -> Disc:
    """Weights on the zeros of T_points for ∫ over [−1, 1], exact below that degree: 2/M (1 − 2 Σ_j T_2j / (4j² − 1))."""
    j = np.arange(1, points // 2 + 1)
    table = at_zeros(points, points)
    waves = Disc(table.centre[:, 2 * j], table.radius[:, 2 * j])
    total = Disc.rounded(1 / (4.0 * j * j - 1), 0.0).along(0, waves)
    return (1.0 - 2.0 * total) * Disc.rounded(np.asarray(2 / points), 0.0)
