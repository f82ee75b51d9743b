"""Sine–Gordon between stored rows: Verlet stages on the grid, and a Taylor reconstruction with its residual in the continuum.

Everything is computed in the widest format that the machine has (a significand of 64 bits on many), since growth of e^t
amplifies round-off too, and what is left of it is bounded, substep by substep. Elementary functions are taken to be right to
four units in the last place. The bounds used here are proved in docs/certificates/sine_gordon.md.
"""

from dataclasses import dataclass
from math import factorial, log
from typing import Any

import numpy as np
from numpy.typing import NDArray

from physrank.certificates.enclosures.fourier import WIDE, WIDE_UNIT, transform_error
from physrank.equations import SineGordon
from physrank.geometry.space import Array

Wide = NDArray[Any]  # numbers of the wide format

UP = 1 + 2.0**-30  # covers the roundings of a norm and of a few scalars in an error, which need no more digits
TOUCH = 2.0**-49  # of a cosine that was rounded to double precision
DEGREE = 8  # of the Taylor polynomial of a substep
NODES = DEGREE + 1  # Gauss nodes that integrate the square of a residual of this degree exactly
OVERSAMPLING = 4
STRIPS = np.geomspace(
    0.5, 700.0, 60
)  # half-widths of strips around the real axis times the largest wavenumber: e^700 < ∞
CIRCLES = np.geomspace(2.0, 1e4, 60)  # radii around a substep, in units of its half-length


PI = 4 * np.arctan(WIDE(1))  # in the wide format


