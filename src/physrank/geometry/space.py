"""Task spaces: finite-dimensional Hilbert spaces with a diagonal (quadrature) inner product."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


@dataclass(frozen=True)
class TaskSpace:
    """The space ℋ in which outputs are compared: ⟨x, y⟩_M = Σ weights · x · y.

    `weights` has the shape of one output; all entries are positive and finite.
    Every method takes outputs with any number of leading axes.
    """

    weights: Array

    def __post_init__(self) -> None:
        weights = np.asarray(self.weights, np.float64)
        if not (np.all(np.isfinite(weights)) and np.all(weights > 0)):
            raise ValueError(
                "A task metric needs positive, finite weights; got values from "
                f"{np.min(weights)} to {np.max(weights)}. Drop the entries that should not count from the task instead."
            )
        object.__setattr__(self, "weights", weights)

    @classmethod
    def mean_square(cls, shape: tuple[int, ...]) -> "TaskSpace":
        """‖x‖² is the mean of x² over all entries."""
        return cls(np.full(shape, 1.0 / max(1, int(np.prod(shape)))))

    @property
    def shape(self) -> tuple[int, ...]:
        return self.weights.shape

    def coordinates(self, outputs: Array) -> Array:
        """The isometry √M into Euclidean coordinates: `(..., *shape) → (..., size)`."""
        outputs = np.asarray(outputs, np.float64)
        lead = outputs.shape[: outputs.ndim - self.weights.ndim]
        if outputs.shape[len(lead) :] != self.shape:
            raise ValueError(
                f"Expected outputs of shape (..., {', '.join(map(str, self.shape))}); got {outputs.shape}."
            )
        return (self.roots * outputs).reshape(*lead, self.weights.size)

    @cached_property
    def roots(self) -> Array:
        """√M."""
        return np.sqrt(self.weights)

    def inner(self, x: Array, y: Array) -> Array:
        return np.sum(self.coordinates(x) * self.coordinates(y), axis=-1)

    def norm_squared(self, x: Array) -> Array:
        flat = self.coordinates(x)
        return np.sum(np.multiply(flat, flat, out=flat), axis=-1)

    def norm(self, x: Array) -> Array:
        return np.sqrt(self.norm_squared(x))

    def distances(self, outputs: Array) -> Array:
        """All ‖y_i − y_j‖_M, an N × N matrix, from differences (not from a Gram matrix, which cancels)."""
        outputs = np.asarray(outputs, np.float64)
        return np.stack([self.norm(outputs - row) for row in outputs])
