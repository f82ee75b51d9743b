"""How one large problem lies on several devices: cut along the first axis of its grid, whole along the others.

The compiler divides stencils and sums by itself: rows at the cuts travel between neighbours. What it would gather whole is
stated here: transforms along the cut axis, the vectors of Krylov methods, and grids that the devices do not divide evenly.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import multihost_utils
from jax.sharding import Mesh, NamedSharding, PartitionSpec
from jaxtyping import Array

NAME = "devices"  # of the only axis of the mesh
LEAST = 4  # points along the cut axis that every device has at least: smaller grids stay whole
BORDER = 2  # points that a field on the interior of a grid has less than one on all of it

Map = Callable[[Array], Array]

_mesh: ContextVar[Mesh | None] = ContextVar("mesh", default=None)
_layout: ContextVar["Layout | None"] = ContextVar("layout", default=None)


@dataclass(frozen=True)
class Layout:
    """The devices, and the grid of the problem that lies on them."""

    mesh: Mesh
    shape: tuple[int, ...]

    def cut(self, shape: tuple[int, ...]) -> int | None:
        """The axis along which an array of this shape is cut, counted from the front; None: it stays whole."""
        axis = len(shape) - len(self.shape)
        return axis if axis >= 0 and shape[axis] >= LEAST * self.mesh.size else None

    def cut_on_grid(self, shape: tuple[int, ...]) -> int | None:
        """The same for what enters and leaves a program: only fields on the grid or its interior are cut."""
        near = zip(self.shape, shape[len(shape) - len(self.shape) :], strict=False)
        return self.cut(shape) if all(0 <= n - m <= BORDER for n, m in near) else None

    def along(self, axis: int) -> NamedSharding:
        return NamedSharding(self.mesh, self.spec(axis))

    def spec(self, axis: int) -> PartitionSpec:
        return PartitionSpec(*[None] * axis, NAME)

    def constrained(self, x: Array, axis: int) -> Array:
        return jax.lax.with_sharding_constraint(x, self.along(axis))

    def even(self, length: int) -> int:
        """The next length that the devices divide."""
        return -(-length // self.mesh.size) * self.mesh.size


@contextmanager
def over(mesh: Mesh | None) -> Iterator[None]:
    """Context in which problems are divided among the devices of a mesh of one axis, called `NAME`."""
    token = _mesh.set(mesh)
    try:
        yield
    finally:
        _mesh.reset(token)


@contextmanager
def used(layout: Layout | None) -> Iterator[None]:
    """Context in which a program for this layout is traced."""
    token = _layout.set(layout)
    try:
        yield
    finally:
        _layout.reset(token)


def over_devices() -> bool:
    """Whether this is such a context."""
    return _mesh.get() is not None


def of(*arguments: Any) -> Layout | None:
    """How the first problem among them lies on the devices of the context; None without such a context."""
    mesh = _mesh.get()
    if mesh is None:
        return None
    for problem in arguments:
        if hasattr(problem, "state_shape"):
            grid = getattr(problem, "grid", None)
            if grid is None:
                raise ValueError(
                    f"{type(problem).__name__} does not say which axes of a state are space, and cannot be divided among "
                    "devices. Give it a grid, such as grid=physrank.Grid.cells(shape, lengths)."
                )
            layout = Layout(mesh, tuple(grid.shape))
            return layout if layout.cut(layout.shape) is not None else None
    return None


def transformed(along: Callable[[int, Array], Array], x: Array, dims: int, back: bool = False) -> Array:
    """`along(axis, x)` for each of the last `dims` axes in turn: a transform of every axis.

    On several devices the result of a transform is cut along the last axis, and `back` takes it from there: each is whole
    along the axis that it transforms, and a transform and its inverse exchange all data twice, not four times.
    """
    layout, first, last = _layout.get(), x.ndim - dims, x.ndim - 1
    if layout is None or dims < 2 or layout.cut(x.shape) != first:
        for axis in range(first, x.ndim):
            x = along(axis, x)
        return x
    rows, columns, lengths = layout.spec(first), layout.spec(last), x.shape

    def forth_on_one(x: Array) -> Array:
        for axis in range(first + 1, x.ndim):
            x = along(axis, x)
        x = jax.lax.all_to_all(_padded(x, last, layout), NAME, split_axis=last, concat_axis=first, tiled=True)
        return along(first, _trimmed(x, first, lengths[first]))

    def back_on_one(x: Array) -> Array:
        x = _padded(along(first, x), first, layout)
        x = jax.lax.all_to_all(x, NAME, split_axis=first, concat_axis=last, tiled=True)
        x = _trimmed(x, last, lengths[last])
        for axis in range(first + 1, x.ndim):
            x = along(axis, x)
        return x

    start, end = (last, first) if back else (first, last)
    one, specs = (back_on_one, (columns, rows)) if back else (forth_on_one, (rows, columns))
    divided = jax.shard_map(one, mesh=layout.mesh, in_specs=specs[0], out_specs=specs[1], check_vma=False)
    x = divided(layout.constrained(_padded(x, start, layout), start))
    return layout.constrained(_trimmed(x, end, lengths[end]), end)


def folding(shape: tuple[int, ...]) -> tuple[Map, Map]:
    """How an array becomes one that lies piece by piece in memory, and back: cut axis first, of an even length.

    Solvers flatten their vectors; the flat form of any other one would be gathered whole.
    """
    layout = _layout.get()
    axis = None if layout is None else layout.cut(shape)
    if layout is None or axis is None:
        return (lambda x: x), (lambda x: x)

    def fold(x: Array) -> Array:
        return layout.constrained(_padded(jnp.moveaxis(x, axis, 0), 0, layout), 0)

    def unfold(x: Array) -> Array:
        return layout.constrained(jnp.moveaxis(_trimmed(x, 0, shape[axis]), 0, axis), axis)

    return fold, unfold


def _padded(x: Array, axis: int, layout: Layout) -> Array:
    missing = layout.even(x.shape[axis]) - x.shape[axis]
    return jnp.pad(x, [(0, missing if d == axis else 0) for d in range(x.ndim)]) if missing else x


def _trimmed(x: Array, axis: int, length: int) -> Array:
    return x if x.shape[axis] == length else jax.lax.slice_in_dim(x, 0, length, axis=axis)


class Piecewise(eqx.Module):
    """An array that lies on several devices; at its end it may be longer than what it stands for."""

    array: Any
    axis: int = eqx.field(static=True)
    length: int = eqx.field(static=True)


def placed(tree: Any, layout: Layout) -> Any:
    """Arguments of a program on the devices: fields on the grid in pieces, the rest everywhere."""

    def place(leaf: Any) -> Any:
        if not isinstance(leaf, np.ndarray | np.generic | jax.Array):
            return leaf
        whole, axis = np.asarray(leaf), layout.cut_on_grid(np.shape(leaf))
        if axis is None:
            return whole
        length = whole.shape[axis]
        shape = (*whole.shape[:axis], layout.even(length), *whole.shape[axis + 1 :])

        def piece(index: Any) -> np.ndarray:
            start, stop, _ = index[axis].indices(shape[axis])
            found = whole[index]
            missing = stop - max(start, min(stop, length))
            # Ones, not zeros: nobody reads them, but 0/0 would be slow, and noisy where NaN are looked for.
            return np.pad(found, [(0, missing if d == axis else 0) for d in range(whole.ndim)], constant_values=1)

        return Piecewise(jax.make_array_from_callback(shape, layout.along(axis), piece), axis, length)

    return jax.tree.map(place, tree)


def opened(tree: Any, layout: Layout) -> Any:
    """Arguments inside of a program."""
    return _each_piece(lambda p: layout.constrained(_trimmed(p.array, p.axis, p.length), p.axis), tree)


def closed(tree: Any, layout: Layout) -> Any:
    """Results of a program before they leave it."""

    def close(leaf: Any) -> Any:
        axis = layout.cut_on_grid(leaf.shape) if isinstance(leaf, jax.Array) else None
        if axis is None:
            return leaf
        return Piecewise(layout.constrained(_padded(leaf, axis, layout), axis), axis, leaf.shape[axis])

    return jax.tree.map(close, tree)


def collected(tree: Any) -> Any:
    """Results of a program as NumPy arrays, on every host."""

    def collect(piece: Piecewise) -> np.ndarray:
        array = piece.array
        whole = array if array.is_fully_addressable else multihost_utils.process_allgather(array, tiled=True)
        return np.asarray(whole)[(slice(None),) * piece.axis + (slice(piece.length),)]

    return _each_piece(collect, tree)


def _each_piece(function: Callable[[Piecewise], Any], tree: Any) -> Any:
    return jax.tree.map(
        lambda leaf: function(leaf) if isinstance(leaf, Piecewise) else leaf,
        tree,
        is_leaf=lambda leaf: isinstance(leaf, Piecewise),
    )
