"""Polynomials on the pieces of a time axis: from their ends, integrated exactly, through samples.

A piece is θ ∈ [0, 1]. In Bernstein form, p(θ) = Σ_k b_k(θ) c_k with b_k ≥ 0 and Σ b_k = 1: whatever is convex in p is
bounded by its values at the coefficients, and ∫ b_k = 1 / (degree + 1). Coefficients are on the leading axis.
"""

from functools import lru_cache
from math import comb

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array as JaxArray
from numpy.typing import NDArray

from physrank.geometry.space import Array

Jet = tuple[JaxArray, JaxArray, JaxArray]  # value, first and second derivative in θ

SAMPLES_DEGREE = 8  # of the polynomial through samples: more of them, equally spaced, would amplify round-off


def cubic(start: tuple[JaxArray, JaxArray], end: tuple[JaxArray, JaxArray]) -> JaxArray:
    """The cubic with the given values and derivatives at θ = 0 and θ = 1."""
    (p, dp), (q, dq) = start, end
    return jnp.stack([p, p + dp / 3, q - dq / 3, q])


def quintic(start: Jet, end: Jet) -> JaxArray:
    """The quintic with the given jets at θ = 0 and θ = 1."""
    (p, dp, ddp), (q, dq, ddq) = start, end
    return jnp.stack([p, p + dp / 5, p + 2 * dp / 5 + ddp / 20, q - 2 * dq / 5 + ddq / 20, q - dq / 5, q])


def derivative(c: JaxArray) -> JaxArray:
    """dp/dθ, written in the degree of p: k (c_k − c_{k−1}) + (degree − k) (c_{k+1} − c_k)."""
    slopes = jnp.diff(c, axis=0)
    k = jnp.arange(1, len(c), dtype=c.dtype).reshape(-1, *[1] * (c.ndim - 1))
    none = jnp.zeros_like(c[:1])
    return jnp.concatenate([none, k * slopes]) + jnp.concatenate([k[::-1] * slopes, none])


def evaluate(c: JaxArray, at: Array) -> JaxArray:
    """p at the given θ, which take the place of the leading axis."""
    degree, theta = len(c) - 1, np.asarray(at)[:, None]
    k = np.arange(degree + 1)
    binomials = np.array([float(comb(degree, i)) for i in k])
    return combined(binomials * theta**k * (1 - theta) ** (degree - k), c)


def combined(weights: Array, c: JaxArray) -> JaxArray:
    """Sums over the leading axis with real weights, which may be those of complex numbers."""
    return jnp.tensordot(jnp.asarray(weights, c.dtype), c, 1)


def gauss(degree: int) -> tuple[Array, Array]:
    """Nodes and positive weights on [0, 1] that integrate every polynomial of this degree exactly."""
    nodes, weights = np.polynomial.legendre.leggauss(degree // 2 + 1)
    return (nodes + 1) / 2, weights / 2


@lru_cache(maxsize=16)
def sample_matrices(substeps: int, at: tuple[float, ...]) -> tuple[Array, Array]:
    """From 2 · substeps + 1 samples at ends and middles of a row's substeps to their interpolant on each substep.

    On a substep it is the polynomial through the nearest nine samples of the row, or through all if there are fewer; its
    own two ends are among them, so the interpolant is continuous. Returns its values at the given θ, `(substeps, at,
    samples)`, and its slopes in θ at the two ends, `(substeps, 2, samples)`.
    """
    samples, degree = 2 * substeps + 1, min(2 * substeps, SAMPLES_DEGREE)
    values, slopes = np.zeros((substeps, len(at), samples)), np.zeros((substeps, 2, samples))
    for j in range(substeps):
        first = int(np.clip(2 * j + 1 - degree // 2, 0, samples - 1 - degree))
        window = np.arange(first, first + degree + 1)
        nodes = window / 2 - j
        values[j][:, window] = lagrange(nodes, np.array(at, complex)).real
        # A complex step differentiates the products without cancellation.
        slopes[j][:, window] = lagrange(nodes, np.array([0, 1]) + 1e-30j).imag / 1e-30
    return values, slopes


def lagrange(nodes: Array, at: NDArray[np.complex128]) -> NDArray[np.complex128]:
    """ℓ_m(θ) = Π_{p ≠ m} (θ − θ_p) / (θ_m − θ_p) as a matrix `(at, nodes)`."""
    own = np.eye(len(nodes), dtype=bool)
    distance = np.where(own, 1.0, nodes[:, None] - nodes)
    return np.prod(np.where(own, 1.0, (at[:, None, None] - nodes) / distance), axis=-1)
