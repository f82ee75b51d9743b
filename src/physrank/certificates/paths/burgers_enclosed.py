"""What the energy inequality makes of a Burgers path, with every number enclosed by outward rounding.

The path is what its stored coefficients say. Its residual is evaluated at rational times, as intervals; products by sums with
enclosed tables (`enclosures/waves.py`); integrals over a substep by `exact_times`.
"""

from dataclasses import dataclass

import numpy as np

from physrank.certificates.enclosures import elementary
from physrank.certificates.enclosures.matrices import contracted
from physrank.certificates.enclosures.rounding import Interval, above
from physrank.certificates.enclosures.waves import ProductGrid, coefficients
from physrank.certificates.paths import exact_times
from physrank.certificates.paths.burgers import RESIDUAL_DEGREE, ROWS_TOGETHER
from physrank.equations import Burgers
from physrank.geometry.space import Array

NODES = RESIDUAL_DEGREE + 1
TWO_PI = Interval(np.asarray(2 * np.pi), np.asarray(np.nextafter(2 * np.pi, 7)))  # the number below 2π, and the next


@dataclass(frozen=True, eq=False)
class EnclosedMeasures:
    """Upper bounds of all that the energy inequality needs, per substep `(rows, substeps)`; jumps at the start of each."""

    residual: Array  # ∫ ‖P_K r‖ dt
    truncation: Array  # ∫ ‖|∂_x|⁻¹ (1 − P_K) r‖² dt / 2ν
    growth: Array  # ∫ ½ max_x (−ŝ_x)₊ dt
    jumps: Array  # the first of them ‖u₀ − ŝ(0)‖
    viscous: Array | None = None  # growth where half of the viscosity is kept for it (`burgers_growth_enclosed.py`)

    def radius(self, forcing_error: float = 0.0) -> float:
        """≥ ‖u(T) − ŝ(T)‖: the smaller of two bounds, in each of which viscosity is spent once."""
        found = self._radius(self.growth, self.truncation, forcing_error)
        if self.viscous is None:
            return found
        # The other half absorbs the truncated modes, of which twice as much is left.
        return min(found, self._radius(np.fmin(self.growth, self.viscous), 2 * self.truncation, forcing_error))

    def _radius(self, growth: Array, truncation: Array, forcing_error: float) -> float:
        once, twice = (elementary.exp(Interval.of(factor * growth)).high for factor in (1.0, 2.0))
        low, high = Interval.of(forcing_error), Interval.of(0.0)
        for jump, a, b, e, ee in zip(
            *(x.flat for x in (self.jumps, self.residual, truncation, once, twice)), strict=True
        ):
            low, high = (low + jump + a) * e, (high + b) * ee
        return float((low + high.root()).high)


