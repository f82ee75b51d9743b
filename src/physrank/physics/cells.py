"""Cell-centred grids: the homogeneous-Neumann Laplacian and the cosine transform that diagonalises it."""

from functools import lru_cache

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array


def neumann_laplacian(cells: Array, spacing: float) -> Array:
    """Five-point (2·d+1-point) Laplacian of cell values; at a wall the missing neighbour drops its face term."""
    padded = jnp.pad(cells, 1, mode="edge")  # a mirrored neighbour has no difference, which drops the face
    centre = (slice(1, -1),) * cells.ndim
    total = -2 * cells.ndim * cells
    for axis in range(cells.ndim):
        for shift in (slice(None, -2), slice(2, None)):
            total = total + padded[tuple(shift if d == axis else centre[d] for d in range(cells.ndim))]
    return total / spacing**2


@lru_cache(maxsize=16)
def cosine_basis(cells: int, spacing: float) -> tuple[np.ndarray, np.ndarray]:
    """Orthonormal cosine matrix (rows are modes) and the eigenvalues of the one-dimensional Neumann Laplacian."""
    k = np.arange(cells)
    matrix = np.sqrt(2 / cells) * np.cos(np.pi * np.outer(k, k + 0.5) / cells)
    matrix[0] /= np.sqrt(2)
    return matrix, -4 / spacing**2 * np.sin(np.pi * k / (2 * cells)) ** 2
