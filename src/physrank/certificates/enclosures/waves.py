"""Trigonometric polynomials and their values on a grid, enclosed: sums with tables of cosines, no library's transform.

For real u = Σ_{|k| ≤ K} c_k e^{2πikx/L} and N even, with E and O the even and the odd part of u on the points j = 0 … N/2,

    E_j = Re c_0 + Σ 2 Re c_k cos(2πjk/N),   O_j = −Σ 2 Im c_k sin(2πjk/N),

a sum of K + 1 products errs by at most (γ_{K+2} + τ) Σ 2|c_k|, τ the error of the tables. So does the way back.
"""

from functools import lru_cache

import numpy as np

from physrank import _optional
from physrank.certificates.enclosures.matrices import contracted
from physrank.certificates.enclosures.rounding import UNIT, Interval, above, below, gamma
from physrank.geometry.space import Array

LOST = 2.0**-900  # more than underflow can take from a sum of products of tables and numbers


@lru_cache(maxsize=8)
def turns(points: int) -> Interval:
    """cos(2πk/n), k = 0 … n − 1."""
    iv = _optional.load("mpmath").iv
    ends = []
    for k in range(points):
        value = iv.cos(2 * iv.pi * k / points)
        ends.append((float(value.a), float(value.b)))
    low, high = np.array(ends).T
    return Interval(below(low), above(high))


def tables(points: int, rows: np.ndarray, columns: np.ndarray) -> tuple[Interval, Interval]:
    """cos(2πjk/n) and sin(2πjk/n)."""
    found, product = turns(points), np.outer(rows, columns) % points
    if points % 4 == 0:
        return found[product], found[(product - points // 4) % points]
    quarters = turns(4 * points)  # sin(2πm/n) = cos(2π(4m − n)/4n)
    return found[product], quarters[(4 * product - points) % (4 * points)]


def coefficients(rows: Array) -> Interval:
    """Real and imaginary parts `(2, …, n/2 + 1)` of the coefficients of interpolants of real rows, enclosed."""
    n = rows.shape[-1]
    cosine, sine = tables(n, np.arange(n // 2 + 1), np.arange(n))
    flat = Interval.of(np.reshape(rows, (-1, n)))
    parts = [contracted(flat, cosine), -contracted(flat, sine)]
    scale = np.full(n // 2 + 1, float(n))
    scale[-1] = n if n % 2 else 2 * n  # the last coefficient of an even grid stands for both ±n/2
    found = Interval(np.stack([p.low for p in parts]), np.stack([p.high for p in parts])) / scale
    return found.reshape(2, *rows.shape[:-1], n // 2 + 1)


class ProductGrid:
    """N = 4K + 4 points: products of two polynomials of degree K, of degree 2K, are found without aliasing."""

    def __init__(self, degree: int):
        self.degree, self.points = degree, 4 * degree + 4
        half = np.arange(self.points // 2 + 1)
        found = [t.ball for t in tables(self.points, np.arange(2 * degree + 1), half)]
        self.cosine, self.sine = (middle for middle, _ in found)
        self.off = float(above(np.asarray(np.max([radius for _, radius in found]))))  # τ

    def values(self, c: Interval) -> tuple[Array, Array, Array, Array]:
        """Even and odd part `(…, N/2 + 1)` for coefficients `(2, …, K + 1)`, and what each is off by at most, `(…)`."""
        (real, imaginary), (doubt, other) = c.ball
        twice = np.full(self.degree + 1, 2.0)
        twice[0] = 1.0
        even = (real * twice) @ self.cosine[: self.degree + 1]
        odd = (imaginary * -twice) @ self.sine[: self.degree + 1]
        share, grow = gamma(self.degree + 6) + self.off, 1 + gamma(self.degree + 6)

        def off(part: Array, radius: Array) -> Array:
            return above(grow * np.sum(twice * (share * np.abs(part) + radius), axis=-1) * (1 + 2.0**-50) + LOST)

        return even, odd, off(real, doubt), off(imaginary, other)

    def square(self, c: Interval) -> tuple[Array, Array, Array]:
        """Modes 0 … 2K of u², `(2, …, 2K + 1)`; what they are off by: together in ℓ² over all N modes, and each besides."""
        even, odd, e, o = self.values(c)
        tall, wide = np.max(np.abs(even), axis=-1), np.max(np.abs(odd), axis=-1)
        up = 1 + 2.0**-40  # covers the roundings of these few sums of positive numbers
        off = up * (2 * tall * e + e**2 + 2 * wide * o + o**2 + 2 * (tall * o + wide * e + e * o))
        together = up * (off + 8 * UNIT * (tall + wide) ** 2) + LOST
        weights = np.full(even.shape[-1], 2.0)
        weights[[0, -1]] = 1.0
        straight, crossed = (even**2 + odd**2) * weights, 2 * even * odd * weights
        count = even.shape[-1]
        modes = np.stack([straight @ self.cosine.T, -(crossed @ self.sine.T)]) / self.points
        sizes = np.sum(np.abs(straight) + np.abs(crossed), axis=-1) / self.points
        return modes, together, up * (gamma(count + 8) + self.off) * sizes + LOST
