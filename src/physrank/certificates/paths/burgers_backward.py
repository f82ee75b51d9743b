"""Single directions of the error of a Burgers path, to second order: ⟨u(T) − ŝ(T), d⟩ by the backward equation.

With e = u − ŝ and any z that ends at z(T) = d and nearly solves z_t + ν z_xx + ŝ z_x = 0, up to a residual ρ,

    ⟨e(T), d⟩ = ⟨e(0), z(0)⟩ − Σ_n ⟨jump_n, z(t_n)⟩ − ∫ ⟨r, z⟩ dt + ½ ∫ ⟨e², z_x⟩ dt + ∫ ⟨e, ρ⟩ dt.

The first three are known numbers; the other two are at most ½ ∫ ‖e‖² max |z_x| dt + ∫ ‖e‖ ‖ρ‖ dt.

z is what its stored coefficients say. Round-off enters where it is measured: the known numbers by the error of r times ‖z‖
and by γ_n of their sums, ρ by 64u (3 ‖Δz‖/h + ‖ν z_xx‖) and the two transforms of ŝ z_x, y_i − y_j by that of coefficients.
"""

from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array as JaxArray
from numpy.typing import NDArray

from physrank import compute
from physrank.certificates.enclosures.rounding import UNIT, gamma
from physrank.certificates.paths import time_polynomials
from physrank.certificates.paths.burgers import (
    QUADRATURE,
    RESIDUAL_DEGREE,
    ROWS_TOGETHER,
    Path,
    residual,
    residual_errors,
)
from physrank.certificates.paths.trigonometric import SMALL, UP, coefficient_error, times
from physrank.geometry.space import Array
from physrank.physics.schemes import integrating_factor_rk4

QUADRATURE_DEGREE = max(2 * (5 + 3), RESIDUAL_DEGREE + 3)  # in time, of ‖ρ‖² with ŝ z_x in it, and of ⟨r, z⟩


@dataclass(frozen=True, eq=False)
class Functionals:
    """What the backward equation says of y_i − y_j, for the pairs i < j of `np.triu_indices`."""

    known: Array  # (pairs): the known part of ⟨e(T), y_i − y_j⟩
    slopes: Array  # (rows, substeps, pairs): ≥ ∫ max_x |z_x| dt
    residuals: Array  # (rows, substeps, pairs): ≥ ∫ ‖ρ‖ dt
    sizes: Array  # (pairs): ≥ max_t ‖z‖
    beyond: Array  # (pairs): ‖(1 − P_K)(y_i − y_j)‖, which z does not see
    unsure: Array  # (pairs): what the known part may be off by

    def unknown(self, radii: Array, radius: float, forcing_error: float = 0.0) -> Array:
        """A bound of the rest, from bounds of ‖e‖ on every substep and at T."""
        with np.errstate(over="ignore", invalid="ignore"):
            second = np.tensordot(radii**2, self.slopes, 2) / 2 + np.tensordot(radii, self.residuals, 2)
            return UP * (second + forcing_error * self.sizes + radius * self.beyond + self.unsure)


def functionals(path: Path, outputs: NDArray[np.complex128]) -> Functionals:
    """For coefficients `outputs` of all y_i, `(N, n/2 + 1)`: one march backwards in time moves all y_i − y_0."""
    return Functionals(*compute.run(_functionals, path, outputs, 2 * (outputs.shape[-1] - 1)))


