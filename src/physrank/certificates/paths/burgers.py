"""The function ŝ(t, x) that a trajectory of Burgers stands for, and what the energy inequality makes of its residual.

From every row, ŝ is marched to the next: a trigonometric polynomial in x, a quintic in t on each substep with the first
two derivatives that the equation asks for at its ends, and a jump where the next row begins.

The path is what its stored coefficients say, so that only what is measured of it has round-off. With u the unit round-off, φ
the error of a transform (`enclosures/fourier.py`), norms of L² and maxima over the Bernstein coefficients c of a substep of
length h, the residual is off by at most

    64u (5 ‖Δc‖/h + ‖ν c_xx‖ + Σ|w| ‖f‖) + ½ k_K (3φ + 160u) Σ_k|c_k| ‖c‖

on the modes that are kept (differences of the coefficients, the symbol, the interpolated force; two transforms and a square
before ½∂_x), and the rest of it, in the weaker norm, by 64u Σ|w| ‖f‖/k_K + ½ (3φ + 160u) Σ_k|c_k| ‖c‖.
"""

from dataclasses import dataclass

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array as JaxArray

from physrank import compute
from physrank.certificates.enclosures.rounding import UNIT
from physrank.certificates.paths import time_polynomials
from physrank.certificates.paths.trigonometric import SMALL, UP, Line, coefficient_error, coefficients, halves, times
from physrank.equations import Burgers
from physrank.geometry.space import Array
from physrank.physics.schemes import integrating_factor_rk4

STEP = 1 + 2.0**-46  # covers the roundings of one step of a recursion
QUADRATURE = 1 + 2.0**-30
ROWS_TOGETHER = 8  # rows of a trajectory measured at once: more of them only crowd the cache
RESIDUAL_DEGREE = max(2 * 5, time_polynomials.SAMPLES_DEGREE)  # of r in time: ŝ ŝ_x against f

Row = tuple[JaxArray, JaxArray, JaxArray]  # pieces, samples of the force, length of a substep


class Path(eqx.Module):
    """ŝ on all substeps, and where it misses the data."""

    line: Line
    pieces: JaxArray  # (rows, 6, substeps, K + 1): quintics in time
    force: JaxArray  # (rows, 2 · substeps + 1, n/2 + 1): samples of f
    step: JaxArray  # (rows)
    jumps: JaxArray  # (rows, K + 1): ŝ(t_{n+1} +) − ŝ(t_{n+1} −)
    initial: JaxArray  # (n/2 + 1): u₀ − ŝ(0)
    end: JaxArray  # (n/2 + 1): s(T), of which ŝ(T) is the part that is kept
    unsure: JaxArray  # (2): what u₀ and s(T) may be off by in L², since their coefficients are computed

    @property
    def rows(self) -> Row:
        """All of them, along the leading axes."""
        return self.pieces, self.force, self.step


def reconstruct(problem: Burgers, state: Array) -> Path:
    start = np.asarray(problem.initial)
    with np.errstate(over="ignore"):
        sizes = np.sqrt([np.sum(rows**2) * problem.length / problem.points for rows in (start, state[0], state[-1])])
    off = coefficient_error(problem.points) * (sizes + SMALL)
    return compute.run(
        _reconstruct, problem, coefficients(start), coefficients(state), np.array([off[0] + off[1], off[2]])
    )


def _reconstruct(problem: Burgers, initial: JaxArray, rows: JaxArray, unsure: JaxArray) -> Path:
    line = Line.of(problem)
    force = times(halves(problem.points), problem.forcing) / problem.points
    step = jnp.diff(problem.times) / problem.substeps
    pieces, last = jax.vmap(lambda *row: _march(line, *row))(line.kept(rows[:-1]), force, step)
    return Path(
        line,
        pieces,
        force,
        step,
        jumps=line.kept(rows[1:]) - last,
        initial=initial - rows[0] + line.dropped(rows[0]),
        end=rows[-1],
        unsure=unsure,
    )


def _march(line: Line, start: JaxArray, force: JaxArray, step: JaxArray) -> tuple[JaxArray, JaxArray]:
    """Quintics `(6, substeps, K + 1)` through the nodes of the flow from one row, and where they end."""

    def substep(c: JaxArray, f: JaxArray) -> tuple[JaxArray, JaxArray]:
        return integrating_factor_rk4(line.explicit, line.symbol, c, f, step, 1), c

    def jet(c: JaxArray, f: JaxArray, f_theta: JaxArray) -> time_polynomials.Jet:
        c_theta = times(step, line.rate(c, f))
        return c, c_theta, times(step, jax.jvp(line.rate, (c, f), (c_theta, f_theta))[1])

    before, middle, after = force[:-2:2], force[1::2], force[2::2]
    last, starts = jax.lax.scan(substep, start, jnp.stack([before, middle, after], axis=1))
    ends = jnp.concatenate([starts[1:], last[None]])
    _, slopes = time_polynomials.sample_matrices(len(middle), ())
    f_theta = time_polynomials.combined(slopes, force)
    return time_polynomials.quintic(jet(starts, before, f_theta[:, 0]), jet(ends, after, f_theta[:, 1])), last


