"""Rungs below the problem's grid: the same equation on coarser grids, each corrected from the one below."""

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array as JaxArray
from jaxtyping import Bool, Float

from physrank import compute
from physrank.physics import Problem, capabilities
from physrank.tasks import Task

RESOLVED = 1e-2  # of the variance in the top third of the spectrum that is carried: a level with more decides nothing


class Standing(eqx.Module):
    """What one level says."""

    state: JaxArray  # on its own grid
    output: JaxArray  # Q of it, on the problem's grid
    tail: Float[JaxArray, ""]  # share of the variance where its grid ends
    solved: Bool[JaxArray, ""]

    @property
    def resolved(self) -> bool:
        return bool(self.solved) and float(self.tail) <= RESOLVED


def levels(problem: Problem) -> tuple[int, ...]:
    """The coarser grids that there are, coarsest first."""
    leaves, structure = jax.tree.flatten(problem)
    shapes = (jax.ShapeDtypeStruct(x.shape, x.dtype) if hasattr(x, "dtype") else x for x in leaves)
    return _levels(structure, tuple(shapes))


@lru_cache(maxsize=64)
def _levels(structure: Any, leaves: tuple[Any, ...]) -> tuple[int, ...]:
    problem, deepest = jax.tree.unflatten(structure, leaves), 0
    with compute.double():
        while eqx.filter_eval_shape(capabilities.coarser, problem, deepest + 1) is not None:
            deepest += 1
    return tuple(range(deepest, 0, -1))


def stand(problem: Problem, below: JaxArray, level: int, task: Task, shape: tuple[int, ...], lowest: bool) -> Standing:
    """Stand on a level: solved outright where that is cheap or nothing lies below, else corrected from `below`.

    For the lowest level, `below` is a state on the problem's own grid from which a solve may start.
    """
    coarse = capabilities.coarser(problem, level) if level else problem
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
    return Standing(state, _output(problem, task, state, shape), jnp.asarray(capabilities.tail(coarse, looked)), solved)


def unseen(problem: Problem, state: JaxArray, task: Task, shape: tuple[int, ...]) -> JaxArray:
    """How far the proxy moves once the problem's own grid has a say: what coarse grids agree on, none of them may see."""
    whole = capabilities.raised(problem, state, shape)
    return task.map(whole + capabilities.glance(problem, whole)) - task.map(whole)


def _output(problem: Problem, task: Task, state: JaxArray, shape: tuple[int, ...]) -> JaxArray:
    """Q of a coarse state; only what the task looks at is lifted."""
    if task.last:
        return capabilities.raised(problem, state[-1], shape[1:])
    return task.map(capabilities.raised(problem, state, shape))


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
