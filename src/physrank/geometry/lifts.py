"""Lifts: interpolation of grid fields to a common grid, one matrix per axis.

Each matrix maps values on one grid to values on another and reproduces a stated family exactly, so candidates of
different resolution are compared as functions, not as arrays.
"""

from collections.abc import Callable
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike

from physrank.geometry.space import Array

MatrixOf = Callable[[int, int], Array]


def _frozen(matrix: Array) -> Array:
    matrix.flags.writeable = False  # shared through the cache
    return matrix


@lru_cache(maxsize=64)
def fourier_matrix(source: int, target: int) -> Array:
    """Trigonometric interpolation between periodic grids x_k = k L / n; exact for resolved modes.

    Going to a coarser grid, unresolved modes are dropped rather than aliased.
    """
    spectrum = np.fft.rfft(np.eye(source), axis=0) / source
    kept = min(source, target) // 2 + 1
    coefficients = np.zeros((target // 2 + 1, source), complex)
    coefficients[:kept] = spectrum[:kept]
    if min(source, target) % 2 == 0 and source != target:
        # The Nyquist coefficient of the smaller grid stands for both ±n/2.
        coefficients[kept - 1] *= 0.5 if source < target else 2.0
    return _frozen(np.fft.irfft(coefficients, n=target, axis=0) * target)


@lru_cache(maxsize=64)
def sine_matrix(source: int, target: int) -> Array:
    """Linear interpolation of the end values plus a sine series of the rest; grids include both ends.

    Exact for linear functions and for resolved sine modes: the natural lift under Dirichlet conditions, and one
    that carries a violated boundary value along instead of hiding it.
    """
    _need_nodes(source, target, 2)
    x, y = np.linspace(0, 1, source), np.linspace(0, 1, target)
    ends = np.zeros((source, source))  # values ↦ their linear interpolant on the source grid
    ends[:, 0], ends[:, -1] = 1 - x, x
    modes = np.arange(1, min(source, target) - 1)
    analysis = 2.0 / (source - 1) * np.sin(np.pi * np.outer(modes, x))
    series = np.sin(np.pi * np.outer(y, modes)) @ analysis @ (np.eye(source) - ends)
    series[:, 0] += 1 - y
    series[:, -1] += y
    return _frozen(series)


@lru_cache(maxsize=64)
def polynomial_matrix(source: int, target: int, degree: int = 5) -> Array:
    """Piecewise Lagrange interpolation of the stated degree; grids include both ends."""
    _need_nodes(source, target, 2)
    degree = min(degree, source - 1)
    position = np.linspace(0, source - 1, target)
    first = np.clip(np.floor(position).astype(int) - degree // 2, 0, source - 1 - degree)
    matrix = np.zeros((target, source))
    offsets = np.arange(degree + 1)
    for k in offsets:
        others = offsets[offsets != k]
        factors = (position[:, None] - first[:, None] - others) / (k - others)
        matrix[np.arange(target), first + k] = np.prod(factors, axis=1)
    return _frozen(matrix)


@lru_cache(maxsize=64)
def chebyshev_matrix(source: int, target: int) -> Array:
    """From Chebyshev–Lobatto nodes on [0, 1] (ascending) to a uniform grid with both ends, by the barycentric formula."""
    _need_nodes(source, target, 2)
    nodes = (1 - np.cos(np.pi * np.arange(source) / (source - 1))) / 2
    signs = (-1.0) ** np.arange(source)
    signs[[0, -1]] /= 2
    distance = np.linspace(0, 1, target)[:, None] - nodes
    hit = np.abs(distance) < 1e-14
    terms = signs / np.where(hit, 1.0, distance)
    matrix = terms / terms.sum(axis=1, keepdims=True)
    matrix[hit.any(axis=1)] = hit[hit.any(axis=1)]
    return _frozen(matrix)


@lru_cache(maxsize=64)
def cosine_matrix(source: int, target: int) -> Array:
    """Between cell-centred grids (k + ½)/n by the cosine series; exact for resolved cosines, the natural no-flux lift."""
    modes, x, y = np.arange(min(source, target)), (np.arange(source) + 0.5) / source, (np.arange(target) + 0.5) / target
    analysis = 2.0 / source * np.cos(np.pi * np.outer(modes, x))
    analysis[0] /= 2
    return _frozen(np.cos(np.pi * np.outer(y, modes)) @ analysis)


def _need_nodes(source: int, target: int, least: int) -> None:
    if min(source, target) < least:
        raise ValueError(f"Grids with both ends need at least {least} nodes; got {source} to be lifted to {target}.")


KINDS: dict[str, MatrixOf] = {
    "fourier": fourier_matrix,
    "sine": sine_matrix,
    "cosine": cosine_matrix,
    "polynomial": polynomial_matrix,
    "chebyshev": chebyshev_matrix,
}


def check_kind(kind: str) -> None:
    if kind not in KINDS:
        raise ValueError(f"Unknown lift {kind!r}; expected one of {', '.join(map(repr, KINDS))}.")


def lift(field: ArrayLike, shape: tuple[int, ...], kind: str) -> Array:
    """`field` interpolated on its trailing `len(shape)` axes to `shape`; leading axes are kept.

    `kind`: "fourier" (periodic), "sine" (Dirichlet, nodes on both ends), "cosine" (no flux, cell centres),
    "polynomial" (nodes on both ends, no boundary condition), "chebyshev" (Lobatto nodes to a uniform grid).
    """
    check_kind(kind)
    result = np.asarray(field, np.float64)
    if result.ndim < len(shape):
        raise ValueError(f"Cannot lift an array of shape {result.shape} on {len(shape)} axes.")
    for offset, target in enumerate(reversed(shape), start=1):
        source = result.shape[-offset]
        if source != target or kind == "chebyshev":
            result = np.moveaxis(np.moveaxis(result, -offset, -1) @ KINDS[kind](source, target).T, -1, -offset)
    return result
