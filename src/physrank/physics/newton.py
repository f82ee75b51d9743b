"""Damped Newton iteration: solving the nonlinear equation itself, the honest yardstick for the response."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
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
    host: bool = False,
) -> NonlinearSolve:
    """Newton with step halving until ‖A(u)‖ ≤ rtol · ‖A(guess)‖ or round-off; on the `host` step by step, in NumPy."""
    xp, loop = (np, _loop) if host else (jnp, jax.lax.while_loop)

    def size(state: Array) -> Array:
        return xp.linalg.norm(defect(state))

    start = size(guess)

    def unfinished(carry: tuple[Array, Array, Array, Array, Array]) -> Array:
        _, current, floor, count, moved = carry
        return (current > xp.maximum(rtol * start, floor)) & (count < max_steps) & moved

    def iterate(carry: tuple[Array, Array, Array, Array, Array]) -> tuple[Array, Array, Array, Array, Array]:
        state, current, _, count, _ = carry
        residual, tangent = linearise(state)
        delta = tangent.solve(-residual).value

        def too_long(step: tuple[Array, Array]) -> Array:
            return ~(step[1] < current) & (step[0] > 0.5**HALVINGS)

        def halve(step: tuple[Array, Array]) -> tuple[Array, Array]:
            return step[0] / 2, size(state + step[0] / 2 * delta)

        length, reached = loop(too_long, halve, (xp.ones_like(current), size(state + delta)))
        improved = reached < current
        state = xp.where(improved, state + length * delta, state)
        return (
            state,
            xp.where(improved, reached, current),
            roundoff_floor(tangent.magnitude(), state),
            count + 1,
            improved,
        )

    initial = (guess, start, xp.zeros_like(start), xp.asarray(0), xp.asarray(True))
    state, final, floor, count, _ = loop(unfinished, iterate, initial)
    converged = xp.isfinite(final) & (final <= xp.maximum(rtol * start, 10 * floor))
    return NonlinearSolve(state, count, converged)


def _loop(unfinished: Callable[[Any], Any], iterate: Callable[[Any], Any], carry: Any) -> Any:
    while unfinished(carry):
        carry = iterate(carry)
    return carry
