"""Rungs below the problem's grid: the same equation on coarser grids, each corrected from the one below."""

from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array as JaxArray
from jaxtyping import Bool, Float

from physrank import compute
from physrank.geometry.grid import Grid
from physrank.geometry.lifts import namespace
from physrank.physics import Problem, capabilities
from physrank.physics.solvers import norm, signs
from physrank.tasks import Task, field

RESOLVED = 1e-2  # of the variance in the top third of the spectrum that is carried: a level with more decides nothing
LEAST = 16  # points per side of the coarsest grid
FIELD = field()
KEPT = 2e-2  # of the range of a coefficient, an initial state, a force: a level that loses more decides nothing


class OnLevel(NamedTuple):
    """What one level says."""

    state: JaxArray  # on its own grid
    output: JaxArray  # Q of it, on the problem's grid
    tail: Float[JaxArray, ""]  # share of the variance where its grid ends
    lost: Float[JaxArray, ""]  # of the problem's data, relative to their range
    solved: Bool[JaxArray, ""]

    @property
    def resolves(self) -> Bool[JaxArray, ""]:
        return self.solved & (self.tail <= RESOLVED) & (self.lost <= KEPT)

    @property
    def resolved(self) -> bool:
        return bool(self.solved) and float(self.tail) <= RESOLVED and float(self.lost) <= KEPT


class Steps(NamedTuple):
    """Two preconditioned steps on the problem's own grid."""

    state: JaxArray
    last: JaxArray  # the second step
    left: JaxArray  # what the grid itself may be off by, from where the level below stood
    contraction: Float[JaxArray, ""]  # ‖second‖ / ‖first‖
    skipped: Float[JaxArray, ""]  # size of what the second did not look at, over ‖second‖


def levels(problem: Problem) -> tuple[int, ...]:
    """The coarser grids that are worth standing on, coarsest first."""
    if compute.on_host(problem):
        return _worthwhile(problem, capabilities.coarser)
    leaves, structure = jax.tree.flatten(problem)
    return _levels(structure, tuple(_Shaped(x.shape, x.dtype) if hasattr(x, "dtype") else x for x in leaves))


class _Shaped(NamedTuple):
    """What is told of an array: made and compared faster than what JAX has for it."""

    shape: tuple[int, ...]
    dtype: Any


@lru_cache(maxsize=64)
def _levels(structure: Any, leaves: tuple[Any, ...]) -> tuple[int, ...]:
    shapes = [jax.ShapeDtypeStruct(*leaf) if isinstance(leaf, _Shaped) else leaf for leaf in leaves]
    with compute.double():
        return _worthwhile(jax.tree.unflatten(structure, shapes), partial(eqx.filter_eval_shape, capabilities.coarser))


def _worthwhile(problem: Problem, coarser: Callable[[Problem, int], Problem | None]) -> tuple[int, ...]:
    grid, deepest = capabilities.grid(problem), 0
    if grid is None:
        return ()  # its solutions could not be lifted
    most = int(np.log2(max((min(grid.shape) + 1) / LEAST, 1.0)))
    while deepest < most:
        coarse = coarser(problem, deepest + 1)
        if coarse is None or capabilities.grid(coarse) is None:
            break
        deepest += 1
    return tuple(range(deepest, 0, -1))


class Look(NamedTuple):
    """How far the proxy moves once the problem's own grid has a say."""

    carried: JaxArray  # the part of it that a coarse grid can carry
    rest: (
        JaxArray  # what it cannot, in parts: of those it knows nothing, a glance not even where a wave would take them
    )


def stand(
    problem: Problem, footing: "Footing", levels: tuple[int, ...], task: Task, shape: tuple[int, ...], lowest: bool
) -> tuple[list[OnLevel], Look]:
    """Stand on some levels in turn, coarsest first, and look from the last at the problem's own grid: one program. Nobody
    looks from a level that does not count.

    For the lowest level, `footing` has a state on the problem's own grid from which a solve may start.
    """
    reached, given = [], _data_on_grid(problem)
    below, resolves = footing
    for level in levels:
        reached.append(_stand(problem, given, below, level, task, shape, lowest))
        below, lowest = reached[-1].state if below.ndim else below, False
        resolves = resolves if level == levels[-1] else reached[-1].resolves
    counts = True if compute.on_host(problem) else resolves & reached[-1].solved
    return reached, unseen(problem, reached[-1].state, levels[-1], task, shape, counts)


Footing = tuple[JaxArray, Bool[JaxArray, ""]]  # the state of the level below, and whether that resolved it


