"""Numbers of twice the precision: an unevaluated sum of two doubles, with a bound of what it is off by.

Sums and products of doubles are split without error into a double and a remainder that is one too (Knuth; Dekker and
Veltkamp): NumPy rounds every operation by itself, so nothing is contracted. What a residual loses by cancellation is then
about 2⁻¹⁰⁰ of its terms instead of 2⁻⁵³.
"""

from dataclasses import dataclass
from typing import Any, Union

import numpy as np
from numpy.typing import ArrayLike

from physrank.certificates.enclosures.rounding import UNIT, Interval, above, below
from physrank.geometry.space import Array

ENLARGED = 1 + 2.0**-40  # a bound is computed by few operations
SPLITTER = 2.0**27 + 1
LOST = 2.0**-1050  # above what underflow takes from a split product


def two_sum(a: Array, b: Array) -> tuple[Array, Array]:
    """s + e = a + b exactly, s the rounded sum."""
    s = a + b
    part = s - a
    return s, (a - (s - part)) + (b - part)


def two_product(a: Array, b: Array) -> tuple[Array, Array]:
    """p + e = a b exactly, p the rounded product, unless something overflows or falls below 2⁻⁹⁶⁹."""
    p = a * b
    (a1, a2), (b1, b2) = _split(a), _split(b)
    return p, ((a1 * b1 - p) + a1 * b2 + a2 * b1) + a2 * b2


def _split(a: Array) -> tuple[Array, Array]:
    """a as the sum of two numbers of 26 bits."""
    c = SPLITTER * a
    high = c - (c - a)
    return high, a - high


@dataclass(frozen=True, eq=False)
class DoubleDouble:
    """Arrays of numbers high + low ± error; a bound that is not a number says nothing."""

    high: Any
    low: Any
    error: Any

    __array_ufunc__ = None  # array ∘ number is ours

    @classmethod
    def of(cls, value: "Operand") -> "DoubleDouble":
        """Doubles as they are stored."""
        if isinstance(value, DoubleDouble):
            return value
        array = np.asarray(value, np.float64)
        return cls(array, np.zeros(array.shape), np.zeros(array.shape))

    @property
    def size(self) -> Array:
        return np.abs(self.high) + np.abs(self.low)

    def __getitem__(self, key: Any) -> "DoubleDouble":
        return DoubleDouble(self.high[key], self.low[key], self.error[key])

    def __neg__(self) -> "DoubleDouble":
        return DoubleDouble(-self.high, -self.low, self.error)

    def __add__(self, other: "Operand") -> "DoubleDouble":
        other = DoubleDouble.of(other)
        with np.errstate(all="ignore"):
            s, e = two_sum(self.high, other.high)
            small = self.low + other.low
            rest = e + small
            high, low = two_sum(s, rest)
            lost = UNIT * (np.abs(small) + np.abs(rest))
            return DoubleDouble(high, low, ENLARGED * (self.error + other.error + lost))

    __radd__ = __add__

    def __sub__(self, other: "Operand") -> "DoubleDouble":
        return self + -DoubleDouble.of(other)

    def __rsub__(self, other: "Operand") -> "DoubleDouble":
        return DoubleDouble.of(other) + -self

    def __mul__(self, other: "Operand") -> "DoubleDouble":
        other = DoubleDouble.of(other)
        with np.errstate(all="ignore"):
            p, e = two_product(self.high, other.high)
            first, second = self.high * other.low, self.low * other.high
            rest = e + (first + second)
            high, low = two_sum(p, rest)
            lost = 4 * UNIT * (np.abs(first) + np.abs(second) + np.abs(e)) + np.abs(self.low * other.low)
            off = self.size * other.error + other.size * self.error + self.error * other.error
            return DoubleDouble(high, low, ENLARGED * (off + lost) + LOST)

    __rmul__ = __mul__

    def __truediv__(self, other: "Operand") -> "DoubleDouble":
        """q = q₁ + q₂ by two steps of division; |q − a/b| = |q b − a| / |b|, with q b − a computed."""
        other = DoubleDouble.of(other)
        with np.errstate(all="ignore"):
            first = self.high / other.high
            left = self - other * first
            high, low = two_sum(first, left.high / other.high)
            found = DoubleDouble(high, low, np.zeros(np.shape(high)))
            off = found * other - self
            least = (1 - 2.0**-40) * (np.abs(other.high) - np.abs(other.low) - other.error)
            return DoubleDouble(
                high, low, np.where(least > 0, ENLARGED * ((off.size + off.error) / least + LOST), np.inf)
            )

    def __rtruediv__(self, other: "Operand") -> "DoubleDouble":
        return DoubleDouble.of(other) / self

    def interval(self) -> Interval:
        """Two doubles between which it lies."""
        with np.errstate(all="ignore"):
            low = np.asarray(below(self.high + below(self.low - self.error)))
            high = np.asarray(above(self.high + above(self.low + self.error)))
        return Interval(np.where(np.isnan(low), -np.inf, low), np.where(np.isnan(high), np.inf, high))


Operand = Union[DoubleDouble, ArrayLike]  # noqa: UP007  (a name in quotes cannot stand in X | Y)