def _functionals(path: Path, outputs: JaxArray, points: int) -> tuple[JaxArray, ...]:
    line, directions = path.line, outputs[1:] - outputs[0]
    theta, weights = time_polynomials.gauss(QUADRATURE_DEGREE)
    i, j = np.triu_indices(len(outputs), 1)

    def of_pairs(x: JaxArray, axis: int = 1) -> JaxArray:
        """Differences over all pairs, for x linear in y − y_0."""
        every = jnp.concatenate([jnp.zeros_like(jax.lax.slice_in_dim(x, 0, 1, axis=axis)), x], axis=axis)
        return jnp.take(every, i, axis) - jnp.take(every, j, axis)

    def of_both(x: JaxArray, axis: int = 1) -> JaxArray:
        """Sums over all pairs, for what is not known better than for each y − y_0 alone."""
        every = jnp.concatenate([jnp.zeros_like(jax.lax.slice_in_dim(x, 0, 1, axis=axis)), x], axis=axis)
        return jnp.take(every, i, axis) + jnp.take(every, j, axis)

    def transport(z: JaxArray, s: JaxArray) -> JaxArray:
        """P_K (ŝ z_x), for ŝ on the grid."""
        return line.modes(s * line.values(line.slope(z)), line.degree)

    def substep(after: JaxArray, piece: tuple[JaxArray, ...]) -> tuple[JaxArray, tuple[JaxArray, ...]]:
        """From the end of a substep to its start."""
        s, r, error, step, jump = piece
        end, middle, start = line.values(time_polynomials.evaluate(s, np.array([1.0, 0.5, 0.0])))
        before = integrating_factor_rk4(transport, line.symbol, after, jnp.stack([end, middle, start]), step, 1)
        jets = [
            (z, times(-step, times(line.symbol, z) + transport(z, at))) for z, at in ((before, start), (after, end))
        ]
        z = time_polynomials.cubic(*jets)
        z_x = line.values(line.slope(z))
        linear = line.values(times(1 / step, time_polynomials.derivative(z)) + times(line.symbol, z))
        rho = time_polynomials.evaluate(linear, theta)
        rho += line.values(time_polynomials.evaluate(s, theta))[:, None] * time_polynomials.evaluate(z_x, theta)
        gram = line.length / line.grid * jnp.einsum("t, tkx, tlx -> kl", weights, rho, rho)
        sizes = jnp.concatenate([jnp.zeros(1), jnp.diagonal(gram)])
        # Of two nearly equal candidates only round-off is left in the difference: it is added, not trusted.
        square = jnp.maximum(jnp.diagonal(of_pairs(of_pairs(gram, 0), 1)), 0) + added * (sizes[i] + sizes[j])
        moments = line.inner(r[:, None], time_polynomials.evaluate(z, theta))
        steep = line.slope(z)
        steepest = jnp.max(jnp.abs(of_pairs(z_x)), axis=-1) + line.missed(of_pairs(steep))
        steepest = steepest + of_both(line.pointwise(steep))
        # ρ: differences of z, the symbol, and the values of ŝ and z_x on the grid.
        size, slope = line.norm(s), jnp.max(line.norm(steep), axis=0)
        tall, tilted = jnp.max(line.largest(s)), jnp.max(line.largest(steep), axis=0)
        bent = 3 * jnp.max(line.norm(jnp.diff(z, axis=0)), axis=0) / step
        stiff = jnp.max(line.norm(times(line.symbol, z)), axis=0)
        off = (
            64 * UNIT * (bent + stiff)
            + 2 * line.blur * (tall * slope + tilted * jnp.max(size))
            + SMALL * (1 + 1 / step)
        )
        # ⟨r, z⟩ and ⟨jump, z⟩: what r is off by, and sums over modes and nodes.
        sides, rough = jnp.max(line.norm(z), axis=0), jnp.max(line.norm(r))
        unsure = step * (error + 2.0**-34 * rough) * sides + 2.0**-40 * line.norm(jump) * sides
        return before, (
            -line.inner(jump, after) - step * (weights @ moments),
            UP * step * jnp.mean(steepest, axis=0),
            QUADRATURE * step * (jnp.sqrt(square) + of_both(off, 0)),
            jnp.max(line.norm(of_pairs(z)), axis=0),
            of_both(unsure, 0),
        )

    added = 4 * gamma(line.grid * len(theta) + 16)  # of sizes of a Gram matrix, in their differences
    rows, _, substeps, _ = path.pieces.shape
    r = jax.lax.map(lambda row: line.kept(residual(line, row, theta)), path.rows, batch_size=ROWS_TOGETHER)
    errors = jax.lax.map(lambda row: residual_errors(line, row, theta)[0], path.rows, batch_size=ROWS_TOGETHER)
    jumps = jnp.zeros((rows, substeps, line.degree + 1), complex).at[:, -1].set(path.jumps)
    steps = jnp.repeat(path.step[:, None], substeps, axis=1)
    pieces = (jnp.moveaxis(path.pieces, 1, 2), jnp.moveaxis(r, 1, 2), errors, steps, jumps)
    flat = tuple(x.reshape(rows * substeps, *x.shape[2:]) for x in pieces)
    start, (known, slopes, residuals, sizes, unsure) = jax.lax.scan(substep, line.kept(directions), flat, reverse=True)
    first = line.inner(line.kept(path.initial), start)
    # The known part is a sum of as many numbers as there are substeps, and starts where u₀ is known to `path.unsure`.
    summed = 4 * gamma(rows * substeps + 16) * (jnp.sum(jnp.abs(known), axis=0) + jnp.abs(first))
    began = (path.unsure[0] + 2.0**-40 * line.norm(path.initial)) * line.norm(start)
    lengths = line.norm(outputs)
    off = 4 * coefficient_error(points) * (lengths[i] + lengths[j] + lengths[0])
    return (
        of_pairs(jnp.sum(known, axis=0) + first, 0),
        slopes.reshape(rows, substeps, -1),
        residuals.reshape(rows, substeps, -1),
        jnp.max(sizes, axis=0),
        line.norm(of_pairs(line.dropped(directions), 0)) + off,
        UP * (jnp.sum(unsure, axis=0) + of_both(summed + began, 0)),
    )
