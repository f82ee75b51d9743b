"""Lifts: interpolation of grid fields to a common grid, one matrix per axis.

Each matrix maps values on one grid to values on another and reproduces a stated family exactly, so candidates of
different resolution are compared as functions, not as arrays. Inside a compiled program the same matrices are constants.
"""

from collections.abc import Callable
from functools import lru_cache
from typing import Any, cast

import jax.numpy as jnp
import numpy as np
from jax.core import Tracer

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
def polynomial_stencil(source: int, target: int, degree: int = 5) -> tuple[Array, Array]:
    """First neighbour (target) and weights (target, degree + 1) of piecewise Lagrange interpolation, see below."""
    _need_nodes(source, target, 2)
    degree = min(degree, source - 1)
    position = np.linspace(0, source - 1, target)
    first = np.clip(np.floor(position).astype(int) - degree // 2, 0, source - 1 - degree)
    return _frozen(first), _frozen(lagrange_weights(np.arange(degree + 1.0), position - first))


@lru_cache(maxsize=64)
def polynomial_matrix(source: int, target: int, degree: int = 5) -> Array:
    """Piecewise Lagrange interpolation of the stated degree; grids include both ends."""
    first, weights = polynomial_stencil(source, target, degree)
    matrix = np.zeros((target, source))
    np.put_along_axis(matrix, first[:, None] + np.arange(weights.shape[1]), weights, axis=1)
    return _frozen(matrix)


@lru_cache(maxsize=64)
def rows_matrix(source: int, target: int) -> Array:
    """A trajectory whose rows are those of `kept_rows`, on all rows again: cubic through the nearest four."""
    kept, degree = kept_rows(target, source), min(3, source - 1)
    first = np.clip(np.searchsorted(kept, np.arange(target), "right") - 1 - degree // 2, 0, source - 1 - degree)
    near = first[:, None] + np.arange(degree + 1)
    matrix = np.zeros((target, source))
    np.put_along_axis(matrix, near, lagrange_weights(kept[near].astype(float), np.arange(float(target))), axis=1)
    return _frozen(matrix)


def kept_rows(rows: int, count: int) -> Array:
    """Which `count` of so many rows are kept when a march takes longer steps: first, last, and evenly between."""
    return np.round(np.linspace(0, rows - 1, count)).astype(int)


def lagrange_weights(nodes: Any, at: Any) -> Any:
    """Weights, on the last axis, of the polynomial through values at `nodes` (last axis), evaluated at `at`."""
    weights = []
    for k in range(nodes.shape[-1]):
        others = np.delete(np.arange(nodes.shape[-1]), k)
        weights.append(((at[..., None] - nodes[..., others]) / (nodes[..., [k]] - nodes[..., others])).prod(axis=-1))
    return namespace(at).stack(weights, axis=-1)


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


@lru_cache(maxsize=64)
def linear_matrix(source: int, target: int) -> Array:
    """Between cell-centred grids, linear from centre to centre and constant beyond the last: means, so nothing overshoots."""
    position = np.clip((np.arange(target) + 0.5) * source / target - 0.5, 0, source - 1)
    return _frozen(np.maximum(1 - np.abs(position[:, None] - np.arange(source)), 0.0))


def _need_nodes(source: int, target: int, least: int) -> None:
    if min(source, target) < least:
        raise ValueError(f"Grids with both ends need at least {least} nodes; got {source} to be lifted to {target}.")


KINDS: dict[str, MatrixOf] = {
    "fourier": fourier_matrix,
    "sine": sine_matrix,
    "cosine": cosine_matrix,
    "linear": linear_matrix,
    "polynomial": polynomial_matrix,
    "chebyshev": chebyshev_matrix,
}


def check_kind(kind: str) -> None:
    """A ValueError that names the kinds there are."""
    if kind not in KINDS:
        raise ValueError(f"Unknown lift {kind!r}; expected one of {', '.join(map(repr, KINDS))}.")


def namespace(*arrays: Any) -> Any:
    """NumPy, or its JAX twin where an array is being traced."""
    return jnp if any(isinstance(array, Tracer) for array in arrays) else np


def lift(field: Any, shape: tuple[int, ...], kind: str) -> Array:
    """`field` interpolated on its trailing `len(shape)` axes to `shape`; leading axes are kept. Works inside `jax.jit`.

    `kind`: "fourier" (periodic), "sine" (Dirichlet, nodes on both ends), "cosine" (no flux, cell centres), "linear" (cell
    centres, never overshoots), "polynomial" (nodes on both ends, no boundary condition), "chebyshev" (Lobatto nodes to a
    uniform grid).
    """
    check_kind(kind)
    xp = namespace(field)
    if xp.iscomplexobj(field):
        return cast(Array, lift(xp.real(field), shape, kind) + 1j * lift(xp.imag(field), shape, kind))
    result = xp.asarray(field, np.float64)
    if result.ndim < len(shape):
        raise ValueError(f"Cannot lift an array of shape {result.shape} on {len(shape)} axes.")
    for offset, target in enumerate(reversed(shape), start=1):
        source = result.shape[-offset]
        if source != target or kind == "chebyshev":
            result = _along(xp, KINDS[kind](source, target), result, -offset)
    return result


def sampled(field: Any, shape: tuple[int, ...]) -> Any:
    """The "polynomial" lift of all axes for large fields: a few neighbours each, where a matrix would visit every node."""
    xp = namespace(field)
    field = xp.asarray(field, np.float64)
    for axis, target in enumerate(shape):
        if field.shape[axis] != target:
            first, weights = polynomial_stencil(field.shape[axis], target)
            columns = weights.reshape(target, -1, *[1] * (field.ndim - axis - 1))
            field = sum(columns[:, k] * xp.take(field, first + k, axis=axis) for k in range(weights.shape[1]))
    return field


def lift_rows(trajectory: Any, rows: int) -> Array:
    """A trajectory that kept only `kept_rows` on all of its rows: cubic interpolation in the number of the row.

    The other way round: `kept_rows` of one that has more.
    """
    if len(trajectory) >= rows:
        return trajectory if len(trajectory) == rows else trajectory[kept_rows(len(trajectory), rows)]
    return _along(namespace(trajectory), rows_matrix(len(trajectory), rows), trajectory, 0)


def some_rows(trajectory: Any, places: Any, rows: int) -> Any:
    """Those of the rows that `lift_rows` gives."""
    if len(trajectory) >= rows:
        return lift_rows(trajectory, rows)[places]
    xp = namespace(trajectory)
    return xp.tensordot(xp.asarray(rows_matrix(len(trajectory), rows))[places], trajectory, axes=1)


def _along(xp: Any, matrix: Array, values: Any, axis: int) -> Any:
    return xp.moveaxis(xp.moveaxis(values, axis, -1) @ xp.asarray(matrix.T), -1, axis)


def shorter_spectrum(spectrum: Any, source: int, target: int) -> Any:
    """`rfft` of a periodic field (last axis) on a coarser grid: what `fourier_matrix` does, where spectra are at hand."""
    kept = spectrum[..., : target // 2 + 1] * (target / source)
    if target % 2 or source == target:
        return kept
    highest = (2 * kept[..., -1:].real).astype(kept.dtype)  # stands for both ±n/2
    return namespace(spectrum).concatenate([kept[..., :-1], highest], axis=-1)
