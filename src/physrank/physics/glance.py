"""A glance at a trajectory that came from a coarser grid: what some steps of the problem's own have against it."""

from collections.abc import Callable
from typing import Any, Protocol

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from physrank import compute
from physrank.physics.solvers import signs

GLANCED = 3  # steps that stand for all of them
STRONGEST = 2  # steps with the strongest force, which stand for themselves

Rows = Callable[[Array], Array]  # numbers of rows ↦ those rows of a trajectory, on the problem's grid


class March(Protocol):
    """What is asked of a march: its rows with what is given for each step, and an approximate inverse for implicit ones."""

    @property
    def initial(self) -> Array: ...

    @property
    def forcing(self) -> Any: ...

    @property
    def times(self) -> Array | None: ...

    @property
    def per_step(self) -> Any: ...

    @property
    def implicit(self) -> bool: ...

    @property
    def host(self) -> bool: ...

    def check_rows(self, state: Array) -> None: ...

    def push(self, after: Array, now: Array, forcing: Any, h_after: Array, h_now: Array) -> tuple[Array, Array]: ...

    def over_steps(self, function: Callable[..., Any], state: Array, *more: Array) -> Any: ...

    def row(self, after: Array, now: Array, forcing: Any) -> Array: ...

    def diagonal(self, after: Array, now: Array, forcing: Any) -> Any: ...


def glance(march: March, state: Array, counts: Any = True) -> Array:
    """How far a trajectory would move, roughly: what some steps have against it, added up."""
    rows, pushed = pushes(march, lambda places: state[places], len(state) - 1, counts)
    if march.host:
        whole: Any = np.zeros_like(state)
        np.add.at(whole, np.asarray(rows), pushed)
        return whole.cumsum(axis=0)
    return jnp.cumsum(jnp.zeros_like(state).at[rows].add(pushed), axis=0)


def pushes(march: March, rows: Rows, steps: int, counts: Any = True) -> tuple[Array, Array]:
    """What the initial state and some steps have against a trajectory, and on which rows: evenly spread steps stand for the
    others, those with the strongest force for themselves.

    A step that is told the time may do at one moment what it does at no other, and nothing in its data says when: there
    every step is asked. None is, unless what they say `counts`.
    """
    number = steps if march.times is not None else min(GLANCED, steps)
    spread = np.unique(np.round(np.linspace(0, steps - 1, number)).astype(int))
    xp: Any = np if march.host else jnp
    chosen, share = xp.asarray(spread), xp.full(len(spread), steps / len(spread))
    if march.forcing is not None and len(spread) < steps:
        strength = sum(_strength(xp, leaf.reshape(steps, -1)) for leaf in jax.tree.leaves(march.forcing))
        most = min(STRONGEST, steps)
        strongest = np.argsort(-strength)[:most] if march.host else jax.lax.top_k(strength, most)[1]
        strongest = strongest.astype(chosen.dtype)
        chosen, share = xp.concatenate([chosen, strongest]), xp.concatenate([share, xp.ones(len(strongest))])

    def against(forcing: Any, after: Array, now: Array) -> Array:
        left = -march.row(after, now, forcing)
        if march.host or not march.implicit:
            return left
        tangent = march.diagonal(after, now, forcing)
        return left if tangent.precondition is None else tangent.precondition(left)

    first, now, after = rows(xp.zeros(1, chosen.dtype)), rows(chosen), rows(chosen + 1)
    given = jax.tree.map(lambda leaf: leaf[chosen], march.per_step)
    pushed = when(counts, lambda: compute.each(lambda row: against(*row), (given, after, now), march))
    pushed = pushed * share.reshape(-1, *[1] * (now.ndim - 1))
    places = xp.concatenate([xp.zeros(1, chosen.dtype), chosen + 1])
    return places, xp.concatenate([march.initial - first, pushed])


def when(counts: Any, function: Callable[[], Any]) -> Any:
    """`function()`, or zeros like it for less where that does not count. What it takes from outside is copied: little."""
    if counts is True:
        return function()
    zeros = jax.tree.map(lambda leaf: jnp.zeros(leaf.shape, leaf.dtype), jax.eval_shape(function))
    return jax.lax.cond(counts, function, lambda: zeros)


def _strength(xp: Any, force: Array) -> Array:
    """About ‖force‖² of every step: its product with a pattern of signs, which a matrix product finds in one reading."""
    mixed = force @ signs(xp.zeros(force.shape[1])).astype(force.dtype)
    return xp.real(mixed) ** 2 + xp.imag(mixed) ** 2
