"""Rungs below the problem's grid: the same equation on coarser grids, each corrected from the one below."""

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array as JaxArray
from jaxtyping import Bool, Float

from physrank import compute
from physrank.physics import Problem, capabilities
from physrank.physics.solvers import norm, signs
from physrank.tasks import Task, field

RESOLVED = 1e-2  # of the variance in the top third of the spectrum that is carried: a level with more decides nothing
LEAST = 16  # points per side of the coarsest grid
FIELD = field()
KEPT = 2e-2  # of the range of a coefficient, an initial state, a force: a level that loses more decides nothing


class Standing(eqx.Module):
    """What one level says."""

    state: JaxArray  # on its own grid
    output: JaxArray  # Q of it, on the problem's grid
    tail: Float[JaxArray, ""]  # share of the variance where its grid ends
    lost: Float[JaxArray, ""]  # of the problem's data, relative to their range
    solved: Bool[JaxArray, ""]

    @property
    def resolved(self) -> bool:
        return bool(self.solved) and float(self.tail) <= RESOLVED and float(self.lost) <= KEPT


class Steps(eqx.Module):
    """Two preconditioned steps on the problem's own grid."""

    state: JaxArray
    last: JaxArray  # the second step
    contraction: Float[JaxArray, ""]  # ‖second‖ / ‖first‖


def levels(problem: Problem) -> tuple[int, ...]:
    """The coarser grids that are worth standing on, coarsest first."""
    if compute.on_host(problem):
        return ()
    leaves, structure = jax.tree.flatten(problem)
    shapes = (jax.ShapeDtypeStruct(x.shape, x.dtype) if hasattr(x, "dtype") else x for x in leaves)
    return _levels(structure, tuple(shapes))


@lru_cache(maxsize=64)
def _levels(structure: Any, leaves: tuple[Any, ...]) -> tuple[int, ...]:
    problem, deepest = jax.tree.unflatten(structure, leaves), 0
    grid = capabilities.grid(problem)
    if grid is None:
        return ()  # its solutions could not be lifted
    most = int(np.log2(max((min(grid.shape) + 1) / LEAST, 1.0)))
    with compute.double():
        while deepest < most:
            coarse = eqx.filter_eval_shape(capabilities.coarser, problem, deepest + 1)
            if coarse is None or capabilities.grid(coarse) is None:
                break
            deepest += 1
    return tuple(range(deepest, 0, -1))


def stand(problem: Problem, below: JaxArray, level: int, task: Task, shape: tuple[int, ...], lowest: bool) -> Standing:
    """Stand on a level: solved outright where that is cheap or nothing lies below, else corrected from `below`.

    For the lowest level, `below` is a state on the problem's own grid from which a solve may start.
    """
    coarse = capabilities.coarser(problem, level)
    assert coarse is not None
    own = _filled(coarse.state_shape, shape)
    if capabilities.cheap_to_solve(coarse) or lowest:
        found = coarse.solve(capabilities.raised(coarse, below, own) if below.ndim else jnp.zeros(own))
        state, solved = found.state, found.converged
    else:
        start = capabilities.raised(coarse, below, own)
        state = start + capabilities.refine(coarse, start, start)
        solved = jnp.all(jnp.isfinite(state))
    looked = state[-1] if task.last else state
    tail = jnp.asarray(capabilities.tail(coarse, looked))
    return Standing(state, _output(problem, task, state, shape), tail, _lost(problem, coarse), solved)


def descend(
    problem: Problem, below: JaxArray, level: int, shape: tuple[int, ...], lowest: bool
) -> tuple[Standing, Steps]:
    """Stand on a level, all of its state lifted, and take two steps from there on the problem's own grid."""
    coarse = stand(problem, below, level, FIELD, shape, lowest)
    return coarse, steps(problem, coarse.output)


def _output(problem: Problem, task: Task, state: JaxArray, shape: tuple[int, ...]) -> JaxArray:
    """Q of a coarse state; only what the task looks at is lifted."""
    if task.last:
        return capabilities.raised(problem, state[-1], shape[1:])
    return task.map(capabilities.raised(problem, state, shape))


def _lost(problem: Problem, coarse: Problem) -> Float[JaxArray, ""]:
    """How much of the problem's data a level's grid cannot carry, where they live on the grid: relative to their range."""
    fine, rough = capabilities.grid(problem), capabilities.grid(coarse)
    losses = [jnp.zeros(())]
    if fine is not None and rough is not None:
        for leaf in jax.tree.leaves(problem):
            field = _mixed(leaf, fine.shape)
            if field is not None:
                losses.append(fine.missing(field, rough))
    losses.append(_uneven_in_time(getattr(problem, "forcing", None)))
    return jnp.max(jnp.stack(losses))


