"""Where an iteration does not converge: the tangent of a JAX problem formed by columns, kept sparse, and factored, completely
or, where that would fill memory, incompletely."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from physrank import _optional, compute
from physrank.geometry.grid import Grid
from physrank.geometry.metrics import AnyMetric
from physrank.physics.assembled import Hosted, State
from physrank.physics.differences import Memory
from physrank.physics.factors import Factored
from physrank.physics.problem import Problem

UNKNOWNS = 20_000  # up to which so many derivatives take seconds
ENTRIES = 20_000_000  # of a tangent that is worth factoring: 240 MB
FILLS = 4_000_000  # entries above which complete factors may not fit, and incomplete ones guide an iteration
COLUMNS = 64  # at a time
SAID = (
    "its iterative solver did not converge, and a sparse factorisation of its tangent, formed by columns, took over; a "
    "preconditioner, or physrank.Assembled(residual, jacobian) with a Jacobian of your own, costs less"
)


class Rescued(Hosted):
    """The same problem with a sparse factorisation of its tangent in place of an iteration."""

    inner: Problem
    memory: Memory
    solver: Any = None
    residual_weights: Any = None
    admissibility: Any = None
    mass: AnyMetric | None = None
    grid: Grid | None = eqx.field(static=True, default=None)
    shape: tuple[int, ...] | None = eqx.field(static=True, default=None)

    def defect(self, state: State) -> State:
        return compute.run(_defect, self.inner, np.asarray(state))

    def residual_energy(self, defect: State) -> Any:
        return compute.run(_energy, self.inner, np.asarray(defect))

    def factors_at(self, state: State) -> Factored:
        return self.memory.factors(state, None, lambda: self._factors(_tangent(self.inner, state)))

    def _factors(self, tangent: Any) -> Factored:
        return Factored(tangent, "ilu" if tangent.nnz > FILLS else None)


def rescue(problem: Problem, state: State) -> Rescued | None:
    """The problem with a direct solver; None for marches, which have one tangent per step, and where it does not fit."""
    if compute.on_host(problem) or hasattr(problem, "initial") or np.iscomplexobj(state) or np.size(state) > UNKNOWNS:
        return None
    found = Rescued(inner=problem, memory=Memory(), shape=np.shape(state))
    try:
        found.factors_at(np.asarray(state))
    except MemoryError:
        return None
    return found


def _tangent(problem: Problem, state: State) -> Any:
    parts, kept = [], 0
    for start in range(0, state.size, COLUMNS):
        block = compute.run(_columns, problem, state, np.asarray(start))[: state.size - start]
        column, row = np.nonzero(block)
        parts.append((row, column + start, block[column, row]))
        kept += len(row)
        if kept > ENTRIES:
            raise MemoryError(f"the tangent has more than {ENTRIES} entries")
    rows, columns, values = (np.concatenate(part) for part in zip(*parts, strict=True))
    return _optional.load("scipy.sparse").csc_array((values, (rows, columns)), shape=(state.size, state.size))


def _columns(problem: Problem, state: Array, start: Array) -> Array:
    """L e_k for some k, as rows."""
    forward = jax.linearize(problem.defect, state)[1]

    def column(k: Array) -> Array:
        unit = jnp.zeros(state.size, state.dtype).at[k].set(1.0, mode="drop")
        return forward(unit.reshape(state.shape)).ravel()

    return jax.vmap(column)(start + jnp.arange(COLUMNS, dtype=start.dtype))


def _defect(problem: Problem, state: Array) -> Array:
    return problem.defect(state)


def _energy(problem: Problem, defect: Array) -> Array:
    return problem.residual_energy(defect)
