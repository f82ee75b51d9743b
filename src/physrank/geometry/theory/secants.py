"""Secants: how a defect and a finite error are related exactly, by tangents at points that the error itself names.

`tangent(at, h)` is DA(at) h throughout, and `solve(at, r)` is DA(at)⁻¹ r.
"""

from collections.abc import Callable, Iterator

import numpy as np

from physrank.geometry.space import Array

Applied = Callable[[Array, Array], Array]


def gauss_secant(tangent: Applied, start: Array, error: Array, nodes: int) -> Array:
    """Σ ω_j DA(v + c_j e) e with Gauss's nodes on [0, 1]: A(v + e) − A(v) exactly for polynomials of degree ≤ 2·nodes.

    One node is the midpoint, exact for a quadratic operator such as the Burgers nonlinearity; a cubic reaction needs two.
    Of anything else, a time step composed of quadratic stages included, it is an approximation.
    """
    places, weights = np.polynomial.legendre.leggauss(nodes)
    terms = [w / 2 * tangent(start + (1 + c) / 2 * error, error) for c, w in zip(places, weights, strict=True)]
    return np.sum(terms, axis=0)


def bilinear(tangent: Applied, at: Array, p: Array, z: Array) -> Array:
    """B(p, z) of a quadratic operator A(w) = L₀w + B(w, w) − f, from its tangents: DA(v + p) z − DA(v) z = 2B(p, z)."""
    return (tangent(at + p, z) - tangent(at, z)) / 2


def midpoint_corrections(solve: Applied, start: Array, defect: Array) -> Iterator[Array]:
    """c₀ = −DA(v)⁻¹ A(v), then c_{n+1} = −DA(v + c_n/2)⁻¹ A(v): the defect stays, the point of linearisation moves.

    For a quadratic operator c_{n+1} − e = −DA(v + c_n/2)⁻¹ B(c_n − e, e) exactly, so that c_n − e = O(‖e‖^{n+2}).
    """
    correction = solve(start, -defect)
    while True:
        yield correction
        correction = solve(start + correction / 2, -defect)
