"""The tangent of a march: one sweep through time, forwards to solve and backwards for the adjoint."""

from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from physrank.physics.glance import March
from physrank.physics.problem import Tangent, pullback, roundoff_floor
from physrank.physics.solvers import ROUGH, Solve


class MarchingTangent(Tangent):
    """Block lower triangular: row n+1 couples h_{n+1} and h_n only, so solving is one sweep through time.

    Derivatives of a step are taken where they are used and never stored: memory stays linear in the trajectory, and a
    batch of problems moves through the sweep together.
    """

    problem: March
    at: Array

    def apply(self, direction: Array) -> Array:
        def row(after: Array, now: Array, forcing: Any, h_after: Array, h_now: Array) -> Array:
            return self.problem.push(after, now, forcing, h_after, h_now)[1]

        rows = self.problem.over_steps(row, self.at, direction[1:], direction[:-1])
        return jnp.concatenate([direction[:1], rows])

    def apply_adjoint(self, covector: Array) -> Array:
        def row(after: Array, now: Array, forcing: Any, z: Array) -> tuple[Array, Array]:
            return pullback(lambda a, n: self.problem.row(a, n, forcing), after, now)(z)

        after, now = self.problem.over_steps(row, self.at, covector[1:])
        zero = jnp.zeros_like(covector[:1])
        return jnp.concatenate([covector[:1], after]) + jnp.concatenate([now, zero])

    def solve(self, rhs: Array) -> Solve:
        return sweep(self.problem, self.at, rhs)[1]

    def solve_adjoint(self, rhs: Array) -> Solve:
        def step(pulled: Array, inputs: tuple[Array, Array, Any, Array]) -> tuple[Array, tuple[Array, ...]]:
            after, now, forcing, r = inputs
            known = r - pulled
            pull = pullback(lambda a, n: self.problem.row(a, n, forcing), after, now)
            if self.problem.implicit:
                solve = self.problem.diagonal(after, now, forcing).solve_adjoint(known)
                return pull(solve.value)[1], (solve.value, solve.defect, solve.iterations, solve.solved)
            return pull(known)[1], (known, jnp.zeros_like(known), jnp.asarray(1), jnp.all(jnp.isfinite(known)))

        inputs = (self.at[1:], self.at[:-1], self.problem.per_step, rhs[1:])
        pulled, (rows, defects, counts, solved) = jax.lax.scan(step, jnp.zeros_like(rhs[0]), inputs, reverse=True)
        return Solve(
            jnp.concatenate([(rhs[0] - pulled)[None], rows]),
            jnp.concatenate([jnp.zeros_like(rhs[:1]), defects]),
            jnp.sum(counts) if self.problem.implicit else jnp.asarray(1),
            jnp.all(solved),
        )

    def magnitude(self) -> Float[Array, ""]:
        if not self.problem.implicit:
            return jnp.ones(())  # identity rows minus a step map of about unit size
        last = jax.tree.map(lambda leaf: leaf[-1], self.problem.per_step)
        return self.problem.diagonal(self.at[-1], self.at[-2], last).magnitude()


def sweep(march: March, at: Array, rhs: Array | None, rough: bool = False) -> tuple[Array, Solve]:
    """Forward substitution for L h = rhs; with rhs None, for rhs = −A(at), whose rows the same pass evaluates.

    One pass over the rows of `at` as they lie: slices and joins of whole trajectories cost more than a step.
    """
    march.check_rows(at)
    size = MarchingTangent(march, at).magnitude()  # one probe for all steps
    tolerance = ROUGH / max(len(at) - 1, 1)  # of a rough one: what its steps leave adds up

    def first(inputs: tuple[Array, Array, Array, Array, Array | None]) -> tuple[Array, ...]:
        after, _, _, _, given = inputs
        row = after - march.initial
        value = -row if given is None else given
        return row, value, jnp.zeros_like(row), jnp.asarray(0), jnp.all(jnp.isfinite(value))

    def later(inputs: tuple[Array, Array, Array, Array, Array | None], forcing: Any) -> tuple[Array, ...]:
        after, now, h, before, given = inputs
        if not march.implicit:  # ∂R/∂next is the identity
            row, known = march.push(after, now, forcing, jnp.zeros_like(h), h)
            wanted = -row if given is None else given
            value = wanted - known
            return row, value, value + known - wanted, jnp.asarray(0), jnp.all(jnp.isfinite(value))
        row, known = jax.jvp(lambda n: march.row(after, n, forcing), (now,), (h,))
        wanted = (-row if given is None else given) - known
        # A defect that is smooth in time has such a response: the guess only saves iterations.
        floor = roundoff_floor(size, after)
        tangent = march.diagonal(after, now, forcing)
        solve = tangent.solve(wanted, guess=2 * h - before, floor=floor, rough=rough, tolerance=tolerance)
        return row, solve.value, solve.defect, jnp.asarray(solve.iterations), solve.solved

    def step(carry: tuple[Array, ...], inputs: tuple[Array, Array | None]) -> tuple[tuple[Array, ...], Any]:
        index, now, h, before = carry
        after, given = inputs
        forcing = jax.tree.map(lambda leaf: leaf[jnp.maximum(index - 1, 0)], march.per_step)
        known = (after, now, h, before, given)
        results = jax.lax.cond(index == 0, first, lambda known: later(known, forcing), known)
        value = results[1]
        return (index + 1, after, value, jnp.where(index == 0, value, h)), results

    nothing = jnp.zeros_like(march.initial)
    start = (jnp.asarray(0), nothing, nothing, nothing)
    _, (rows, values, defects, counts, solved) = jax.lax.scan(step, start, (at, rhs))
    iterations = jnp.sum(counts) if march.implicit else jnp.asarray(1)
    return rows, Solve(values, defects, iterations, jnp.all(solved))