def wavenumbers(problem: SineGordon) -> Array:
    return np.arange(problem.points // 2 + 1, dtype=np.float64) * (2 * np.pi / problem.length)


def wide_steps(problem: SineGordon) -> Wide:
    """Lengths of the substeps of each row, `(rows, 1)`."""
    return np.diff(np.asarray(problem.times).astype(WIDE))[:, None] / problem.substeps


def multiplicity(points: int) -> Array:
    """How many of the modes ±m a coefficient of `rfft` stands for."""
    twice = np.full(points // 2 + 1, 2.0)
    twice[0] = 1.0
    if points % 2 == 0:
        twice[-1] = 1.0
    return twice


@dataclass(frozen=True, eq=False)
class Stages:
    """The stages of Φ_n(s_n) in the wide format: numbers that nearly obey the map, and how nearly."""

    least: Array  # (rows, substeps + 1): cos u ≥ least on the grid
    largest: Array
    displaced: Array  # (rows, substeps): L² bounds of what round-off adds to displacement and velocity in a substep
    pushed: Array
    jumps: Array  # (rows, 2, points): s_{n+1} − Φ_n(s_n)
    unsure: tuple[Array, Array]  # (rows): what the jumps may be off by, in L²


def verlet_stages(problem: SineGordon, state: Array) -> Stages:
    """With w the unit round-off, φ the error of a transform, τ the substep and K = c²k²_max, one substep errs by at most

        ΔF = (2φ + 32w) K ‖u‖ + 16w (√L + ‖f‖)           in −Ku − sin u + f,
        Δh = ½τ ΔF + 4w (‖v‖ + τ‖F‖)                     after the half kick,
        Δu = τ Δh + 4w (‖u‖ + τ‖h‖)                      in the displacement,
        Δv = Δh + ½τ (ΔF' + (K + 1) Δu) + 4w (‖h‖ + τ‖F'‖)

    in L². The stages themselves are the path; this is its defect, not an accumulated error.
    """
    forcing, speed = np.asarray(problem.forcing).astype(WIDE), WIDE(float(problem.speed))
    tau, k = wide_steps(problem), WIDE(2) * PI / WIDE(problem.length) * np.arange(problem.points // 2 + 1)
    u, v = (state[:-1, field].astype(WIDE) for field in (0, 1))
    stiff, blur = float((speed * k[-1]) ** 2) * UP, 2 * transform_error(problem.points, WIDE_UNIT) + 32 * WIDE_UNIT
    step, w, root = np.asarray(tau[:, 0], np.float64), WIDE_UNIT, np.sqrt(problem.length)

    def size(x: Wide) -> Array:
        return UP * np.sqrt(np.asarray(np.sum(x * x, axis=-1), np.float64) * problem.length / problem.points)

    def pull(u: Wide, stage: int) -> tuple[Wide, Array]:
        """The force and its error."""
        f = speed**2 * second_derivative(u, k) - np.sin(u) + forcing[:, stage]
        return f, blur * stiff * size(u) + 16 * w * (root + size(forcing[:, stage]))

    stages, displaced, pushed = [np.cos(u)], [], []
    force, off = pull(u, 0)
    for j in range(problem.substeps):
        half = v + tau / 2 * force
        off_half = step / 2 * off + 4 * w * (size(v) + step * size(force))
        after = u + tau * half
        off_u = step * off_half + 4 * w * (size(u) + step * size(half))
        force, off = pull(after, j + 1)
        u, v = after, half + tau / 2 * force
        displaced.append(UP * off_u)
        pushed.append(
            UP * (off_half + step / 2 * (off + (stiff + 1) * off_u) + 4 * w * (size(half) + step * size(force)))
        )
        stages.append(np.cos(u))
    ahead = state[1:].astype(WIDE)
    jumps = np.stack([ahead[:, 0] - u, ahead[:, 1] - v], axis=1)
    return Stages(
        np.stack([np.asarray(c.min(axis=1), np.float64) for c in stages], axis=1) - TOUCH,
        np.stack([np.asarray(c.max(axis=1), np.float64) for c in stages], axis=1) + TOUCH,
        np.stack(displaced, axis=1),
        np.stack(pushed, axis=1),
        np.asarray(jumps, np.float64),
        (4 * w * (size(ahead[:, 0]) + size(u)), 4 * w * (size(ahead[:, 1]) + size(v))),
    )


@dataclass(frozen=True, eq=False)
class Reconstruction:
    """A function ŝ(t, x) that starts every row at s_n and nearly solves the equation until the next one."""

    residuals: Array  # (rows, substeps): ∫ ‖ŝ_tt − c²ŝ_xx + sin ŝ − f‖ dt
    least: Array  # (rows, substeps): cos ŝ ≥ least
    largest: Array  # and ≤ largest, everywhere in the substep
    displaced: Array  # (rows, substeps): by how much its displacement and velocity miss where the last substep ended
    pushed: Array
    jumps: Array  # (rows, 2, points): s_{n+1} − ŝ(t_{n+1}−)
    unsure: tuple[Array, Array]  # (rows): what the jumps may be off by, in L²


def reconstruct(problem: SineGordon, state: Array) -> Reconstruction:
    """Taylor polynomials of degree 8 in time, trigonometric in space, continuous with their velocity up to round-off."""
    forcing, step = np.asarray(problem.forcing).astype(WIDE), wide_steps(problem)
    u, v = (state[:-1, field].astype(WIDE) for field in (0, 1))
    measured = []
    for j in range(problem.substeps):
        force = [forcing[:, j], forcing[:, j + 1] - forcing[:, j]]  # linear in time
        series = _taylor(u, step * v, force, step, problem)
        found = _measure(series, force, step, problem)
        moved, slope = _l2(series, problem).sum(axis=0), _l2([m * term for m, term in enumerate(series)], problem)
        speed = 32 * WIDE_UNIT * (slope.sum(axis=0) / np.asarray(step[:, 0], np.float64) + _l2([v], problem)[0])
        measured.append((*found, 32 * WIDE_UNIT * moved, speed))
        u, v = _at(series, 1.0), _at([m * term for m, term in enumerate(series)], 1.0) / step
    residuals, least, largest, displaced, pushed = (np.stack(part, axis=1) for part in zip(*measured, strict=True))
    ahead = state[1:].astype(WIDE)
    jumps = np.stack([ahead[:, 0] - u, ahead[:, 1] - v], axis=1)
    sizes = [4 * WIDE_UNIT * _l2([ahead[:, field], end], problem).sum(axis=0) for field, end in ((0, u), (1, v))]
    return Reconstruction(
        residuals, least, largest, displaced, pushed, np.asarray(jumps, np.float64), (sizes[0], sizes[1])
    )


def _l2(terms: list[Wide], problem: SineGordon) -> Array:
    """Upper bounds of the L² norms on the grid, `(terms, rows)`."""
    squares = np.stack([np.asarray(np.sum(x * x, axis=-1), np.float64) for x in terms])
    return UP * np.sqrt(squares * problem.length / problem.points)


def _at(series: list[Wide], z: float) -> Wide:
    """Σ u_m z^m."""
    value = series[-1]
    for term in reversed(series[:-1]):
        value = z * value + term
    return value


def second_derivative(u: Wide, k: Wide) -> Wide:
    return np.fft.irfft(-(k**2) * np.fft.rfft(u), n=u.shape[-1])


def _taylor(u: Wide, velocity: Wide, force: list[Wide], step: Wide, problem: SineGordon) -> list[Wide]:
    """u_m with ŝ(t_j + z h) = Σ u_m z^m: (m + 1)(m + 2) u_{m+2} = h² (c² ∂²u_m − (sin ŝ)_m + f_m), on the grid."""
    k, speed = wavenumbers(problem).astype(WIDE), WIDE(float(problem.speed))
    series, sines, cosines = [u, velocity], [np.sin(u)], [np.cos(u)]
    for m in range(DEGREE - 1):
        if m > 0:  # (sin ŝ)' = ŝ' cos ŝ, (cos ŝ)' = −ŝ' sin ŝ
            inner = np.stack([i * series[i] / m for i in range(1, m + 1)])
            sine, cosine = np.stack(sines[::-1]), np.stack(cosines[::-1])
            sines.append(np.sum(inner * cosine, axis=0))
            cosines.append(-np.sum(inner * sine, axis=0))
        rate = speed**2 * second_derivative(series[m], k) - sines[m] + (force[m] if m < 2 else 0.0)
        series.append(step**2 * rate / ((m + 1) * (m + 2)))
    return series


def _measure(series: list[Wide], force: list[Wide], step: Wide, problem: SineGordon) -> tuple[Array, Array, Array]:
    """(∫ ‖residual‖ dt, least and largest cos ŝ) of one substep, for every row.

    Values on the fine grid are off by at most ψ ‖·‖, second derivatives by ψ k²_max ‖·‖, ψ = φ + φ_fine + 128w (two
    transforms and some products), so that the residual is by

        ψ (Σ (m+1)(m+2) ‖u_{m+2}‖/h² + (c²k²_max + 1) Σ ‖u_m‖ + √L + Σ ‖f_m‖).

    Nodes and weights of Gauss are known to 1e-15: a polynomial of degree 8 and its square are integrated to 1e-9 of it.
    """
    points, fine, length = problem.points, OVERSAMPLING * problem.points, problem.length
    k, speed, h = (WIDE(2) * PI / WIDE(length)) * np.arange(points // 2 + 1), WIDE(float(problem.speed)), step[:, 0]
    spectra = [np.fft.rfft(term, norm="forward") for term in series]
    values, curved = ([_lifted(c, points, fine) for c in part] for part in (spectra, [-(k**2) * c for c in spectra]))
    pushed = [_lifted(np.fft.rfft(term, norm="forward"), points, fine) for term in force]
    bent = [(m + 1) * (m + 2) * values[m + 2] for m in range(DEGREE - 1)]
    nodes, weights = np.polynomial.legendre.leggauss(NODES)
    square = np.zeros(len(step))
    for z, weight in zip((nodes + 1) / 2, weights / 2, strict=True):
        linear = _at(bent, z) / step**2 - speed**2 * _at(curved, z)
        residual = linear + np.sin(_at(values, z)) - _at(pushed, z)
        square += np.asarray(weight * np.sum(residual**2, axis=1) * length / fine, np.float64)
    phi = transform_error(points, WIDE_UNIT)
    psi = phi + transform_error(fine, WIDE_UNIT) + 128 * WIDE_UNIT
    norms, small = _l2(series, problem), np.asarray(h, np.float64)
    factors = np.array([m * (m - 1.0) for m in range(len(series))])
    stiff = float((speed * k[-1]) ** 2) + 1
    off = psi * (
        factors @ norms / small**2 + stiff * norms.sum(axis=0) + np.sqrt(length) + _l2(force, problem).sum(axis=0)
    )
    amplitudes = [np.asarray(np.abs(c), np.float64) for c in spectra]
    lost = 2 * phi * norms[..., None] / np.sqrt(length)  # of every coefficient, counted twice
    sizes = np.stack([multiplicity(points) * c for c in amplitudes]) + lost  # (terms, rows, modes)
    rest = np.sqrt(length) * (_outside_grid(sizes.sum(axis=0), fine) + _between_nodes(sizes.sum(axis=2)))
    moved = np.pi / fine * (sizes[0] @ np.arange(points // 2 + 1)) + sizes[1:].sum(axis=(0, 2))
    moved = 1.000001 * moved + psi * np.sqrt(fine / length) * norms[0] + TOUCH
    cosine = np.asarray(np.cos(values[0]), np.float64)
    total = small * (1.000001 * (np.sqrt(square) + rest) + off)
    return total, cosine.min(axis=1) - moved, cosine.max(axis=1) + moved


def _lifted(spectrum: NDArray[Any], points: int, fine: int) -> Wide:
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