def residual(line: Line, row: Row, at: Array) -> JaxArray:
    """r at the given θ of the substeps of a row: `(at, substeps, modes)`."""
    pieces, force, step = row
    interpolant, _ = time_polynomials.sample_matrices(len(force) // 2, tuple(at))
    f = jnp.moveaxis(time_polynomials.combined(interpolant, force), 1, 0)
    value, slope = (time_polynomials.evaluate(c, at) for c in (pieces, time_polynomials.derivative(pieces)))
    return line.residual(value, times(1 / step, slope), f)


def residual_errors(line: Line, row: Row, at: Array) -> tuple[JaxArray, JaxArray]:
    """What round-off adds to P_K r and to |∂_x|⁻¹ (1 − P_K) r at any θ, `(substeps)` each."""
    pieces, force, step = row
    interpolant, _ = time_polynomials.sample_matrices(len(force) // 2, tuple(at))
    size = jnp.max(line.norm(pieces), axis=0)
    bent = 5 * jnp.max(line.norm(jnp.diff(pieces, axis=0)), axis=0) / step
    stiff = jnp.max(line.norm(times(line.symbol, pieces)), axis=0)
    pushed = (
        np.abs(interpolant).sum(axis=2).max() * jnp.max(line.norm(force)) * np.sqrt(2)
    )  # its last mode may count twice
    product = (3 * line.blur + 160 * UNIT) / 2 * jnp.max(line.largest(pieces), axis=0) * size
    top = line.wavenumber(line.degree + 2)[-1]
    lost = SMALL * (1 + top + 1 / step + jnp.max(jnp.abs(line.symbol)))
    return 64 * UNIT * (bent + stiff + pushed) + top * product + lost, 64 * UNIT * pushed / top + product + lost


@dataclass(frozen=True, eq=False)
class Measures:
    """All that the energy inequality needs, per substep `(rows, substeps)` or per row."""

    residual: Array  # ≥ ∫ ‖P_K r‖ dt
    truncation: Array  # ≥ ∫ ‖|∂_x|⁻¹ (1 − P_K) r‖² dt / 2ν
    growth: Array  # ≥ ∫ ½ max_x (−ŝ_x)₊ dt
    jumps: Array  # (rows): ‖ŝ(t_{n+1} +) − ŝ(t_{n+1} −)‖
    initial: Array  # ‖u₀ − ŝ(0)‖
    terminal: Array  # ‖s(T) − ŝ(T)‖
    viscous: Array | None = None  # growth where half of the viscosity is kept for it (`burgers_growth.py`)

    def radii(self, forcing_error: float = 0.0) -> Array:
        """Bounds of ‖u − ŝ‖ on every substep: the smaller of two, in each of which viscosity is spent once."""
        found = self._radii(self.growth, self.truncation, forcing_error)
        if self.viscous is None:
            return found
        # The other half absorbs the truncated modes, of which twice as much is left.
        return np.fmin(found, self._radii(np.fmin(self.growth, self.viscous), 2 * self.truncation, forcing_error))

    def _radii(self, growth: Array, truncation: Array, forcing_error: float) -> Array:
        """Each contribution grows by e^{∫ g} from where it enters."""
        found, enters = np.full(growth.size, np.inf), np.array(self.residual)
        enters[1:, 0] += self.jumps[:-1]
        low, high = float(self.initial) + forcing_error, 0.0
        with np.errstate(over="ignore", invalid="ignore"):
            for j, (g, a, b) in enumerate(zip(growth.flat, enters.flat, truncation.flat, strict=True)):
                low, high = STEP * (low + a) * np.exp(g), STEP * (high + b) * np.exp(2 * g)
                found[j] = STEP * (low + np.sqrt(high))
        return found.reshape(growth.shape)

    def radius(self, forcing_error: float = 0.0) -> float:
        """A bound of ‖u(T) − ŝ(T)‖, past the last jump."""
        return float(self.radii(forcing_error)[-1, -1] + self.jumps[-1])

    @property
    def growth_factor(self) -> float:
        with np.errstate(over="ignore"):
            return float(np.exp(np.sum(self.growth)))


def measure(path: Path) -> Measures:
    return Measures(*compute.run(_measure, path))


def _measure(path: Path) -> tuple[JaxArray, ...]:
    line = path.line
    theta, weights = time_polynomials.gauss(2 * RESIDUAL_DEGREE)

    def measured(row: Row) -> tuple[JaxArray, JaxArray, JaxArray]:
        r, (off_low, off_high) = residual(line, row, theta), residual_errors(line, row, theta)
        pieces, _, step = row
        low, high = line.kept(r), line.smoothed(r)
        falling = -line.slope(pieces)
        steepest = jnp.max(line.values(falling), axis=-1) + line.missed(falling) + line.pointwise(falling)
        # Nodes are known to 1e-15, which matters to 1e-11 of a polynomial of this degree: QUADRATURE covers it.
        rms = lambda x: QUADRATURE * jnp.sqrt(weights @ line.inner(x, x)) + SMALL  # noqa: E731
        return (
            # ∫ ‖r‖ dt ≤ (h ∫ ‖r‖² dt)^½, and the quadrature of ‖r‖² is exact.
            UP * step * (rms(low) + off_low),
            UP * step * (rms(high) + off_high) ** 2 / (2 * line.viscosity),
            UP * step * jnp.mean(jnp.maximum(steepest, 0), axis=0) / 2,
        )

    found = jax.lax.map(measured, path.rows, batch_size=ROWS_TOGETHER)
    initial, terminal = line.norm(path.initial) + path.unsure[0], line.norm(line.dropped(path.end)) + path.unsure[1]
    return *found, line.norm(path.jumps), initial, terminal
