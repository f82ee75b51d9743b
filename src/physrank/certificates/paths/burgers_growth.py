"""How fast errors of a Burgers path can grow when viscosity may help: Barta's bound of an eigenvalue, with a weight per row.

For every smooth periodic ψ, from 0 ≤ ∫ (e_x − ψ_x e)² = ‖e_x‖² + ∫ (ψ_xx + ψ_x²) e²,

    −½ ∫ ŝ_x e² − ½ν ‖e_x‖² ≤ max_x (−½ ŝ_x + ½ν (ψ_xx + ψ_x²)) ‖e‖²,

the smallest value of which, over ψ, is the top eigenvalue λ of H = ½ν ∂_xx − ½ ŝ_x (Barta, 1937). With φ = e^ψ the maximum is
that of Hφ/φ: for μ > λ and φ = (μ − H)⁻¹ 1, which is positive, it is that of μ − 1/φ. How well φ was computed matters for the
width of the bound, never for its truth: ψ is what its stored coefficients say, and those are measured.
"""

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array as JaxArray

from physrank import compute
from physrank.certificates.enclosures.rounding import UNIT
from physrank.certificates.paths.burgers import Path
from physrank.certificates.paths.trigonometric import UP, Line, times
from physrank.geometry.space import Array

POINTS = 96  # on which φ is looked for
ABOVE = 0.2  # μ is so much of the way from λ to max (−½ ŝ_x)


def growth_with_half_viscosity(path: Path) -> Array:
    """≥ ∫ max_x (−½ ŝ_x + ½ν (ψ_xx + ψ_x²))₊ dt on every substep, `(rows, substeps)`."""
    return np.asarray(compute.run(_measured, path, suited(path)))


def suited(path: Path) -> np.ndarray:
    """Coefficients `(rows, K + 1)` of a weight for each row, in plain arithmetic."""
    line, pieces = path.line, np.asarray(path.pieces)
    degree = min(line.degree, POINTS // 3)
    k = np.arange(line.degree + 1) * (2 * np.pi / line.length)
    waves = np.exp(1j * np.outer(np.arange(line.degree + 1), 2 * np.pi * np.arange(POINTS) / POINTS))
    with np.errstate(all="ignore"):
        slopes = np.real(2 * (1j * k * pieces.mean(axis=(1, 2))) @ waves)
    modes = np.minimum(np.arange(POINTS), POINTS - np.arange(POINTS)) * (2 * np.pi / line.length)
    bend = np.real(np.fft.ifft(-(modes[:, None] ** 2) * np.fft.fft(np.eye(POINTS), axis=0), axis=0))
    operators = float(line.viscosity) / 4 * (bend + bend.T) - np.eye(POINTS) * slopes[:, None] / 2
    found = np.zeros((len(pieces), line.degree + 1), complex)
    if not np.isfinite(operators).all():
        return found
    top = np.linalg.eigvalsh(operators)[:, -1]
    above = top + ABOVE * np.maximum(np.max(-slopes / 2, axis=1) - top, 1e-6 * np.abs(top)) + 1e-300
    positive = np.linalg.solve(above[:, None, None] * np.eye(POINTS) - operators, np.ones((len(top), POINTS, 1)))[
        ..., 0
    ]
    logarithms = np.log(np.maximum(positive, 1e-9 * positive.max(axis=1, keepdims=True)))
    found[:, 1 : degree + 1] = np.fft.rfft(logarithms, norm="forward")[:, 1 : degree + 1]
    return found


def _measured(path: Path, weights: JaxArray) -> JaxArray:
    line, half = path.line, path.line.viscosity / 2
    falling = -line.slope(path.pieces)  # (rows, 6, substeps, K + 1)
    first = line.slope(weights)
    second, third = line.slope(first), line.slope(line.slope(first))
    helped = half * (line.values(second) + line.values(first) ** 2)  # (rows, grid)
    seen = jnp.max(line.values(falling) / 2 + helped[:, None, None], axis=-1)
    a, b, c = (line.largest(derivative) for derivative in (first, second, third))  # ≥ |ψ_x|, |ψ_xx|, |ψ_xxx|
    # Between grid points: (ψ_x²)_xx = 2 ψ_xx² + 2 ψ_x ψ_xxx.
    between = half * (line.missed(second) + _eighth(line) * (2 * b**2 + 2 * a * c))
    off, rough = line.pointwise(second), line.pointwise(first)
    rounded = half * (off + 2 * a * rough + rough**2 + 16 * UNIT * (b + a**2))
    each = line.missed(falling) / 2 + line.pointwise(falling) / 2 + 16 * UNIT * line.largest(falling)
    steepest = seen + each + (UP * (between + rounded))[:, None, None]
    return times(UP * path.step[:, None], jnp.mean(jnp.maximum(steepest, 0), axis=1))


def _eighth(line: Line) -> float:
    """δ²/8: where a maximum is attained the slope is zero, and a grid point is within δ/2."""
    return UP * (line.length / line.grid) ** 2 / 8