def _stand(
    problem: Problem,
    given: "DataOnGrid",
    below: JaxArray,
    level: int,
    task: Task,
    shape: tuple[int, ...],
    lowest: bool,
) -> OnLevel:
    """Solved outright where that is cheap or nothing lies below, else corrected from `below`."""
    coarse = capabilities.coarser(problem, level)
    assert coarse is not None
    xp, own = namespace(below), _filled(coarse.state_shape, shape)
    if capabilities.cheap_to_solve(coarse) or lowest:
        start = capabilities.raised(coarse, below, own) if below.ndim else xp.zeros(own)
        found = capabilities.solve_roughly(coarse, start)
        state, solved = found.state, found.converged
    else:
        start = capabilities.raised(coarse, below, own)
        state = start + capabilities.refine(coarse, start, start)[1]
        solved = xp.all(xp.isfinite(state))
    tail = _tail(coarse, task, state)
    return OnLevel(state, _output(problem, task, state, shape), tail, given.lost(coarse), solved)


def beneath(problem: Problem, state: JaxArray, level: int, task: Task, shape: tuple[int, ...]) -> OnLevel:
    """What a level makes of a state that was found on the problem's own grid: one glance at it, or the march itself."""
    coarse = capabilities.coarser(problem, level)
    assert coarse is not None
    xp, own = namespace(state), _filled(coarse.state_shape, shape)
    if capabilities.cheap_to_solve(coarse):
        found = coarse.solve(xp.zeros(own)).state
    else:
        start = capabilities.raised(coarse, state, own)
        polishes = isinstance(coarse, capabilities.Polishes)
        found = start + (coarse.polish(start) if polishes else capabilities.refine(coarse, start, start)[1])
    tail, lost = _tail(coarse, task, found), xp.zeros(())
    return OnLevel(found, _output(problem, task, found, shape), tail, lost, xp.all(xp.isfinite(found)))


def _tail(coarse: Problem, task: Task, state: JaxArray) -> JaxArray:
    return namespace(state).asarray(capabilities.tail(coarse, state[-1] if task.last else state))


def descend(problem: Any, below: JaxArray, level: int, shape: tuple[int, ...], lowest: bool) -> tuple[OnLevel, Steps]:
    """Stand on a level, all of its state lifted, and take two steps from there on the problem's own grid: the first whole,
    the second of what is smooth. What is not has been through the preconditioner once, and is small unless it hid there."""
    coarse = _stand(problem, _data_on_grid(problem), below, level, FIELD, shape, lowest)
    return coarse, _two(problem, coarse.output, coarse.output, level, problem.polish_smooth)


def _output(problem: Problem, task: Task, state: JaxArray, shape: tuple[int, ...]) -> JaxArray:
    """Q of a coarse state; only what the task looks at is lifted."""
    if task.last:
        return capabilities.raised(problem, state[-1], shape[1:])
    return task.map(capabilities.raised(problem, state, shape))


class DataOnGrid(eqx.Module):
    """The problem's data as far as a level may lose them: read once, whatever the number of levels."""

    grid: Grid | None = eqx.field(static=True)
    fields: list[JaxArray]  # one out of each array that lives on the grid
    uneven: Float[JaxArray, ""]  # how much of a force lies between the moments at which a level takes it

    def lost(self, coarse: Problem) -> Float[JaxArray, ""]:
        """How much of the data a level's grid cannot carry, relative to their range."""
        rough = capabilities.grid(coarse)
        if self.grid is None or rough is None:
            return self.uneven
        xp = namespace(self.uneven, *self.fields)
        return xp.max(xp.stack([self.uneven, *(self.grid.missing(field, rough) for field in self.fields)]))


def _data_on_grid(problem: Problem) -> DataOnGrid:
    grid, fields = capabilities.grid(problem), []
    if grid is not None:
        mixed = [_mixed(leaf, grid.shape) for leaf in jax.tree.leaves(problem)]
        fields = [field for field in mixed if field is not None]
    return DataOnGrid(grid, fields, _uneven_in_time(getattr(problem, "forcing", None)))


def even_in_time(problem: Problem) -> bool:
    """Whether a level that takes a force at fewer moments would lose nothing of it."""
    forcing = getattr(problem, "forcing", None)
    return bool(_uneven_in_time(np.asarray(forcing) if eqx.is_array(forcing) else None) <= KEPT)


