"""Damped Newton iteration: solving the nonlinear equation itself, the honest yardstick for the response."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from physrank.physics.problem import NonlinearSolve, Tangent, probed_floor
from physrank.physics.solvers import norm

HALVINGS = 8
WORTHWHILE, MOST_STEPS = 0.7, 30  # what a preconditioned step may leave of the defect, and how many there are at most
ROUGHLY = 1e-6  # of the defect that a solve on a coarser grid may leave: that grid is off by more


def roughly(tangent: Any, residual: Array) -> Array:
    """About where to: what two digits leave, the next step takes."""
    return tangent.solve(-residual, rough=True).value


def damped_newton(
    linearise: Callable[[Array], tuple[Array, Tangent]],
    defect: Callable[[Array], Array],
    guess: Array,
    *,
    rtol: float = 1e-11,
    target: Array | None = None,
    direction: Callable[[Any, Array], Array] = lambda tangent, residual: tangent.solve(-residual).value,
    max_steps: int = 40,
    host: bool = False,
) -> NonlinearSolve:
    """Newton with step halving until ‖A(u)‖ ≤ `target` (rtol · ‖A(guess)‖) or round-off; on the `host` step by step, in
    NumPy. `direction(tangent, residual)`: where to, −L⁻¹ A(u) or about that."""
    xp, loop = (np, _loop) if host else (jnp, jax.lax.while_loop)

    def size(state: Array) -> Array:
        return norm(defect(state))

    start = size(guess)
    wanted = rtol * start if target is None else target

    def unfinished(carry: tuple[Array, Array, Array, Array, Array]) -> Array:
        _, current, floor, count, moved = carry
        return (current > xp.maximum(wanted, floor)) & (count < max_steps) & moved

    def iterate(carry: tuple[Array, Array, Array, Array, Array]) -> tuple[Array, Array, Array, Array, Array]:
        state, current, _, count, _ = carry
        residual, tangent = linearise(state)
        delta = direction(tangent, residual)

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
            probed_floor(tangent.apply, state),
            count + 1,
            improved,
        )

    initial = (guess, start, xp.zeros_like(start), xp.asarray(0), xp.asarray(True))
    state, final, floor, count, _ = loop(unfinished, iterate, initial)
    converged = xp.isfinite(final) & (final <= xp.maximum(wanted, 10 * floor))
    return NonlinearSolve(state, count, converged)


def preconditioned(
    step: Callable[[Array], Array], defect: Callable[[Array], Array], guess: Array, target: Array
) -> Array:
    """u ← u + step(A(u)) until ‖A(u)‖ ≤ target, while every step takes its share; the guess if that did not help."""

    def unfinished(carry: tuple[Array, Array, Array, Array]) -> Array:
        _, left, before, count = carry
        return (norm(left) > target) & (norm(left) < WORTHWHILE * before) & (count < MOST_STEPS)

    def iterate(carry: tuple[Array, Array, Array, Array]) -> tuple[Array, Array, Array, Array]:
        state, left, _, count = carry
        after = state + step(left)
        return after, defect(after), norm(left), count + 1

    first = defect(guess)
    start = (guess, first, jnp.asarray(jnp.inf), jnp.asarray(0))
    state, left, _, _ = jax.lax.while_loop(unfinished, iterate, start)
    return jnp.where(norm(left) <= norm(first), state, guess)


def _loop(unfinished: Callable[[Any], Any], iterate: Callable[[Any], Any], carry: Any) -> Any:
    while unfinished(carry):
        carry = iterate(carry)
    return carry