def measure(problem: Burgers, pieces: Array) -> EnclosedMeasures:
    """Of the path with coefficients `pieces`, `(rows, 6, substeps, K + 1)`."""
    rows, _, substeps, count = pieces.shape
    c = np.stack([np.real(pieces), np.imag(pieces)])
    c[1, ..., 0] = 0.0  # the mean of a real function
    c = np.moveaxis(c, 2, 3)  # (2, rows, substeps, 6, K + 1)
    times, grid = Interval.of(np.asarray(problem.times, np.float64)), ProductGrid(count - 1)
    step = ((times[1:] - times[:-1]) / float(substeps))[:, None]  # h, (rows, 1)
    modes = max(2 * count - 1, problem.points // 2 + 1)
    wave = TWO_PI * np.arange(float(modes)) / float(problem.length)
    together = [slice(first, first + ROWS_TOGETHER) for first in range(0, rows, ROWS_TOGETHER)]
    parts = [_residuals(problem, np.asarray(problem.forcing)[k], c[:, k], step[k], wave, grid) for k in together]
    low, high = (np.concatenate(part) for part in zip(*parts, strict=True))
    weights, viscosity = exact_times.weights(NODES), Interval.of(float(problem.viscosity))
    energy = [contracted(Interval.of(x).squared(), Interval.of(weights[None]))[..., 0] for x in (low, high)]
    initial = _padded(coefficients(np.asarray(problem.initial, np.float64)), modes)
    initial = initial - np.pad(c[:, 0, 0, 0], ((0, 0), (0, modes - count)))
    ends, starts = (c[:, :, :, k].reshape(2, rows * substeps, count) for k in (5, 0))
    jumps = norm(Interval.of(starts[:, 1:]) - ends[:, :-1], problem.length)
    return EnclosedMeasures(
        residual=(step * energy[0].root()).high,
        truncation=(step * energy[1] / (viscosity * 2.0)).high,
        growth=(step * _falling(c, wave[:count], grid, float(problem.length)) / 2.0).high,
        jumps=np.concatenate([norm(initial, problem.length)[None], jumps]).reshape(rows, substeps),
    )


def _residuals(
    problem: Burgers, spectra: np.ndarray, c: Array, step: Interval, wave: Interval, grid: ProductGrid
) -> tuple[Array, Array]:
    """Bounds of ‖P_K r‖ and ‖|∂_x|⁻¹ (1 − P_K) r‖ at the nodes, `(rows, substeps, nodes)`."""
    substeps, count = c.shape[2], c.shape[4]
    at = _each(c, 5)
    slope = contracted(exact_times.bernstein(4, NODES), _turned(Interval.of(c[..., 1:, :]) - c[..., :-1, :])) * 5.0
    force = _force(spectra, problem.points, substeps)
    kept, length = wave[:count], float(problem.length)
    symbol = Interval.of(float(problem.viscosity)) * kept.squared()
    linear = slope / step[..., None, None] + at * symbol - force[..., :count]
    product, together, each = grid.square(at)
    half = wave[: 2 * count - 1] / 2.0
    bent = rotated(Interval.of(product[..., :count]) * half[:count])
    top = float(half.high[count - 1])
    root, many = float(Interval.of(length).root().high), float(Interval.of(2.0 * length * count).root().high)
    shared = above(above(root * together) + above(many * each))  # of ‖q‖, for modes that are all this far off
    low = above(norm(linear + bent, length) + above(top * shared))
    tail = rotated(Interval.of(_widened(product, len(wave.low))[..., count:]) / 2.0)
    tail = tail - _padded(force, len(wave.low))[..., count:] / wave[count:]
    nothing = np.zeros((2, *tail.shape[1:-1], 1))
    high = norm(Interval(np.append(nothing, tail.low, -1), np.append(nothing, tail.high, -1)), length)
    return low, above(high + above(0.5 * shared))


def _force(spectra: np.ndarray, n: int, substeps: int) -> Interval:
    """f at the nodes, `(2, rows, substeps, nodes, n/2 + 1)`."""
    scale = np.full(n // 2 + 1, float(n))
    scale[-1] = n if n % 2 else 2 * n
    values = Interval.of(np.stack([np.real(spectra), np.imag(spectra)])) / scale
    if not spectra.any():
        values = Interval.of(np.zeros(values.shape))
    found = contracted(exact_times.samples(substeps, NODES), _turned(values))
    return found.reshape(2, len(spectra), substeps, NODES, n // 2 + 1)


def _falling(c: Array, wave: Interval, grid: ProductGrid, length: float) -> Interval:
    """The mean over Bernstein coefficients of max_x (−ŝ_x)₊, `(rows, substeps)`."""
    falling = -rotated(Interval.of(c) * wave)
    even, odd, e, o = grid.values(falling)
    seen = above(above(np.max(even + np.abs(odd), axis=-1) * (1 + 2.0**-52) + e) + o) + 2.0**-900
    # Where the maximum is attained u_x = 0, and a grid point is within δ/2: at most δ²/8 · Σ k² |c_k| is missed.
    missed = largest(falling * wave.squared()) * (Interval.of(length) / float(grid.points)).squared() / 8.0
    found = Interval.of(np.maximum(above(seen + missed.high), 0.0))
    return found.total(1) / float(c.shape[3])


def largest(c: Interval) -> Interval:
    """Σ 2|c_k| for coefficients `(2, …, modes)`: the function is nowhere larger."""
    sizes = c.squared()
    return ((sizes[0] + sizes[1]).root() * 2.0).total(1)


def norm(c: Interval, length: float) -> Array:
    """≥ the L² norm for coefficients `(2, …, modes)`."""
    sizes = c.squared()
    sizes = sizes[0] + sizes[1]
    twice = sizes * 2.0
    counted = Interval(
        np.append(sizes.low[..., :1], twice.low[..., 1:], -1), np.append(sizes.high[..., :1], twice.high[..., 1:], -1)
    )
    return (counted.total(1) * length).root().high


def _each(c: Array, degree: int) -> Interval:
    """ŝ at the nodes."""
    return contracted(exact_times.bernstein(degree, NODES), _turned(Interval.of(c)))


def _turned(x: Interval) -> Interval:
    """With the last two axes exchanged, as `contracted` has them."""
    low = np.swapaxes(x.low, -1, -2)
    return Interval(low, low if x.low is x.high else np.swapaxes(x.high, -1, -2))


def rotated(c: Interval) -> Interval:
    """i c."""
    return Interval(np.stack([-c.high[1], c.low[0]]), np.stack([-c.low[1], c.high[0]]))


def _padded(c: Interval, count: int) -> Interval:
    return Interval(_widened(c.low, count), _widened(c.high, count))


def _widened(c: Array, count: int) -> Array:
    return np.pad(c, [(0, 0)] * (c.ndim - 1) + [(0, count - c.shape[-1])])
