"""Piecewise polynomials on a tensor-product mesh, enclosed: Legendre coefficients of every cell, as discs.

A field has the shape `(orders along every axis, cells along every axis)`: Σ c_k Π P_{k_d}(s_d) with s_d from −1 to 1 across a
cell of widths h, so that with its volume |K|

    ∫_K p q = |K| Σ p_k q_k / Π (2 k_d + 1),    |p| ≤ Σ |p_k|.

Other functions are interpolated on a few nodes per cell. One that is analytic where |s_d| ≤ R, and within m of a number
there, has Taylor coefficients ≤ m R^{−|k|} in s, so that on the cell its terms of a degree above n along an axis add up to

    m [(1 − 1/R)^{−d} − ((1 − R^{−n−1})/(1 − 1/R))^d] ≤ m d R^{−n−1} (1 − 1/R)^{−d};

interpolation multiplies that by at most 1 + Λ^d, where Λ is the sum of the sizes of the interpolation's coefficients.
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, cached_property, reduce
from operator import mul
from typing import Any

import numpy as np

from physrank.certificates.enclosures.discs import TINY, Disc, NotAnalytic
from physrank.certificates.enclosures.rounding import UNIT
from physrank.geometry.space import Array

UP = 1 + 2.0**-30
NODES = {2: (-1.0, 0.0, 1.0), 3: (-1.0, -0.5, 0.5, 1.0)}  # in a cell, for a degree
REACHES = (128.0, 32.0, 8.0, 3.0, 1.5)  # R


@dataclass(frozen=True, eq=False)
class Mesh:
    """Rising coordinates along every axis, which are doubles and mean themselves."""

    axes: tuple[Array, ...]

    @property
    def dims(self) -> int:
        return len(self.axes)

    @property
    def cells(self) -> tuple[int, ...]:
        return tuple(len(x) - 1 for x in self.axes)

    @cached_property
    def widths(self) -> list[Disc]:
        """h along every axis, to be broadcast over cells."""
        ends = [(self._placed(d, x[:-1]), self._placed(d, x[1:])) for d, x in enumerate(self.axes)]
        return [Disc.of(right) - left for left, right in ends]

    @cached_property
    def volumes(self) -> Disc:
        return reduce(mul, self.widths)

    def _placed(self, axis: int, along: Array) -> Array:
        return along.reshape([-1 if d == axis else 1 for d in range(self.dims)])

    def coordinates(self, nodes: tuple[float, ...]) -> list[Disc]:
        """Of the nodes of all cells: `(nodes, …, cells, …)`, to be broadcast."""
        found = []
        for d, x in enumerate(self.axes):
            share = self._placed(d, (1 + np.asarray(nodes)) / 2).reshape(*self._ones(d, len(nodes)), *[1] * self.dims)
            found.append(Disc.of(self._placed(d, x[:-1])) + self.widths[d] * share)
        return found

    def _ones(self, axis: int, number: int) -> list[int]:
        return [number if d == axis else 1 for d in range(self.dims)]

    def around(self, reach: float) -> list[Disc]:
        """Discs that hold R times every cell."""
        middles = self.coordinates((0.0,))
        return [
            Disc(x.centre, UP * (x.radius + reach / 2 * h.size) + TINY)
            for x, h in zip(middles, self.widths, strict=True)
        ]

    # -- fields ----------------------------------------------------------------------------------------------------

    def multilinear(self, values: Disc) -> Disc:
        """Of values at the corners of cells."""
        for d in range(self.dims):
            left, right = (_each(lambda x, d=d, s=s: np.moveaxis(np.moveaxis(x, 2 * d, 0)[s], 0, 2 * d), values)
                           for s in (slice(None, -1), slice(1, None)))  # fmt: skip
            values = stacked([(left + right) * 0.5, (right - left) * 0.5], d)
        return values

    def faces(self, axis: int, values: Disc) -> Disc:
        """Linear along an axis between values on the faces across it, constant along the others."""
        left, right = (_each(lambda x, s=s: np.moveaxis(np.moveaxis(x, axis, 0)[s], 0, axis), values)
                       for s in (slice(None, -1), slice(1, None)))  # fmt: skip
        both = stacked([(left + right) * 0.5, (right - left) * 0.5], 0)
        return _each(lambda x: x.reshape(*self._ones(axis, 2), *self.cells), both)

    def slope(self, field: Disc, axis: int) -> Disc:
        """∂ of what is linear along an axis: c₁ · 2/h."""
        steep = _each(lambda x: np.moveaxis(np.moveaxis(x, axis, 0)[1:2], 0, axis), field)
        return steep * (2.0 / self.widths[axis])

    def values(self, field: Disc, nodes: tuple[float, ...]) -> Disc:
        """At the nodes of every cell."""
        for d in range(self.dims):
            field = field.along(d, Disc.of(_legendre(nodes, field.centre.shape[d])))
        return field

    def interpolated(self, values: Disc, degree: int = 3) -> Disc:
        """The polynomials with these values at the nodes of every cell."""
        shape = (len(NODES[degree]),) * self.dims + self.cells
        values = _each(lambda x: np.broadcast_to(x, shape), values)
        for d in range(self.dims):
            values = values.along(d, _to_coefficients(degree))
        return values

    def weights(self, orders: tuple[int, ...]) -> Disc:
        """|K| / Π (2 k_d + 1)."""
        found = self.volumes
        for d, number in enumerate(orders):
            odd = (2.0 * np.arange(number) + 1).reshape(*self._ones(d, number), *[1] * self.dims)
            found = found / odd
        return found

    def product(self, p: Disc, q: Disc) -> Disc:
        """∫ p q over every cell."""
        both = tuple(map(min, p.centre.shape[: self.dims], q.centre.shape[: self.dims]))
        p, q = (_each(lambda x: x[tuple(slice(n) for n in both)], field) for field in (p, q))
        return summed(p * q * self.weights(both), tuple(range(self.dims)))

    def sizes(self, field: Disc) -> Array:
        """A bound of |p| on every cell."""
        return UP * np.sum(field.size, axis=tuple(range(self.dims)))

    def enclosed(self, function: Callable[[list[Disc]], Disc], degree: int, at: Any) -> tuple[Disc, Array]:
        """A function's interpolant on every cell, and a bound of its error there; `at(nodes)` and `at(R)` are its arguments
        at nodes and around cells."""
        values = function(at(NODES[degree]))
        error, refused = np.full(self.cells, np.inf), None
        for reach in REACHES:
            try:
                around = function(at(reach))
            except NotAnalytic as reason:
                refused = reason
                continue
            spread = np.broadcast_to(around.radius, (1,) * self.dims + self.cells).reshape(self.cells)
            error = np.fmin(error, UP * spread * _tail(1 / reach, degree, self.dims) + TINY)
        if refused is not None and not np.all(np.isfinite(error)):
            raise refused
        return self.interpolated(values, degree), error


def _tail(share: float, degree: int, dims: int) -> float:
    """Of the terms beyond the degree, relative to m, and of what interpolation makes of them; `share` is 1/R."""
    enlarged = 1 + float(np.sum(_to_coefficients(degree).size)) ** dims
    return UP * enlarged * dims * share ** (degree + 1) / (1 - share) ** dims


def _legendre(nodes: tuple[float, ...], orders: int) -> Array:
    """P_k at dyadic nodes, exact for the few orders there are."""
    s = np.asarray(nodes)
    return np.stack([np.ones_like(s), s, (3 * s**2 - 1) / 2, (5 * s**3 - 3 * s) / 2], axis=-1)[:, :orders]


@cache
def _to_coefficients(degree: int) -> Disc:
    """The inverse of that matrix, by rational arithmetic."""
    rows = [[Fraction(x) for x in row] for row in _legendre(NODES[degree], degree + 1).tolist()]
    n = len(rows)
    rows = [row + [Fraction(int(i == j)) for j in range(n)] for i, row in enumerate(rows)]
    for k in range(n):
        pivot = next(i for i in range(k, n) if rows[i][k])
        rows[k], rows[pivot] = rows[pivot], rows[k]
        rows[k] = [x / rows[k][k] for x in rows[k]]
        rows = [
            row if i == k else [x - row[k] * y for x, y in zip(row, rows[k], strict=True)] for i, row in enumerate(rows)
        ]
    found = np.array([[float(x) for x in row[n:]] for row in rows])
    return Disc(found, 2 * UNIT * np.abs(found))


def _each(function: Callable[[Any], Any], disc: Disc) -> Disc:
    return Disc(function(disc.centre), function(disc.radius))


def stacked(discs: list[Disc], axis: int) -> Disc:
    return Disc(np.stack([x.centre for x in discs], axis), np.stack([x.radius for x in discs], axis))


def padded(field: Disc, orders: tuple[int, ...]) -> Disc:
    """With zeros for the orders that it does not have."""
    missing = [(0, max(n - have, 0)) for n, have in zip(orders, field.centre.shape, strict=False)]
    return _each(lambda x: np.pad(x, missing + [(0, 0)] * (x.ndim - len(missing))), field)


def added(*fields: Disc) -> Disc:
    """Of fields with any orders."""
    dims = fields[0].centre.ndim // 2
    orders = tuple(max(f.centre.shape[d] for f in fields) for d in range(dims))
    found = padded(fields[0], orders)
    for field in fields[1:]:
        found = found + padded(field, orders)
    return found


def summed(terms: Disc, axes: tuple[int, ...] | None = None) -> Disc:
    """In any order of summation: n terms are within 2 n u Σ |x| of their sum."""
    count = terms.centre.size if axes is None else int(np.prod([terms.centre.shape[d] for d in axes]))
    with np.errstate(all="ignore"):
        reach = np.sum(terms.radius, axis=axes) + 2 * count * UNIT * np.sum(np.abs(terms.centre), axis=axes)
        return Disc.rounded(np.sum(terms.centre, axis=axes), UP * reach + count * TINY)


def length(x: Array) -> float:
    """A bound of the Euclidean norm of numbers, whatever their scale."""
    largest = float(np.max(np.abs(x), initial=0.0))
    if not largest > 0:
        return 0.0 if largest == 0 else np.inf
    return float(UP * largest * np.linalg.norm(np.ravel(x / largest)) + TINY) if np.isfinite(largest) else np.inf
