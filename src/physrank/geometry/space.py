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
    separable = True  # ⟨x, y⟩ is a sum over entries, so that parts of outputs can be looked at one by one

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

    def coordinates(self, outputs: Array, overwrite: bool = False) -> Array:
        """The isometry √M into Euclidean coordinates: `(..., *shape) → (..., size)`; in the same memory if allowed to."""
        outputs, lead = self._outputs(outputs)
        weighted = np.multiply(self.roots, outputs, out=outputs if overwrite else None)
        return as_real(weighted.reshape(*lead, self.weights.size))

    def _outputs(self, outputs: Array) -> tuple[Array, tuple[int, ...]]:
        """Checked, and their leading axes."""
        outputs = np.asarray(outputs)
        lead = outputs.shape[: outputs.ndim - len(self.shape)]
        if outputs.shape[len(lead) :] != self.shape:
            raise ValueError(
                f"Expected outputs of shape (..., {', '.join(map(str, self.shape))}); got {outputs.shape}."
            )
        return outputs, lead

    def vectors(self, coordinates: Array) -> Array:
        """The inverse of `coordinates`, for real outputs: `(..., size) → (..., *shape)`."""
        return coordinates.reshape(*coordinates.shape[:-1], *self.shape) / self.roots

    def dual(self, outputs: Array) -> Array:
        """M y: the covector with ⟨x, y⟩_M = Σ x · M y."""
        return self.weights * outputs

    @cached_property
    def roots(self) -> Array:
        """√M."""
        return np.sqrt(self.weights)

    def inner(self, x: Array, y: Array) -> Array:
        return np.sum(self.coordinates(x) * self.coordinates(y), axis=-1)

    def norm_squared(self, x: Array) -> Array:
        flat = self.coordinates(x)
        return np.vecdot(flat, flat)

    def norm(self, x: Array) -> Array:
        return np.sqrt(self.norm_squared(x))

    @property
    def hashed(self) -> Array:
        """The numbers that make it what it is."""
        return self.weights

    def distances(self, outputs: Array) -> Array:
        """All ‖y_i − y_j‖_M, an N × N matrix, from differences (not from a Gram matrix, which cancels)."""
        outputs = np.asarray(outputs)
        return np.stack([self.norm(outputs - row) for row in outputs])


def as_real(values: Array) -> Array:
    """Complex numbers as twice as many real ones along the last axis: |z|² is the sum of two squares."""
    return np.concatenate([values.real, values.imag], axis=-1) if np.iscomplexobj(values) else values
