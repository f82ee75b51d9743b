"""Sine–Gordon between stored rows: Verlet stages on the grid, and a Taylor reconstruction with its residual in the continuum.

The bounds used here are proved in docs/certificates/sine_gordon.md.
"""

from dataclasses import dataclass
from math import factorial, log

import numpy as np
from numpy.typing import NDArray

from physrank.equations import SineGordon
from physrank.geometry.space import Array

DEGREE = 8  # of the Taylor polynomial of a substep
NODES = DEGREE + 1  # Gauss nodes that integrate the square of a residual of this degree exactly
OVERSAMPLING = 4
STRIPS = np.geomspace(
    0.5, 700.0, 60
)  # half-widths of strips around the real axis times the largest wavenumber: e^700 < ∞
CIRCLES = np.geomspace(2.0, 1e4, 60)  # radii around a substep, in units of its half-length


def wavenumbers(problem: SineGordon) -> Array:
    return np.arange(problem.points // 2 + 1, dtype=np.float64) * (2 * np.pi / problem.length)


def multiplicity(points: int) -> Array:
    """How many of the modes ±m a coefficient of `rfft` stands for."""
    twice = np.full(points // 2 + 1, 2.0)
    twice[0] = 1.0
    if points % 2 == 0:
        twice[-1] = 1.0
    return twice


def verlet_slopes(problem: SineGordon, state: Array) -> tuple[Array, Array]:
    """(least, largest) cos u over the grid, `(rows, substeps + 1)`: at every stage of Φ_n(s_n)."""
    forcing, speed = np.asarray(problem.forcing), float(problem.speed)
    step = np.diff(np.asarray(problem.times))[:, None] / problem.substeps
    u, v = state[:-1, 0], state[:-1, 1]

    def pull(u: Array, stage: int) -> Array:
        return speed**2 * _second_derivative(u, wavenumbers(problem)) - np.sin(u) + forcing[:, stage]

    stages, force = [np.cos(u)], pull(u, 0)
    for j in range(problem.substeps):
        v = v + step / 2 * force
        u = u + step * v
        force = pull(u, j + 1)
        v = v + step / 2 * force
        stages.append(np.cos(u))
    return np.stack([c.min(axis=1) for c in stages], axis=1), np.stack([c.max(axis=1) for c in stages], axis=1)


@dataclass(frozen=True, eq=False)
class Reconstruction:
    """A function ŝ(t, x) that starts every row at s_n and nearly solves the equation until the next one."""

    residuals: Array  # (rows, substeps): ∫ ‖ŝ_tt − c²ŝ_xx + sin ŝ − f‖ dt
    least: Array  # (rows, substeps): cos ŝ ≥ least
    largest: Array  # and ≤ largest, everywhere in the substep
    jumps: Array  # (rows, 2, points): s_{n+1} − ŝ(t_{n+1}−)


def reconstruct(problem: SineGordon, state: Array) -> Reconstruction:
    """Taylor polynomials of degree 8 in time, trigonometric in space, continuous with their velocity inside a row."""
    forcing = np.asarray(problem.forcing)
    step = np.diff(np.asarray(problem.times))[:, None] / problem.substeps
    u, v = state[:-1, 0], state[:-1, 1]
    measured = []
    for j in range(problem.substeps):
        force = [forcing[:, j], forcing[:, j + 1] - forcing[:, j]]  # linear in time
        series = _taylor(u, step * v, force, step, problem)
        measured.append(_measure(series, force, step, problem))
        u, v = _at(series, 1.0), _at([m * term for m, term in enumerate(series)], 1.0) / step
    residuals, least, largest = (np.stack(part, axis=1) for part in zip(*measured, strict=True))
    return Reconstruction(residuals, least, largest, state[1:] - np.stack([u, v], axis=1))


def _at(series: list[Array], z: float) -> Array:
    """Σ u_m z^m."""
    value = series[-1]
    for term in reversed(series[:-1]):
        value = z * value + term
    return value


def _second_derivative(u: Array, k: Array) -> Array:
    return np.fft.irfft(-(k**2) * np.fft.rfft(u), n=u.shape[-1])


def _taylor(u: Array, velocity: Array, force: list[Array], step: Array, problem: SineGordon) -> list[Array]:
    """u_m with ŝ(t_j + z h) = Σ u_m z^m: (m + 1)(m + 2) u_{m+2} = h² (c² ∂²u_m − (sin ŝ)_m + f_m), on the grid."""
    k, speed = wavenumbers(problem), float(problem.speed)
    series, sines, cosines = [u, velocity], [np.sin(u)], [np.cos(u)]
    for m in range(DEGREE - 1):
        if m > 0:  # (sin ŝ)' = ŝ' cos ŝ, (cos ŝ)' = −ŝ' sin ŝ
            inner = np.stack([i * series[i] / m for i in range(1, m + 1)])
            sine, cosine = np.stack(sines[::-1]), np.stack(cosines[::-1])
            sines.append(np.sum(inner * cosine, axis=0))
            cosines.append(-np.sum(inner * sine, axis=0))
        rate = speed**2 * _second_derivative(series[m], k) - sines[m] + (force[m] if m < 2 else 0.0)
        series.append(step**2 * rate / ((m + 1) * (m + 2)))
    return series


def _measure(series: list[Array], force: list[Array], step: Array, problem: SineGordon) -> tuple[Array, Array, Array]:
    """(∫ ‖residual‖ dt, least and largest cos ŝ) of one substep, for every row."""
    points, fine, k = problem.points, OVERSAMPLING * problem.points, wavenumbers(problem)
    spectra = [np.fft.rfft(term, norm="forward") for term in series]
    values, curved = ([_lifted(c, points, fine) for c in part] for part in (spectra, [-(k**2) * c for c in spectra]))
    pushed = [_lifted(np.fft.rfft(term, norm="forward"), points, fine) for term in force]
    bent = [(m + 1) * (m + 2) * values[m + 2] for m in range(DEGREE - 1)]
    nodes, weights = np.polynomial.legendre.leggauss(NODES)
    square = np.zeros(len(step))
    for z, weight in zip((nodes + 1) / 2, weights / 2, strict=True):
        linear = _at(bent, z) / step**2 - float(problem.speed) ** 2 * _at(curved, z)
        residual = linear + np.sin(_at(values, z)) - _at(pushed, z)
        square += weight * np.sum(residual**2, axis=1) * problem.length / fine
    sizes = np.stack([multiplicity(points) * np.abs(c) for c in spectra])  # (terms, rows, modes): amplitudes
    rest = np.sqrt(problem.length) * (_outside_grid(sizes.sum(axis=0), fine) + _between_nodes(sizes.sum(axis=2)))
    moved = np.pi / fine * (sizes[0] @ np.arange(points // 2 + 1)) + sizes[1:].sum(axis=(0, 2))
    cosine = np.cos(values[0])
    return step[:, 0] * (np.sqrt(square) + rest), cosine.min(axis=1) - moved, cosine.max(axis=1) + moved


def _lifted(spectrum: NDArray[np.complex128], points: int, fine: int) -> Array:
    """Values on the fine grid of the trigonometric interpolant."""
    if points % 2 == 0:
        spectrum = np.concatenate([spectrum[..., :-1], spectrum[..., -1:] / 2], axis=-1)
    return np.fft.irfft(spectrum, n=fine, norm="forward")


def _outside_grid(amplitudes: Array, fine: int) -> Array:
    """max |g − its interpolant| for g = sin ŝ: 4 e^Y q^{M/2}/(1 − q), q = e^{−θ}.

    |g| ≤ e^Y in the strip of half-width θ, where |Im ŝ| ≤ Y = Σ a_m sinh(mθ).
    """
    modes = np.arange(amplitudes.shape[-1])
    widths = STRIPS / modes[-1]
    imaginary = amplitudes @ np.sinh(np.outer(modes, widths))  # (rows, strips)
    exponent = log(4) + imaginary - widths * fine / 2 - np.log1p(-np.exp(-widths))
    return np.exp(np.min(exponent, axis=-1))


def _between_nodes(sizes: Array) -> Array:
    """max |g − its interpolant in time at the Gauss nodes| for g = sin ŝ, by Cauchy's formula on circles of radius R.

    There |g| ≤ e^Y, Y = Σ_{m ≥ 1} ‖u_m‖ ((1 + R)/2)^m; the node polynomial is ≥ (R − 1)^n there and ≤ `largest` on the
    substep.
    """
    powers = ((1 + CIRCLES) / 2) ** np.arange(1, len(sizes))[:, None]
    imaginary = sizes[1:].T @ powers
    largest = 2.0**NODES * factorial(NODES) ** 2 / factorial(2 * NODES)
    exponent = imaginary + np.log(CIRCLES / (CIRCLES - 1)) + log(largest) - NODES * np.log(CIRCLES - 1)
    return np.exp(np.min(exponent, axis=-1))