def _uneven_in_time(forcing: Any) -> Float[JaxArray, ""]:
    """How far a force, `(rows, moments of a row, …)`, is from a line between every other moment, relative to its size: a
    level takes fewer of them. Seen through patterns of signs, in one reading."""
    if not eqx.is_inexact_array(forcing) or forcing.ndim < 3 or forcing.shape[1] < 3:
        return np.zeros(())  # pyright: ignore[reportReturnType]
    xp, flat = namespace(forcing), forcing.reshape(*forcing.shape[:2], -1)
    patterns = xp.stack([signs(xp.zeros(flat.shape[-1]), k) for k in range(2)], axis=-1)
    seen = flat @ patterns.astype(flat.dtype)
    even = seen[:, : seen.shape[1] // 2 * 2 + 1 : 2] if seen.shape[1] % 2 else seen[:, :-1:2]
    between = seen[:, 1 : 2 * even.shape[1] - 1 : 2]
    off = xp.max(xp.abs(between - (even[:, :-1] + even[:, 1:]) / 2))
    return off / xp.maximum(xp.max(xp.abs(seen)), np.finfo(float).tiny)


def _mixed(leaf: Any, shape: tuple[int, ...]) -> JaxArray | None:
    """One field on the grid out of data that live there, rows (or spectra) added with signs: what is rough stays rough."""
    if not eqx.is_inexact_array(leaf):
        return None
    xp = namespace(leaf)
    if jnp.iscomplexobj(leaf) and leaf.shape[-1:] == (shape[-1] // 2 + 1,) and len(shape) == 1:
        rows = leaf.reshape(-1, leaf.shape[-1])
        return xp.fft.irfft(signs(xp.zeros(len(rows))).astype(leaf.dtype) @ rows, n=shape[0])
    if jnp.iscomplexobj(leaf) or leaf.ndim < len(shape) or leaf.shape[leaf.ndim - len(shape) :] != shape:
        return None
    rows = leaf.reshape(-1, *shape)
    return rows[0] if len(rows) == 1 else xp.tensordot(signs(xp.zeros(len(rows))), rows, axes=1)


def steps(problem: Any, place: tuple[JaxArray, JaxArray], level: int) -> Steps:
    """Two steps, whole ones, from where others led and what the level below had: the second tells how much the first left."""
    state, below = place
    return _two(problem, state, below, level, lambda state: (problem.polish(state), jnp.zeros(())))


def _two(
    problem: Any,
    state: JaxArray,
    below: JaxArray,
    level: int,
    second: Callable[[JaxArray], tuple[JaxArray, JaxArray]],
) -> Steps:
    first = problem.polish(state)
    last, skipped = second(state + first)
    floor = 64 * jnp.finfo(float).eps * norm(state) + jnp.finfo(float).tiny
    contraction = norm(last) / jnp.maximum(norm(first), floor)
    contraction = jnp.where(problem.polishes_well(state), contraction, jnp.inf)
    reached = state + first + last
    left = capabilities.left(problem, level, reached - below)
    return Steps(reached, last, left, contraction, skipped / jnp.maximum(norm(last), floor))


def unseen(problem: Problem, state: JaxArray, level: int, task: Task, shape: tuple[int, ...], counts: Any) -> Look:
    """What the problem's own grid has to say against a state of a coarser one; anything where it does not count."""
    if task.last and isinstance(problem, capabilities.Glances):
        rows = partial(capabilities.raised_rows, problem, state, shape=shape)
        parts = problem.pushes(rows, shape[0] - 1, counts)
    else:
        whole = capabilities.raised(problem, state, shape)
        parts = (task.map(whole + capabilities.glance(problem, whole, counts)) - task.map(whole))[None]
    coarse, grid = capabilities.coarser(problem, level), capabilities.grid(problem)
    below = None if coarse is None else capabilities.grid(coarse)
    if grid is None or below is None or parts.shape[parts.ndim - len(grid.shape) :] != grid.shape:
        return Look(namespace(parts).zeros_like(parts[0]), parts)
    carried = grid.raised(below.raised(parts))
    return Look(carried.sum(axis=0), parts - carried)


def _filled(shape: tuple[int | None, ...] | None, like: tuple[int, ...]) -> tuple[int, ...]:
    return like if shape is None else tuple(n or m for n, m in zip(shape, like, strict=True))


def name(found: OnLevel) -> str:
    return f"grid of {' × '.join(map(str, found.state.shape))}"


def many(
    function: Callable[..., Any], problems: Sequence[Problem], arrays: Sequence[Any], width: int, *fixed: Any
) -> list[Any]:
    """`function` for up to `width` inputs of one shape."""
    if width == 1:
        return [compute.run(function, problems[0], arrays[0], *fixed)]
    whole = compute.run_batch(function, *filled(problems, arrays, width), *fixed)
    return [jax.tree.map(lambda leaf, k=k: leaf[k], whole) for k in range(len(problems))]


def filled(problems: Sequence[Problem], arrays: Sequence[Any], width: int) -> tuple[list[Problem], list[Any]]:
    """The last input again, up to `width`, or to a quarter of it where that is enough: few sizes, few programs. On the host
    there are no programs."""
    if compute.on_host(*problems):
        return [*problems], [*arrays]
    fill = (width if len(problems) > width // 4 else width // 4) - len(problems)
    return [*problems, *[problems[-1]] * fill], [*arrays, *[arrays[-1]] * fill]
