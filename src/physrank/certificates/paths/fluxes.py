"""A conforming function and a flux for −∇·(a∇u) + g(u) = f on a tensor-product mesh, zero on the boundary of the box.

Bilinear finite elements give the function, the finite volumes of two-point fluxes the flux on the faces between cells, which
jumps of `a` along faces do not disturb. Nothing here is rounded outwards: whoever uses it encloses what is left.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, reduce
from itertools import product
from typing import Any

import numpy as np

from physrank import _optional
from physrank.geometry.space import Array

NEWTON, RTOL = 12, 1e-11
SHARE = 0.8  # of all indicators that the layers of cells hold which are halved
NARROW = 1e-8  # of a side: cells that are not halved


@dataclass(frozen=True, eq=False)
class Elements:
    """Coefficient and mesh in plain numbers."""

    axes: tuple[Array, ...]
    diffusion: Array  # a number per cell

    @property
    def dims(self) -> int:
        return len(self.axes)

    @cached_property
    def widths(self) -> list[Array]:
        return [np.diff(x) for x in self.axes]

    @cached_property
    def volumes(self) -> Array:
        return reduce(np.multiply.outer, self.widths)

    @cached_property
    def stiffness(self) -> Any:
        """∫ a ∇φ·∇φ between interior nodes."""
        numbers = -np.ones([len(x) for x in self.axes], int)
        numbers[(slice(1, -1),) * self.dims] = np.arange(self.unknowns).reshape([len(x) - 2 for x in self.axes])
        corners = list(product((0, 1), repeat=self.dims))
        rows, columns, entries = [], [], []
        for one, other in product(corners, repeat=2):
            local = sum(
                reduce(np.multiply.outer, [self._local(d, d == axis, one[d] == other[d]) for d in range(self.dims)])
                for axis in range(self.dims)
            )
            row, column = (numbers[tuple(slice(c, c + n) for c, n in zip(corner, self.diffusion.shape, strict=True))]
                           for corner in (one, other))  # fmt: skip
            inside = (row >= 0) & (column >= 0)
            rows.append(row[inside])
            columns.append(column[inside])
            entries.append((self.diffusion * local)[inside])
        shape = (self.unknowns,) * 2
        found = (np.concatenate(entries), (np.concatenate(rows), np.concatenate(columns)))
        return _optional.load("scipy.sparse").csc_array(found, shape=shape)

    def _local(self, axis: int, steep: bool, same: bool) -> Array:
        h = self.widths[axis]
        return (1 if same else -1) / h if steep else h * (2 if same else 1) / 6

    @property
    def unknowns(self) -> int:
        return int(np.prod([len(x) - 2 for x in self.axes]))

    @cached_property
    def lumped(self) -> Array:
        """∫ φ of every interior node."""
        return reduce(np.multiply.outer, [(h[1:] + h[:-1]) / 2 for h in self.widths])

    def load(self, values: Array) -> Array:
        """∫ v φ for a multilinear v, at interior nodes."""
        for d, h in enumerate(self.widths):
            v, side = np.moveaxis(values, d, 0), h.reshape(-1, *[1] * (values.ndim - 1))
            inner = side[:-1] * (v[:-2] + 2 * v[1:-1]) + side[1:] * (v[2:] + 2 * v[1:-1])
            values = np.moveaxis(inner / 6, 0, d)
        return values

    def cell_load(self, means: Array) -> Array:
        """∫ v φ for a v that is constant on every cell."""
        found = means * self.volumes
        for d in range(self.dims):
            v = np.moveaxis(found, d, 0)
            found = np.moveaxis((v[1:] + v[:-1]) / 2, 0, d)
        return found

    def solved(
        self, force: Array, reaction: Callable[[Array], tuple[Array, Array]], start: Array
    ) -> tuple[Array, Callable[[Array], Array], int]:
        """Newton's method for K u + m g(u) = ∫ f φ; the inverse of its last matrix, for further loads; the factorisations."""
        u, m = start[(slice(1, -1),) * self.dims], self.lumped
        diagonal, load, inverse, used = _optional.load("scipy.sparse").diags_array, self.cell_load(force), None, 0
        scale = np.abs(load).max() + 1e-300
        for step in range(NEWTON):
            value, slope = reaction(u)
            left = load - m * value - (self.stiffness @ u.ravel()).reshape(u.shape)
            small = np.abs(left).max() <= RTOL * scale
            if inverse is None or (not small and step < NEWTON - 1):
                inverse, used = factorised(self.stiffness + diagonal((m * slope).ravel(), format="csc")), used + 1
            u = u + inverse(left.ravel()).reshape(u.shape)
            if small or not np.all(np.isfinite(u)):
                break
        assert inverse is not None
        return np.pad(u, 1), lambda b: np.pad(inverse(b.ravel()).reshape(u.shape), 1), used

    @cached_property
    def exchange(self) -> list[Array]:
        """a/h between the middles of neighbouring cells, and between them and the boundary, for every face of an axis."""
        found = []
        for d, h in enumerate(self.widths):
            resistance = np.moveaxis(
                h.reshape(-1, *[1] * (self.dims - 1)) / np.moveaxis(self.diffusion, d, 0) / 2, 0, d
            )
            ends = np.zeros([1 if k == d else n for k, n in enumerate(resistance.shape)])
            both = np.concatenate([ends, resistance], d) + np.concatenate([resistance, ends], d)
            found.append(1 / both)
        return found

    @cached_property
    def volumes_inverse(self) -> Callable[[Array], Array]:
        """The inverse of −div of two-point fluxes, integrated over cells."""
        cells, size = self.diffusion.shape, self.diffusion.size
        numbers, diagonal = np.arange(size).reshape(cells), np.zeros(cells)
        rows, columns, entries = [], [], []
        for d, rate in enumerate(self.exchange):
            area = reduce(np.multiply.outer, [np.ones(1) if k == d else h for k, h in enumerate(self.widths)])
            through = np.moveaxis(rate * area, d, 0)
            diagonal += np.moveaxis(through[1:] + through[:-1], 0, d)
            left, right = np.moveaxis(numbers, d, 0)[:-1].ravel(), np.moveaxis(numbers, d, 0)[1:].ravel()
            rows += [left, right]
            columns += [right, left]
            entries += [-through[1:-1].ravel()] * 2
        rows, columns, entries = [*rows, numbers.ravel()], [*columns, numbers.ravel()], [*entries, diagonal.ravel()]
        found = (np.concatenate(entries), (np.concatenate(rows), np.concatenate(columns)))
        return factorised(_optional.load("scipy.sparse").csc_array(found, shape=(size, size)))

    def flux(self, means: Array) -> list[Array]:
        """σ on the faces of every axis with −div σ = these means over cells, as well as a solve can."""
        p = self.volumes_inverse((means * self.volumes).ravel()).reshape(means.shape)
        return [rate * np.diff(np.pad(p, [(1, 1) if k == d else (0, 0) for k in range(self.dims)]), axis=d)
                for d, rate in enumerate(self.exchange)]  # fmt: skip


def factorised(matrix: Any) -> Callable[[Array], Array]:
    """Of a symmetric matrix."""
    linalg = _optional.load("scipy.sparse.linalg")
    options = {"SymmetricMode": True}
    return linalg.splu(matrix.tocsc(), permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options=options).solve


def refined(axes: tuple[Array, ...], indicators: Array, most: int) -> tuple[Array, ...]:
    """The layers of cells that hold most of the indicators are halved, as long as no more cells than `most` result."""
    found, cells = list(axes), [len(x) - 1 for x in axes]
    for d, x in enumerate(axes):
        along = np.sum(indicators, axis=tuple(k for k in range(len(axes)) if k != d))
        order = np.argsort(-along, kind="stable")
        needed = 1 + int(np.searchsorted(np.cumsum(along[order]), SHARE * np.sum(along)))
        room = most // (math.prod(cells) // cells[d]) - cells[d]
        chosen = order[: max(min(needed, room), 0)]
        middles = (x[:-1][chosen] + x[1:][chosen]) / 2
        narrow = np.diff(x)[chosen] <= NARROW * (x[-1] - x[0])
        found[d] = np.sort(np.concatenate([x, middles[~narrow]]))
        cells[d] = len(found[d]) - 1
    return tuple(found)
