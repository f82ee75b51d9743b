"""Functions of space that jump across lines: one formula or number for every box between the lines."""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise, product
from numbers import Real
from typing import Any

import numpy as np

from physrank.geometry.space import Array

Piece = Callable[..., Any] | float


@dataclass(frozen=True)
class Pieces:
    """A function on a box that is another one on every side of lines (points, planes) across the whole box.

        a = pr.certificates.Pieces(breaks=((0.5,), (0.25, 0.75)), values=((1.0, 10.0, 1.0), (1.0, lambda x, y: 2 + x, 1.0)))

    `breaks` has one rising sequence of coordinates per axis, empty where nothing jumps; `values` is nested like an array with
    one more entry than breaks along every axis: numbers, or functions of all coordinates, each analytic on its own box. On a
    line, the value is that of the side with the larger coordinate. It can be called on arrays, so that a problem can be made
    of it.
    """

    breaks: tuple[tuple[float, ...], ...]
    values: Any

    def __post_init__(self) -> None:
        if any(not hasattr(along, "__iter__") for along in self.breaks):
            raise ValueError(f"Breaks are one sequence per axis, such as ((0.25, 0.75), ()); got {self.breaks!r}.")
        breaks = tuple(tuple(float(x) for x in along) for along in self.breaks)
        for along in breaks:
            if not all(math.isfinite(x) for x in along) or any(b <= a for a, b in pairwise(along)):
                raise ValueError(f"Breaks must be finite and rise along every axis; got {along}.")
        object.__setattr__(self, "breaks", breaks)
        object.__setattr__(self, "values", _nested(self.values, [len(along) + 1 for along in breaks], ()))

    @classmethod
    def of(cls, given: "Pieces | Piece", dims: int) -> "Pieces":
        """A number or a function is one piece."""
        if isinstance(given, Pieces):
            if len(given.breaks) != dims:
                raise ValueError(f"Pieces need breaks along {dims} axes; got {len(given.breaks)}.")
            return given
        values: Any = given
        for _ in range(dims):
            values = (values,)
        return cls(((),) * dims, values)

    @property
    def boxes(self) -> Iterator[tuple[tuple[int, ...], Piece]]:
        """Which box, and what is there."""
        for place in product(*(range(len(along) + 1) for along in self.breaks)):
            yield place, self._at(place)

    def _at(self, place: tuple[int, ...]) -> Piece:
        found = self.values
        for k in place:
            found = found[k]
        return found

    def __call__(self, *coordinates: Array) -> Array:
        """Values at points, one array of coordinates per axis."""
        if len(coordinates) != len(self.breaks):
            raise ValueError(
                f"These Pieces have breaks along {len(self.breaks)} axes; they were asked at points with {len(coordinates)} "
                "coordinates. A problem in one or three dimensions is made with dims=1 or dims=3."
            )
        nodes = np.broadcast_arrays(*(np.asarray(x, np.float64) for x in coordinates))
        which = [np.searchsorted(along, x, side="right") for along, x in zip(self.breaks, nodes, strict=True)]
        found = np.full(nodes[0].shape, np.nan)
        for place, piece in self.boxes:
            here = np.logical_and.reduce([w == k for w, k in zip(which, place, strict=True)])
            if here.any():
                found[here] = piece(*(x[here] for x in nodes)) if callable(piece) else piece
        return found


def _nested(values: Any, shape: Sequence[int], path: tuple[int, ...]) -> Any:
    """As tuples, with floats; what has another shape is refused."""
    if not shape:
        if callable(values):
            return values
        given = values.item() if isinstance(values, np.ndarray) and not values.ndim else values
        if isinstance(given, Real) and not isinstance(given, bool) and math.isfinite(given):
            return float(given)
        raise ValueError(
            f"values{list(path)} must be a finite number or a function of the coordinates; got {values!r}."
        )
    if not hasattr(values, "__len__") or len(values) != shape[0]:
        got = len(values) if hasattr(values, "__len__") else repr(values)
        raise ValueError(f"values{list(path)} must have {shape[0]} entries, one more than breaks; got {got}.")
    return tuple(_nested(value, shape[1:], (*path, k)) for k, value in enumerate(values))
