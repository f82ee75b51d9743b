"""Damped Newton iteration: solving the nonlinear equation itself, the honest yardstick for the response."""

from collections.abc import Callable

import jax
import jax.numpy as jnp
from jaxtyping import Array

from physrank.physics.problem import NonlinearSolve, Tangent, roundoff_floor

HALVINGS = 8


def damped_newton(
    linearise: Callable[[Array], tuple[Array, Tangent]],
    defect: Callable[[Array], Array],
    guess: Array,
    *,
    rtol: float = 1e-11,
    max_steps: int = 40,
) -> NonlinearSolve:
    """Newton with step halving until ‖A(u)‖ ≤ rtol · ‖A(guess)‖ or round-off."""

    def size(state: Array) -> Array:
        return jnp.linalg.norm(defect(state).ravel())

    start = size(guess)

    def unfinished(carry: tuple[Array, Array, Array, Array, Array]) -> Array:
        _, current, floor, count, moved = carry
        return (current > jnp.maximum(rtol * start, floor)) & (count < max_steps) & moved

    def iterate(carry: tuple[Array, Array, Array, Array, Array]) -> tuple[Array, Array, Array, Array, Array]:
        state, current, _, count, _ = carry
        residual, tangent = linearise(state)
        delta = tangent.solve(-residual).value

        def too_long(step: tuple[Array, Array]) -> Array:
            return ~(step[1] < current) & (step[0] > 0.5**HALVINGS)

        def halve(step: tuple[Array, Array]) -> tuple[Array, Array]:
            return step[0] / 2, size(state + step[0] / 2 * delta)

        length, reached = jax.lax.while_loop(too_long, halve, (jnp.ones_like(current), size(state + delta)))
        improved = reached < current
        state = jnp.where(improved, state + length * delta, state)
        return (
            state,
            jnp.where(improved, reached, current),
            roundoff_floor(tangent.magnitude(), state),
            count + 1,
            improved,
        )

    initial = (guess, start, jnp.zeros_like(start), jnp.asarray(0), jnp.asarray(True))
    state, final, floor, count, _ = jax.lax.while_loop(unfinished, iterate, initial)
    converged = jnp.isfinite(final) & (final <= jnp.maximum(rtol * start, 10 * floor))
    return NonlinearSolve(state, count, converged)
