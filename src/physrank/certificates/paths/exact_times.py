"""Polynomials in time on a substep, in exact rational arithmetic: nodes, bases at the nodes, and a quadrature that bounds.

Nodes θ_i are Gauss's, rounded to multiples of 2⁻⁴⁰, so that all of these are rational. With ℓ_i the Lagrange basis,

    ∫ ‖p‖² dθ = Σ_ij M_ij ⟨p(θ_i), p(θ_j)⟩ ≤ Σ_i ω_i ‖p(θ_i)‖²,   M_ij = ∫ ℓ_i ℓ_j dθ,   ω_i = Σ_j |M_ij|,

for every polynomial of degree below their number. Were the nodes exact, M would be diagonal.
"""

from fractions import Fraction
from functools import lru_cache
from math import comb, prod

import numpy as np

from physrank.certificates.enclosures.rounding import Interval, above, below
from physrank.certificates.paths.time_polynomials import SAMPLES_DEGREE, gauss
from physrank.geometry.space import Array

SCALE = 2**40


@lru_cache(maxsize=4)
def nodes(count: int) -> tuple[Fraction, ...]:
    return tuple(Fraction(round(float(theta) * SCALE), SCALE) for theta in gauss(2 * count - 1)[0])


@lru_cache(maxsize=4)
def weights(count: int) -> Array:
    """Upper bounds of ω_i."""
    whole = [int(theta * SCALE) for theta in nodes(count)]
    numerators, denominators = [], []
    for i, own in enumerate(whole):
        others = [t for k, t in enumerate(whole) if k != i]
        numerators.append(_product_of_roots(others))
        denominators.append(prod(own - t for t in others))
    found = []
    for p, a in zip(numerators, denominators, strict=True):
        row = [Fraction(_integral(_times(p, q)), a * b) for q, b in zip(numerators, denominators, strict=True)]
        found.append(float(above(np.asarray(float(sum(map(abs, row)) / SCALE)))))
    return np.array(found)


def _product_of_roots(roots: list[int]) -> list[int]:
    """Coefficients of Π (x − root), from the lowest."""
    found = [1]
    for root in roots:
        found = [a - root * b for a, b in zip([0, *found], [*found, 0], strict=True)]
    return found


def _times(p: list[int], q: list[int]) -> list[int]:
    found = [0] * (len(p) + len(q) - 1)
    for i, a in enumerate(p):
        for j, b in enumerate(q):
            found[i + j] += a * b
    return found


def _integral(p: list[int]) -> Fraction:
    """Over [0, SCALE]."""
    return sum((Fraction(a * SCALE ** (k + 1), k + 1) for k, a in enumerate(p)), Fraction(0))


def bernstein(degree: int, count: int) -> Interval:
    """b_k(θ_i), `(nodes, degree + 1)`."""
    return _enclosed(
        [[comb(degree, k) * t**k * (1 - t) ** (degree - k) for k in range(degree + 1)] for t in nodes(count)]
    )


@lru_cache(maxsize=8)
def samples(substeps: int, count: int) -> Interval:
    """`time_polynomials.sample_matrices` at the nodes: `(substeps · nodes, samples)`."""
    total, degree = 2 * substeps + 1, min(2 * substeps, SAMPLES_DEGREE)
    rows = []
    for j in range(substeps):
        first = min(max(2 * j + 1 - degree // 2, 0), total - 1 - degree)
        own = {m: Fraction(m, 2) - j for m in range(first, first + degree + 1)}
        for theta in nodes(count):
            row = [Fraction(0)] * total
            for m, at in own.items():
                row[m] = prod(((theta - p) / (at - p) for k, p in own.items() if k != m), start=Fraction(1))
            rows.append(row)
    return _enclosed(rows)


def _enclosed(rows: list[list[Fraction]]) -> Interval:
    """A fraction lies between the neighbours of the nearest number; zero is zero."""
    values = np.array([[float(x) for x in row] for row in rows])
    return Interval(np.where(values == 0, 0.0, below(values)), np.where(values == 0, 0.0, above(values)))
