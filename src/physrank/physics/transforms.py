"""Fourier and sine transforms, as products with a matrix where those are faster: on small grids.

A fast transform of a hundred numbers spends most of its time on being called, and a march calls it thousands of times.
"""

from functools import lru_cache

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from physrank import _division

FOURIER_FROM = 97  # points from which a fast transform beats the product with a matrix, in a march
SINE_FROM = 160  # interior nodes a side, in two dimensions and single precision


@lru_cache(maxsize=16)
def waves(points: int) -> tuple[np.ndarray, np.ndarray]:
    """cos and −sin of 2π j k / n, (points, modes)."""
    angle = 2 * np.pi / points * (np.outer(np.arange(points), np.arange(points // 2 + 1)) % points)
    return np.cos(angle), -np.sin(angle)


@lru_cache(maxsize=16)
def inverse_waves(points: int) -> tuple[np.ndarray, np.ndarray]:
    """What real and imaginary parts of the modes are multiplied with, (modes, points)."""
    modes = np.arange(points // 2 + 1)
    weight = np.where((modes == 0) | (2 * modes == points), 1.0, 2.0) / points
    cosine, sine = waves(points)
    return weight[:, None] * cosine.T, weight[:, None] * sine.T


def rfft(values: Array) -> Array:
    """As `jax.numpy.fft.rfft`, along the last axis."""
    points = values.shape[-1]
    if points >= FOURIER_FROM:
        return jnp.fft.rfft(values)
    cosine, sine = waves(points)
    return jax.lax.complex(values @ jnp.asarray(cosine), values @ jnp.asarray(sine))


def irfft(spectrum: Array, n: int) -> Array:
    """As `jax.numpy.fft.irfft`, along the last axis."""
    if n >= FOURIER_FROM:
        return jnp.fft.irfft(spectrum, n=n)
    cosine, sine = inverse_waves(n)
    return spectrum.real @ jnp.asarray(cosine) + spectrum.imag @ jnp.asarray(sine)


def sine_transform(x: Array, back: bool = False) -> Array:
    """The orthonormal sine transform along every axis; once more, `back`, it gives `x`."""

    def one(axis: int, x: Array) -> Array:
        points = x.shape[axis]
        return (
            _fast(axis, x) if points >= SINE_FROM else along(axis, jnp.asarray(low_sines(points, points), x.dtype), x)
        )

    return _division.transformed(one, x, x.ndim, back)


@lru_cache(maxsize=32)
def low_sines(points: int, modes: int) -> np.ndarray:
    """The first rows of the orthonormal sine matrix: all that smooth fields need."""
    turns = np.outer(np.arange(1, modes + 1), np.arange(1, points + 1)) % (2 * (points + 1))
    return np.sqrt(2 / (points + 1)) * np.sin(np.pi / (points + 1) * turns)


def along(axis: int, matrix: Array, x: Array) -> Array:
    """A matrix applied along one axis; plain products where they do, since those batch best."""
    if axis == x.ndim - 1:
        return x @ matrix.T
    if axis == x.ndim - 2:
        return matrix @ x
    return jnp.moveaxis(jnp.tensordot(matrix, x, axes=(1, axis)), 0, axis)


def orthogonal_transform(matrix: Array, x: Array, back: bool = False) -> Array:
    """A transform whose modes are the rows of an orthogonal matrix, along the last two axes; or its inverse."""
    rows = matrix.T if back else matrix
    return _division.transformed(lambda axis, x: along(axis, rows, x), x, 2, back)


def _fast(axis: int, x: Array) -> Array:
    """The same with the sine matrix: the imaginary part of the Fourier transform of the odd extension."""
    x = jnp.moveaxis(x, axis, -1)
    points, zero = x.shape[-1], jnp.zeros_like(x[..., :1])
    odd = jnp.concatenate([zero, x, zero, -x[..., ::-1]], axis=-1)
    modes = -jnp.imag(jnp.fft.rfft(odd))[..., 1 : points + 1] * np.asarray(np.sqrt(0.5 / (points + 1)), x.dtype)
    return jnp.moveaxis(modes, -1, axis)
