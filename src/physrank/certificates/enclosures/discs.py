"""Numbers known up to a disc, real or complex: a centre that was computed and a radius that holds the truth.

    x ∈ centre ± radius,   e.g.   x y ∈ c_x c_y ± (|c_x| r_y + |c_y| r_x + r_x r_y + 4u |c_x c_y|)

A radius that is not a number says nothing. Every other contains the rounding of its centre, and is enlarged by 2⁻⁴⁰ for its
own. Elementary functions of real numbers are taken to be right to 16 units in the last place, as everywhere in certificates
of kind "theorem".
"""

from dataclasses import dataclass
from typing import Any, Union

import numpy as np
from numpy.typing import ArrayLike

from physrank.certificates.enclosures.rounding import UNIT, gamma
from physrank.geometry.space import Array

ENLARGED = 1 + 2.0**-40
TINY = 2.0**-1000  # above what underflow takes from a product
FUNCTION = 64 * UNIT  # of a complex elementary function, made of a few real ones


class NotAnalytic(ValueError):
    """What was asked for has no enclosure by discs: it is not analytic where it was asked for."""


@dataclass(frozen=True, eq=False)
class Disc:
    """Arrays of discs."""

    centre: Any  # an array, real or complex
    radius: Any

    __array_ufunc__ = None  # array ∘ disc is ours

    @classmethod
    def of(cls, value: "Operand") -> "Disc":
        """Numbers as they are stored, without a width."""
        if isinstance(value, Disc):
            return value
        array = np.asarray(value)
        return cls(array, np.zeros(array.shape))

    @classmethod
    def rounded(cls, centre: Any, radius: Any, error: float = 4 * UNIT) -> "Disc":
        """A centre that was computed with a relative error, and what its disc must hold besides."""
        with np.errstate(all="ignore"):
            return cls(centre, ENLARGED * (radius + error * np.abs(centre)) + TINY)

    @property
    def size(self) -> Array:
        """The largest absolute value in each disc."""
        return ENLARGED * (np.abs(self.centre) + self.radius)

    @property
    def largest(self) -> float:
        """Of all."""
        found = float(np.max(self.size))
        return np.inf if np.isnan(found) else found

    @property
    def least(self) -> float:
        """The smallest real part of all."""
        return float(np.min(np.real(self.centre) - ENLARGED * self.radius - 4 * UNIT * np.abs(self.centre)))

    def __neg__(self) -> "Disc":
        return Disc(-self.centre, self.radius)

    def __add__(self, other: "Operand") -> "Disc":
        other = Disc.of(other)
        with np.errstate(all="ignore"):
            return Disc.rounded(self.centre + other.centre, self.radius + other.radius)

    __radd__ = __add__

    def __sub__(self, other: "Operand") -> "Disc":
        return self + -Disc.of(other)

    def __rsub__(self, other: "Operand") -> "Disc":
        return Disc.of(other) + -self

    def __mul__(self, other: "Operand") -> "Disc":
        other = Disc.of(other)
        a, b, p, q = np.abs(self.centre), np.abs(other.centre), self.radius, other.radius
        with np.errstate(all="ignore"):
            return Disc(self.centre * other.centre, ENLARGED * (a * (q + 4 * UNIT * b) + p * (b + q)) + TINY)

    __rmul__ = __mul__

    def inverse(self) -> "Disc":
        """1/x, for discs that all lie on one side of the imaginary axis.

        Of an analytic x, that holds inside of a domain where it holds on the boundary: the real part has its extremes there.
        """
        if not (self.least > 0 or (-self).least > 0):
            raise NotAnalytic("it divides by what may vanish")
        size = np.abs(self.centre)
        with np.errstate(all="ignore"):
            return Disc.rounded(1 / self.centre, self.radius / (size * (size - self.radius)), 16 * UNIT)

    def __truediv__(self, other: "Operand") -> "Disc":
        return self * Disc.of(other).inverse()

    def __rtruediv__(self, other: "Operand") -> "Disc":
        return Disc.of(other) * self.inverse()

    def __pow__(self, exponent: float) -> "Disc":
        if exponent != int(exponent):
            return (self.log() * float(exponent)).exp()
        if exponent < 0:
            return self.inverse() ** -exponent
        found = Disc.of(np.ones(()))
        for _ in range(int(exponent)):
            found = found * self
        return found

    def exp(self) -> "Disc":
        x, y = np.real(self.centre), np.imag(self.centre)
        with np.errstate(all="ignore"):
            size = np.exp(x)
            centre = size * (np.cos(y) + 1j * np.sin(y)) if np.iscomplexobj(self.centre) else size
            return Disc.rounded(centre, size * (np.expm1(self.radius) + FUNCTION))

    def sin(self) -> "Disc":
        return self._waves()[0]

    def cos(self) -> "Disc":
        return self._waves()[1]

    def _waves(self) -> tuple["Disc", "Disc"]:
        """|sin(c + d) − sin c| ≤ |sin c| (cosh r − 1) + |cos c| sinh r for |d| ≤ r, and the other way round."""
        x, y = np.real(self.centre), np.imag(self.centre)
        with np.errstate(all="ignore"):
            if np.iscomplexobj(self.centre):
                sine = np.sin(x) * np.cosh(y) + 1j * np.cos(x) * np.sinh(y)
                cosine = np.cos(x) * np.cosh(y) - 1j * np.sin(x) * np.sinh(y)
            else:
                sine, cosine = np.sin(x), np.cos(x)
            off, bent, straight = FUNCTION * np.cosh(y), 2 * np.sinh(self.radius / 2) ** 2, np.sinh(self.radius)
            bent, straight = bent * (1 + FUNCTION), straight * (1 + FUNCTION)
            p, q = np.abs(sine) + off, np.abs(cosine) + off
            return (
                Disc.rounded(sine, p * bent + q * straight + off),
                Disc.rounded(cosine, q * bent + p * straight + off),
            )

    def log(self) -> "Disc":
        if not self.least > 0:
            raise NotAnalytic("it takes the logarithm of what may not be positive")
        size = np.abs(self.centre)
        with np.errstate(all="ignore"):
            centre = np.log(self.centre)
            return Disc.rounded(
                centre, (1 + FUNCTION) * -np.log1p(-self.radius / size) + FUNCTION * (1 + np.abs(centre))
            )

    def sqrt(self) -> "Disc":
        """Both roots are within π/4 of the axis, so |√(c + d) + √c| ≥ |√c|."""
        if not self.least > 0:
            raise NotAnalytic("it takes the root of what may not be positive")
        centre = np.sqrt(self.centre)
        return Disc.rounded(centre, self.radius / np.abs(centre) * (1 + FUNCTION), FUNCTION)

    def along(self, axis: int, matrix: "Disc") -> "Disc":
        """Σ_k matrix[·, k] x[…, k, …]: sums of n products are within γ of the sums of their sizes, in any order."""

        def apply(a: Array, x: Array) -> Array:
            return np.moveaxis(np.tensordot(a, x, (1, axis)), 0, axis)

        a, x = np.abs(matrix.centre), np.abs(self.centre)
        terms = a.shape[1]
        with np.errstate(all="ignore"):
            reach = apply(a, self.radius + gamma(terms + 4) * x)
            if np.any(matrix.radius):
                reach = reach + apply(matrix.radius, x + self.radius)
            return Disc.rounded(apply(matrix.centre, self.centre), reach + terms * TINY)


Operand = Union[Disc, ArrayLike]  # noqa: UP007  (a name in quotes cannot stand in X | Y)
