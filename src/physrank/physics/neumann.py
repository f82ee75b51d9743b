"""Cell-centred grids: the homogeneous-Neumann Laplacian and the cosine transform that diagonalises it."""

from functools import lru_cache

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array


def neumann_laplacian(cells: Array, spacing: float, axes: tuple[int, ...] = (-2, -1)) -> Array:
    """Three-point second differences along `axes`, summed; the face at a wall lets nothing through."""

    def along(axis: int) -> Array:
        faces = [(1, 1) if d == axis % cells.ndim else (0, 0) for d in range(cells.ndim)]
        return jnp.diff(jnp.pad(jnp.diff(cells, axis=axis), faces), axis=axis)

    return sum((along(axis) for axis in axes[1:]), along(axes[0])) / spacing**2


@lru_cache(maxsize=16)
def cosine_basis(cells: int, spacing: float) -> tuple[np.ndarray, np.ndarray]:
    """Orthonormal cosine matrix (rows are modes) and the eigenvalues of the one-dimensional Neumann Laplacian."""
    k = np.arange(cells)
    matrix = np.sqrt(2 / cells) * np.cos(np.pi * np.outer(k, k + 0.5) / cells)
    matrix[0] /= np.sqrt(2)
    return matrix, -4 / spacing**2 * np.sin(np.pi * k / (2 * cells)) ** 2
