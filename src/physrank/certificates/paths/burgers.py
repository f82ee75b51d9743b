"""The function ŝ(t, x) that a trajectory of Burgers stands for, and what the energy inequality makes of its residual.

From every row, ŝ is marched to the next: a trigonometric polynomial in x, a quintic in t on each substep with the first
two derivatives that the equation asks for at its ends, and a jump where the next row begins.
"""

from dataclasses import dataclass

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array as JaxArray

from physrank import compute
from physrank.certificates.paths import time_polynomials
from physrank.certificates.paths.trigonometric import Line, halves, times
from physrank.equations import Burgers
from physrank.geometry.space import Array
from physrank.physics.schemes import integrating_factor_rk4

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
    terminal: JaxArray  # (n/2 + 1): s(T) − ŝ(T)

    @property
    def rows(self) -> Row:
        """All of them, along the leading axes."""
        return self.pieces, self.force, self.step


def reconstruct(problem: Burgers, state: Array) -> Path:
    return compute.run(_reconstruct, problem, state)


def _reconstruct(problem: Burgers, state: JaxArray) -> Path:
    line, factors = Line.of(problem), halves(problem.points)
    initial, rows = (times(factors, jnp.fft.rfft(x, norm="forward")) for x in (problem.initial, state))
    force = times(factors, problem.forcing) / problem.points
    step = jnp.diff(problem.times) / problem.substeps
    pieces, last = jax.vmap(lambda *row: _march(line, *row))(line.kept(rows[:-1]), force, step)
    return Path(
        line,
        pieces,
        force,
        step,
        jumps=line.kept(rows[1:]) - last,
        initial=initial - rows[0] + line.dropped(rows[0]),
        terminal=line.dropped(rows[-1]),
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


@dataclass(frozen=True, eq=False)
class Measures:
    """All that the energy inequality needs, per substep `(rows, substeps)` or per row."""

    residual: Array  # ≥ ∫ ‖P_K r‖ dt
    truncation: Array  # = ∫ ‖|∂_x|⁻¹ (1 − P_K) r‖² dt / 2ν
    growth: Array  # ≥ ∫ ½ max_x (−ŝ_x)₊ dt
    jumps: Array  # (rows): ‖ŝ(t_{n+1} +) − ŝ(t_{n+1} −)‖
    initial: Array  # ‖u₀ − ŝ(0)‖
    terminal: Array  # ‖s(T) − ŝ(T)‖

    def radii(self, forcing_error: float = 0.0) -> Array:
        """Bounds of ‖u − ŝ‖ on every substep. Each contribution grows by e^{∫ g} from where it enters."""
        with np.errstate(over="ignore", invalid="ignore"):
            total = np.cumsum(self.growth).reshape(self.growth.shape)  # ∫ g to the end of each substep
            before = np.exp(total - self.growth)
            enters = np.array(self.residual)
            enters[1:, 0] += self.jumps[:-1]
            enters[0, 0] += self.initial + forcing_error
            low = np.cumsum(enters / before)
            high = np.sqrt(np.cumsum(self.truncation / before**2))
            return np.exp(total) * (low + high).reshape(total.shape)

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
        r = residual(line, row, theta)
        pieces, _, step = row
        low, high = line.kept(r), line.smoothed(r)
        falling = -line.slope(pieces)
        steepest = jnp.max(line.values(falling), axis=-1) + line.missed(falling)
        return (
            # ∫ ‖r‖ dt ≤ (h ∫ ‖r‖² dt)^½, and the quadrature of ‖r‖² is exact.
            step * jnp.sqrt(weights @ line.inner(low, low)),
            step * (weights @ line.inner(high, high)) / (2 * line.viscosity),
            step * jnp.mean(jnp.maximum(steepest, 0), axis=0) / 2,
        )

    found = jax.lax.map(measured, path.rows, batch_size=ROWS_TOGETHER)
    return *found, line.norm(path.jumps), line.norm(path.initial), line.norm(path.terminal)
