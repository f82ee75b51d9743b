"""How fast errors of a Burgers path can grow when viscosity may help: the bound of `burgers_growth.py`, enclosed.

Weights ψ are what their stored coefficients say. With h = ½ν (ψ_xx + ψ_x²) and −ŝ_x = Σ_k B_k(t) c_k(x) in Bernstein form,

    max_x (−½ ŝ_x + h)₊ ≤ Σ_k B_k(t) max_x (½ c_k + h)₊,

each maximum over grid points, where δ²/8 of the second derivative ½ c_k″ + ½ν (ψ_xxxx + 2ψ_xx² + 2ψ_x ψ_xxx) may be missed.
"""

import numpy as np

from physrank.certificates.enclosures.rounding import Interval, above
from physrank.certificates.enclosures.waves import ProductGrid
from physrank.certificates.paths.burgers import ROWS_TOGETHER
from physrank.certificates.paths.burgers_enclosed import TWO_PI, largest, rotated
from physrank.equations import Burgers
from physrank.geometry.space import Array


def growth_with_half_viscosity(problem: Burgers, pieces: np.ndarray, weights: np.ndarray) -> Array:
    """≥ ∫ max_x (−½ ŝ_x + ½ν (ψ_xx + ψ_x²))₊ dt on every substep, `(rows, substeps)`, for a weight `(K + 1)` of every row."""
    substeps, count = pieces.shape[2:]
    grid, length = ProductGrid(count - 1), float(problem.length)
    wave, half = TWO_PI * np.arange(float(count)) / length, Interval.of(float(problem.viscosity)) / 2.0
    eighth = (Interval.of(length) / float(grid.points)).squared() / 8.0
    psi = [_parts(weights)]
    for _ in range(3):
        psi.append(rotated(psi[-1] * wave))
    first, second = (_values(grid, c) for c in psi[1:3])
    helped = (second + first.squared()) * half  # (rows, points)
    a, b, c = (largest(derivative) for derivative in psi[1:])
    between = (largest(psi[2] * wave.squared()) + (b.squared() + a * c) * 2.0) * half * eighth
    together = [slice(first, first + ROWS_TOGETHER) for first in range(0, len(pieces), ROWS_TOGETHER)]
    steepest = []
    for rows in together:
        falling = -rotated(_parts(pieces[rows]) * wave)  # (2, rows, 6, substeps, K + 1)
        seen = np.max((_values(grid, falling) / 2.0 + helped[rows, None, None]).high, axis=-1)
        missed = largest(falling * wave.squared()) / 2.0 * eighth + between[rows, None, None]
        steepest.append(np.maximum(above(seen + missed.high), 0.0))
    times = Interval.of(np.asarray(problem.times, np.float64))
    step = ((times[1:] - times[:-1]) / float(substeps))[:, None]
    mean = Interval.of(np.moveaxis(np.concatenate(steepest), 1, -1)).total(1) / float(pieces.shape[1])
    return (mean * step).high


def _parts(c: np.ndarray) -> Interval:
    """Real and imaginary parts; those of the mean are none."""
    parts = np.stack([np.real(c), np.imag(c)])
    parts[1, ..., 0] = 0.0
    return Interval.of(parts)


def _values(grid: ProductGrid, c: Interval) -> Interval:
    """On all points, `(…, N + 2)`: E + O at x, E − O at −x."""
    even, odd, e, o = grid.values(c)
    off = above(e + o)[..., None]
    both = Interval.of(even) + Interval.of(odd), Interval.of(even) - Interval.of(odd)
    return Interval(*(np.concatenate(ends, axis=-1) for ends in zip(*((x.low, x.high) for x in both), strict=True))) + (
        Interval(-off, off)
    )
