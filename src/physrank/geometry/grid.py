"""Grids: where the values of a field lie, and so how fields are interpolated to it and integrated over it."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import prod
from typing import Any

import numpy as np

from physrank.geometry import lifts
from physrank.geometry.metrics import Metric, cell_area, periodic_l2, trapezoid
from physrank.geometry.space import Array

BETWEEN = {
    "periodic": "fourier",
    "nodes": "polynomial",
    "cells": "linear",
}  # solutions, where candidates are not lifted
CONSTANT = 1e-11  # of a field's size that its range has at least: less is rounding, and no structure to lose
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

    def lift(self, field: Any) -> Array:
        """A field of another resolution on this grid; leading axes are kept. Unchanged where no interpolation is known."""
        xp = lifts.namespace(field)
        field = xp.asarray(field, np.complex128 if xp.iscomplexobj(field) else np.float64)
        return field if self.kind is None else lifts.lift(field, self.shape, self.kind)

    def raised(self, solution: Any) -> Array:
        """A coarser solution of the same problem on this grid, also where fields of others are not interpolated.

        There: linearly between cell centres, so that density and pressure stay positive across shocks.
        """
        return lifts.lift(solution, self.shape, self.kind or BETWEEN[self.layout])

    def missing(self, field: Any, rough: "Grid") -> Any:
        """How much of a field on this grid a coarser one cannot carry, relative to its range: the largest departure on a
        few lines along every axis. The rounding of a constant is nothing. Works inside `jax.jit`."""
        xp, kind = lifts.namespace(field), self.kind or BETWEEN[self.layout]
        high, low = xp.max(field), xp.min(field)
        least = CONSTANT * xp.maximum(xp.abs(high), xp.abs(low)) + np.finfo(float).tiny
        largest = []
        for axis, (fine, coarse) in enumerate(zip(self.shape, rough.shape, strict=True)):
            strides = [slice(None, None, 1 if k == axis else max(n // 16, 1)) for k, n in enumerate(self.shape)]
            lines = xp.moveaxis(field[tuple(strides)], axis, -1)
            back = lifts.lift(lifts.lift(lines, (coarse,), kind), (fine,), kind)
            largest.append(xp.max(xp.abs(lines - back)))
        return xp.max(xp.stack(largest)) / xp.maximum(high - low, least)

    def tail(self, field: Any, carried: Any = 1.0) -> Any:
        """The share of the variance in the top third of the spectrum along an axis, see `tails`."""
        return self.tails(field, (carried,))[0]

    def tails(self, field: Any, carried: Sequence[Any]) -> list[Any]:
        """The share of the variance in the top third of the spectrum along an axis: the largest over axes and leading axes.

        `carried` are parts of the spectrum that a scheme fills (⅔ where it removes aliases): the top third of each, and what
        lies above. Fourier series on periodic grids; sine series beside the line between end values where those
        interpolate; cosine series elsewhere. A leading entry (a row, a channel) with less than 1e-6 of the largest
        variance is held against that. The field may have any resolution. Works inside `jax.jit`.
        """
        xp = lifts.namespace(field)
        space = tuple(range(-len(self.shape), 0))
        # Real and imaginary part are two entries of their own.
        field = xp.stack([field.real, field.imag]) if xp.iscomplexobj(field) else xp.asarray(field, np.float64)
        shares = []
        for axis in space:
            values = field if axis == -1 else xp.moveaxis(field, axis, -1)
            if self.kind != "sine":
                values = values - values.sum(axis=space, keepdims=True) / prod(values.shape[-len(space) :])
            power = self._power(xp, values)
            if len(space) > 1:
                power = power.sum(axis=tuple(range(power.ndim - len(space), power.ndim - 1)))
            modes = power.shape[-1] - 1
            total = power.sum(axis=-1)
            noise = np.finfo(float).eps ** 1.5 * (field**2).sum(axis=space) * power.shape[-1]
            against = xp.maximum(total, 1e-6 * total.max()) + noise
            ends = xp.floor(2 * modes / 3 * xp.asarray(carried) + 1e-9)
            above = power @ (np.arange(-1.0, modes)[:, None] >= ends).astype(power.dtype)
            share = above / xp.maximum(against, 1e-300)[..., None]
            shares.append(share.reshape(-1, len(carried)).max(axis=0))
        return list(shares[0] if len(shares) == 1 else xp.stack(shares).max(axis=0))

    def _power(self, xp: Any, values: Any) -> Any:
        """|coefficient|² of the series that belongs to this grid, last axis; the mean or nothing comes first."""
        if self.layout == "periodic":
            extended = values
        elif self.kind == "sine":
            x = np.linspace(0, 1, values.shape[-1])
            rest = values - values[..., :1] * (1 - x) - values[..., -1:] * x
            extended = xp.concatenate([rest, -rest[..., -2:0:-1]], axis=-1)
        elif self.layout == "cells":
            extended = xp.concatenate([values, values[..., ::-1]], axis=-1)
        else:
            extended = xp.concatenate([values, values[..., -2:0:-1]], axis=-1)
        spectrum = xp.fft.rfft(extended, axis=-1)
        power = spectrum.real**2 + spectrum.imag**2
        # Of an extended field the last coefficient vanishes (odd; cells) or belongs to the highest cosine (nodes).
        return (
            power if self.layout == "periodic" or (self.layout == "nodes" and self.kind != "sine") else power[..., :-1]
        )

    def metric(self) -> Metric:
        """∫ x² over the box by the grid's own quadrature."""
        return _metric(self)


@lru_cache(maxsize=64)
def _metric(grid: Grid) -> Metric:
    return METRICS[grid.layout](grid.lengths)


def _sizes(shape: int | Sequence[int], lengths: float | Sequence[float]) -> tuple[tuple[int, ...], tuple[float, ...]]:
    if isinstance(shape, int) and isinstance(
        lengths, int | float
    ):  # problems make theirs whenever they are asked for it
        return (shape,), (float(lengths),)
    sizes = tuple(map(int, shape if isinstance(shape, tuple | list) else np.atleast_1d(shape)))
    extents = lengths if isinstance(lengths, tuple | list) else np.broadcast_to(lengths, (len(sizes),))
    return sizes, tuple(map(float, extents))