def _uneven_in_time(forcing: Any) -> Float[JaxArray, ""]:
    """How far a force, `(rows, moments of a row, …)`, is from a line between every other moment, relative to its size: a
    level takes fewer of them."""
    if not eqx.is_inexact_array(forcing) or forcing.ndim < 3 or forcing.shape[1] < 3:
        return jnp.zeros(())
    even = forcing[:, : forcing.shape[1] // 2 * 2 + 1 : 2] if forcing.shape[1] % 2 else forcing[:, :-1:2]
    between = forcing[:, 1 : 2 * even.shape[1] - 1 : 2]
    off = jnp.max(jnp.abs(between - (even[:, :-1] + even[:, 1:]) / 2))
    return off / jnp.maximum(jnp.max(jnp.abs(forcing)), jnp.finfo(float).tiny)


def _mixed(leaf: Any, shape: tuple[int, ...]) -> JaxArray | None:
    """One field on the grid out of data that live there, rows (or spectra) added with signs: what is rough stays rough."""
    if not eqx.is_inexact_array(leaf):
        return None
    if jnp.iscomplexobj(leaf) and leaf.shape[-1:] == (shape[-1] // 2 + 1,) and len(shape) == 1:
        rows = leaf.reshape(-1, leaf.shape[-1])
        return jnp.fft.irfft(signs(jnp.zeros(len(rows))).astype(leaf.dtype) @ rows, n=shape[0])
    if jnp.iscomplexobj(leaf) or leaf.ndim < len(shape) or leaf.shape[leaf.ndim - len(shape) :] != shape:
        return None
    rows = leaf.reshape(-1, *shape)
    return jnp.tensordot(signs(jnp.zeros(len(rows))), rows, axes=1)


def steps(problem: Any, state: JaxArray) -> Steps:
    """Two steps: the second tells how much the first left."""
    first = problem.polish(state)
    last = problem.polish(state + first)
    floor = 64 * jnp.finfo(float).eps * norm(state) + jnp.finfo(float).tiny
    contraction = norm(last) / jnp.maximum(norm(first), floor)
    contraction = jnp.where(problem.polishes_well(state), contraction, jnp.inf)
    return Steps(state + first + last, last, contraction)


def unseen(
    problem: Problem, state: JaxArray, level: int, task: Task, shape: tuple[int, ...]
) -> tuple[JaxArray, JaxArray]:
    """How far the proxy moves once the problem's own grid has a say: what a coarse grid can carry, and the rest in parts.

    Of the rest a coarse grid knows nothing, and a glance not even where and in which phase a wave would carry it.
    """
    whole = capabilities.raised(problem, state, shape)
    if task.last and isinstance(problem, capabilities.Glances):
        parts = problem.pushes(whole)
    else:
        parts = (task.map(whole + capabilities.glance(problem, whole)) - task.map(whole))[None]
    coarse, grid = capabilities.coarser(problem, level), capabilities.grid(problem)
    below = None if coarse is None else capabilities.grid(coarse)
    if grid is None or below is None or parts.shape[parts.ndim - len(grid.shape) :] != grid.shape:
        return jnp.zeros_like(parts[0]), parts
    carried = jnp.asarray(grid.raised(below.raised(parts)))
    return jnp.sum(carried, axis=0), parts - carried


def _filled(shape: tuple[int | None, ...] | None, like: tuple[int, ...]) -> tuple[int, ...]:
    return like if shape is None else tuple(n or m for n, m in zip(shape, like, strict=True))


def name(standing: Standing) -> str:
    return f"grid of {' × '.join(map(str, standing.state.shape))}"


def many(
    function: Callable[..., Any], problems: Sequence[Problem], arrays: Sequence[Any], width: int, *fixed: Any
) -> list[Any]:
    """`function` for up to `width` inputs of one shape."""
    if width == 1:
        return [compute.run(function, problems[0], arrays[0], *fixed)]
    whole = compute.run_batch(function, *filled(problems, arrays, width), *fixed)
    return [jax.tree.map(lambda leaf, k=k: leaf[k], whole) for k in range(len(problems))]


def filled(problems: Sequence[Problem], arrays: Sequence[Any], width: int) -> tuple[list[Problem], list[Any]]:
    """The last input again, up to `width`, or to a quarter of it where that is enough: few sizes, few programs."""
    fill = (width if len(problems) > width // 4 else width // 4) - len(problems)
    return [*problems, *[problems[-1]] * fill], [*arrays, *[arrays[-1]] * fill]
