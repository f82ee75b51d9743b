"""Grids: where the values of a field lie, and so how fields are interpolated to it and integrated over it."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from physrank.geometry import lifts
from physrank.geometry.metrics import Metric, cell_area, periodic_l2, trapezoid
from physrank.geometry.space import Array

METRICS = {"periodic": periodic_l2, "nodes": trapezoid, "cells": cell_area}


@dataclass(frozen=True)
class Grid:
    """Equispaced points on a box: the trailing axes of a state.

    `layout`: "periodic" (end point not repeated), "nodes" (both ends included) or "cells" (centres). `kind` names how a
    field of another resolution is interpolated to this grid, see `physrank.lifts`; None: it is not. Made by
    `Grid.periodic`, `Grid.nodes` and `Grid.cells`.
    """

    shape: tuple[int, ...]
    lengths: tuple[float, ...]
    layout: str
    kind: str | None

    def __post_init__(self) -> None:
        if self.layout not in METRICS:
            raise ValueError(f"layout must be one of {', '.join(map(repr, METRICS))}; got {self.layout!r}.")
        if self.kind is not None:
            lifts.check_kind(self.kind)
        if not self.shape or min(self.shape) < 1:
            raise ValueError(f"A grid needs at least one point along every axis; got shape {self.shape}.")
        if len(self.lengths) != len(self.shape):
            raise ValueError(f"A grid of shape {self.shape} needs as many lengths; got {self.lengths}.")

    @classmethod
    def periodic(cls, shape: int | Sequence[int], lengths: float | Sequence[float] = 1.0) -> "Grid":
        """Points k L / n, Fourier interpolation, periodic L²."""
        return cls(*_sizes(shape, lengths), "periodic", "fourier")

    @classmethod
    def nodes(
        cls, shape: int | Sequence[int], lengths: float | Sequence[float] = 1.0, kind: str | None = "sine"
    ) -> "Grid":
        """Points k L / (n − 1), boundary included; sine interpolation with boundary values carried along, trapezoid rule."""
        return cls(*_sizes(shape, lengths), "nodes", kind)

    @classmethod
    def cells(
        cls, shape: int | Sequence[int], lengths: float | Sequence[float] = 1.0, kind: str | None = "cosine"
    ) -> "Grid":
        """Centres (k + ½) L / n; cosine interpolation (no flux through walls), every cell weighs its volume."""
        return cls(*_sizes(shape, lengths), "cells", kind)

    @property
    def spacing(self) -> tuple[float, ...]:
        gaps = 1 if self.layout == "nodes" else 0
        return tuple(length / max(n - gaps, 1) for n, length in zip(self.shape, self.lengths, strict=True))

    @property
    def axes(self) -> tuple[Array, ...]:
        """The coordinates along every axis."""
        first = 0.5 if self.layout == "cells" else 0.0
        return tuple(h * (np.arange(float(n)) + first) for n, h in zip(self.shape, self.spacing, strict=True))

    def __array__(self, *_: object, **__: object) -> Array:
        raise TypeError("A grid is not an array: its coordinates are grid.axes, one array per axis.")

    def lift(self, field: ArrayLike) -> Array:
        """A field of another resolution on this grid; leading axes are kept. Unchanged where no interpolation is known."""
        field = np.asarray(field, np.float64)
        return field if self.kind is None else lifts.lift(field, self.shape, self.kind)

    def metric(self) -> Metric:
        """∫ x² over the box by the grid's own quadrature."""
        return METRICS[self.layout](self.lengths)


def _sizes(shape: int | Sequence[int], lengths: float | Sequence[float]) -> tuple[tuple[int, ...], tuple[float, ...]]:
    sizes = tuple(int(n) for n in np.atleast_1d(shape))
    return sizes, tuple(float(x) for x in np.broadcast_to(lengths, (len(sizes),)))
