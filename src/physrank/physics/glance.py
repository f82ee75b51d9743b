"""A glance at a trajectory that came from a coarser grid: what some steps of the problem's own have against it."""

from collections.abc import Callable
from typing import Any, Protocol

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

GLANCED = 6  # steps that stand for all of them


class March(Protocol):
    """What is asked of a march: its rows with what is given for each step, and an approximate inverse for implicit ones."""

    @property
    def initial(self) -> Array: ...

    @property
    def forcing(self) -> Any: ...

    @property
    def per_step(self) -> Any: ...

    @property
    def implicit(self) -> bool: ...

    def check_rows(self, state: Array) -> None: ...

    def push(self, after: Array, now: Array, forcing: Any, h_after: Array, h_now: Array) -> tuple[Array, Array]: ...

    def over_steps(self, function: Callable[..., Any], state: Array, *more: Array) -> Any: ...

    def row(self, after: Array, now: Array, forcing: Any) -> Array: ...

    def diagonal(self, after: Array, now: Array, forcing: Any) -> Any: ...


def glance(march: March, state: Array) -> Array:
    """How far a trajectory would move, roughly: what some steps have against it, added up."""
    rows, pushed = pushes(march, state)
    return jnp.cumsum(jnp.zeros_like(state).at[rows].add(pushed), axis=0)


def pushes(march: March, state: Array) -> tuple[Array, Array]:
    """What the initial state and some steps have against a trajectory, and on which rows: evenly spread steps stand for the
    others, those with the strongest forcing for themselves."""
    steps = len(state) - 1
    spread = np.unique(np.round(np.linspace(0, steps - 1, min(GLANCED, steps))).astype(int))
    rows, share = jnp.asarray(spread), jnp.full(len(spread), steps / len(spread))
    if march.forcing is not None and len(spread) < steps:
        strength = sum(
            jnp.sum(jnp.abs(leaf.reshape(steps, -1)) ** 2, axis=1) for leaf in jax.tree.leaves(march.forcing)
        )
        strongest = jax.lax.top_k(strength, len(spread) // 2)[1].astype(rows.dtype)
        rows, share = jnp.concatenate([rows, strongest]), jnp.concatenate([share, jnp.ones(len(strongest))])

    def against(index: Array) -> Array:
        forcing = jax.tree.map(lambda leaf: leaf[index], march.per_step)
        after, now = state[index + 1], state[index]
        left = -march.row(after, now, forcing)
        if not march.implicit:
            return left
        tangent = march.diagonal(after, now, forcing)
        return left if tangent.precondition is None else tangent.precondition(left)

    pushed = jax.vmap(against)(rows) * share.reshape(-1, *[1] * (state.ndim - 1))
    first = jnp.zeros(1, rows.dtype), (march.initial - state[0])[None]
    return jnp.concatenate([first[0], rows + 1]), jnp.concatenate([first[1], pushed])
