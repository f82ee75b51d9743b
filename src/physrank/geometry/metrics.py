"""Metrics: quadrature weights for outputs on grids, as products of one-dimensional quadratures."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from physrank._arrays import to_numpy
from physrank._renamed import moved
from physrank.geometry.gram import GramSpace
from physrank.geometry.space import Array, TaskSpace


@dataclass(frozen=True)
class Quadrature:
    """Of one axis, on `length`: `kind` is "periodic", "cells" or "trapezoid"."""

    kind: str
    length: float

    def weights(self, points: int) -> Array:
        if self.kind == "trapezoid":  # nodes on both ends
            if points < 2:
                raise ValueError(f"A trapezoid rule needs at least 2 nodes along its axis; got {points}.")
            weights = np.full(points, self.length / (points - 1))
            weights[[0, -1]] /= 2
            return weights
        return np.full(points, self.length / points)


@dataclass(frozen=True)
class Metric:
    """Quadrature over the trailing axes of an output; leading axes (channels, times) are summed with `channel_weights`."""

    quadratures: tuple[Quadrature, ...]
    channel_weights: tuple[float, ...] | None = None

    @property
    def name(self) -> str:
        kinds = {"periodic": "periodic L²", "trapezoid": "L² by trapezoid rule", "cells": "L² by cells"}
        return kinds[self.quadratures[0].kind] + (
            "" if self.channel_weights is None else f", channels {self.channel_weights}"
        )

    def space(self, shape: tuple[int, ...]) -> TaskSpace:
        """The task space of outputs of this shape."""
        return _space(self, shape)

    def _weights(self, shape: tuple[int, ...]) -> TaskSpace:
        dims = len(self.quadratures)
        if len(shape) < dims:
            raise ValueError(f"This metric integrates over {dims} axes; the task output has shape {shape}.")
        weights = np.ones(())
        for quadrature, points in zip(self.quadratures, shape[len(shape) - dims :], strict=True):
            weights = weights[..., None] * quadrature.weights(points)
        if self.channel_weights is not None:
            if len(shape) <= dims or shape[-dims - 1] != len(self.channel_weights):
                raise ValueError(
                    f"This metric weighs {len(self.channel_weights)} channels on the axis before space; "
                    f"the task output has shape {shape}."
                )
            weights = np.asarray(self.channel_weights).reshape(-1, *[1] * dims) * weights
        return TaskSpace(np.broadcast_to(weights, shape))


@lru_cache(maxsize=32)
def _space(metric: Metric, shape: tuple[int, ...]) -> TaskSpace:
    return metric._weights(shape)


@dataclass(frozen=True)
class MeanSquare:
    """The mean of the squares of all entries: the metric when none is given."""

    name = "mean square"

    def space(self, shape: tuple[int, ...]) -> TaskSpace:
        return TaskSpace.mean_square(shape)


@dataclass(frozen=True, eq=False)
class Weights:
    """Explicit weights, broadcast to the shape of the output."""

    values: Array
    name = "own weights"

    def space(self, shape: tuple[int, ...]) -> TaskSpace:
        try:
            return TaskSpace(np.broadcast_to(self.values, shape))
        except ValueError as error:
            if "broadcast" not in str(error):
                raise
            raise ValueError(
                f"Metric weights of shape {self.values.shape} do not fit a task output of shape {shape}."
            ) from None


@dataclass(frozen=True, eq=False)
class Gram:
    """yᵀ M y with a symmetric positive definite matrix M, sparse or dense: a mass matrix, an energy."""

    matrix: Any
    name = "Gram matrix"

    def space(self, shape: tuple[int, ...]) -> TaskSpace:
        return self._space.shaped(shape)

    @cached_property
    def _space(self) -> GramSpace:
        return GramSpace.of(self.matrix)


AnyMetric = Metric | MeanSquare | Weights | Gram


def _quadratures(kind: str, lengths: float | Sequence[float]) -> tuple[Quadrature, ...]:
    values = np.atleast_1d(np.asarray(lengths, np.float64))
    if not (np.all(np.isfinite(values)) and np.all(values > 0)):
        raise ValueError(f"Lengths of a metric must be positive and finite; got {lengths}.")
    return tuple(Quadrature(kind, float(length)) for length in values)


def mean_square() -> MeanSquare:
    """The mean of squares over all numbers of a state: the metric when none is given."""
    return MeanSquare()


def periodic_l2(lengths: float | Sequence[float]) -> Metric:
    """∫ x² over a periodic box (one length per trailing axis), endpoint not repeated."""
    return Metric(_quadratures("periodic", lengths))


def trapezoid(lengths: float | Sequence[float]) -> Metric:
    """∫ x² by the tensor-product trapezoid rule, nodes on the boundary included."""
    return Metric(_quadratures("trapezoid", lengths))


def cell_area(lengths: float | Sequence[float]) -> Metric:
    """∫ x² over cell averages: every cell weighs its own area."""
    return Metric(_quadratures("cells", lengths))


def phase_space(base: Metric, velocity_weight: float = 1.0) -> Metric:
    """‖u‖² + velocity_weight · ‖v‖² for outputs `(2, *space)` that hold displacement and velocity."""
    return Metric(base.quadratures, (1.0, float(velocity_weight)))


def weights(values: Any) -> Weights:
    """Your own positive weights, broadcast against the task output."""
    return Weights(to_numpy("weights", values))


def gram(matrix: Any) -> Gram:
    """yᵀ M y with a mass matrix M (SciPy sparse or dense) over the entries of the output: the L² norm of finite elements.

    M is checked to be symmetric and positive definite. An output of k times its size has k fields, each weighed by it.
    """
    return Gram(matrix)


__getattr__ = moved("physrank.metrics", {"Rule": "physrank.metrics.Quadrature"})
