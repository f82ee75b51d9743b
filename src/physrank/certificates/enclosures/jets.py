"""Functions of space as their users write them, in NumPy, evaluated on discs together with their gradients.

A coordinate is a `Jet`; what a function makes of it by `+ − * / **`, `np.exp`, `np.sin`, … is one too. What is not analytic
(`np.abs`, `np.where`, a comparison) has no enclosure and raises.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any, NoReturn

import numpy as np

from physrank.certificates.enclosures.discs import Disc, NotAnalytic
from physrank.geometry.space import Array

Function = Callable[..., Any]


@dataclass(frozen=True, eq=False)
class Jet:
    """A value and its derivatives along the axes; None: it does not depend on that coordinate."""

    value: Disc
    slopes: tuple[Disc | None, ...]

    def _of(self, value: Disc, slope: Disc) -> "Jet":
        """g(x), with the chain rule."""
        return Jet(value, tuple(None if s is None else slope * s for s in self.slopes))

    def _other(self, given: Any) -> "Jet":
        if isinstance(given, Jet):
            return given
        if isinstance(given, Real) or (isinstance(given, np.ndarray) and given.ndim == 0 and given.dtype.kind in "fiu"):
            stored = float(given)
            number = Disc.of(stored) if stored == given else Disc.rounded(stored, 0.0)  # a fraction has none
            return Jet(number, (None,) * len(self.slopes))
        raise NotAnalytic(f"it combines a coordinate with {type(given).__name__}, not with a number")

    def __neg__(self) -> "Jet":
        return self._of(-self.value, Disc.of(-1.0))

    def __pos__(self) -> "Jet":
        return self

    def __add__(self, other: Any) -> "Jet":
        other = self._other(other)
        pairs = zip(self.slopes, other.slopes, strict=True)
        return Jet(self.value + other.value, tuple(_sum(p, q) for p, q in pairs))

    __radd__ = __add__

    def __sub__(self, other: Any) -> "Jet":
        return self + -self._other(other)

    def __rsub__(self, other: Any) -> "Jet":
        return self._other(other) + -self

    def __mul__(self, other: Any) -> "Jet":
        other = self._other(other)
        left = self._of(self.value, other.value).slopes
        right = other._of(other.value, self.value).slopes
        return Jet(self.value * other.value, tuple(_sum(p, q) for p, q in zip(left, right, strict=True)))

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> "Jet":
        return self * self._other(other).reciprocal()

    def __rtruediv__(self, other: Any) -> "Jet":
        return self._other(other) * self.reciprocal()

    def __pow__(self, exponent: Any) -> "Jet":
        power = self._other(exponent)
        if not _constant(power):  # a fraction that is no double
            return (power * self.log()).exp()
        n = float(power.value.centre)
        if n == 0:
            return self._other(1.0)
        return self._of(self.value**n, self.value ** (n - 1) * n)

    def __rpow__(self, base: Any) -> "Jet":
        other = self._other(base)
        return (self * Jet(other.value.log(), other.slopes)).exp()

    def reciprocal(self) -> "Jet":
        found = self.value.inverse()
        return self._of(found, -(found * found))

    def square(self) -> "Jet":
        return self * self

    def exp(self) -> "Jet":
        found = self.value.exp()
        return self._of(found, found)

    def sin(self) -> "Jet":
        return self._of(self.value.sin(), self.value.cos())

    def cos(self) -> "Jet":
        return self._of(self.value.cos(), -self.value.sin())

    def log(self) -> "Jet":
        return self._of(self.value.log(), self.value.inverse())

    def sqrt(self) -> "Jet":
        found = self.value.sqrt()
        return self._of(found, found.inverse() * 0.5)

    def cosh(self) -> "Jet":
        return 0.5 * (self.exp() + (-self).exp())

    def sinh(self) -> "Jet":
        return 0.5 * (self.exp() - (-self).exp())

    def tanh(self) -> "Jet":
        return 1.0 - 2.0 / ((2.0 * self).exp() + 1.0)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> "Jet":
        if method != "__call__" or options or ufunc.__name__ not in (*ARITHMETIC, *NAMED):
            raise NotAnalytic(
                f"it uses np.{ufunc.__name__}, which has no enclosure; what has one: + − * / ** and np.{', np.'.join(NAMED)}"
            )
        first, *rest = (self._other(given) for given in inputs)
        name = ufunc.__name__
        return ARITHMETIC[name](first, *rest) if name in ARITHMETIC else getattr(first, name)()

    def _refuse(self, *_: Any) -> NoReturn:
        raise NotAnalytic(
            "it compares coordinates (np.where, jnp.where, if), and a proof needs one formula for a whole box; where data "
            "jump across lines, give RoughReactionDiffusion(…) a physrank.certificates.Pieces(breaks=…, values=…): a "
            "formula or number on each side"
        )

    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = __bool__ = _refuse
    __hash__ = None  # pyright: ignore[reportAssignmentType]


NAMED = ("exp", "sin", "cos", "log", "sqrt", "cosh", "sinh", "tanh", "square", "reciprocal")
ARITHMETIC: dict[str, Callable[..., Jet]] = {
    "add": lambda x, y: x + y,
    "subtract": lambda x, y: x - y,
    "multiply": lambda x, y: x * y,
    "divide": lambda x, y: x / y,
    "power": lambda x, y: x**y,
    "negative": lambda x: -x,
    "positive": lambda x: x,
}


def _constant(jet: Jet) -> bool:
    return all(slope is None for slope in jet.slopes) and np.ndim(jet.value.centre) == 0 and jet.value.radius == 0


def _sum(left: Disc | None, right: Disc | None) -> Disc | None:
    return right if left is None else left if right is None else left + right


def evaluated(function: Function | float, coordinates: list[Disc], *, gradient: bool = True) -> tuple[Disc, list[Disc]]:
    """A function and its gradient on discs, one array per axis; a number is a constant function."""
    dims = len(coordinates)
    one, none = Disc.of(1.0) if gradient else None, (None,) * dims
    given = [Jet(x, (*none[:d], one, *none[d + 1 :])) for d, x in enumerate(coordinates)]
    found = function(*given) if callable(function) else function
    found = found.item() if isinstance(found, np.ndarray) and found.ndim == 0 else found
    jet = given[0]._other(found)
    return jet.value, [Disc.of(0.0) if slope is None else slope for slope in jet.slopes]


def is_pointwise(function: Function, places: Sequence[Array]) -> bool:
    """Whether it makes the same of discs as of arrays: `x - np.mean(x)` does not."""
    values, discs = function(*places), evaluated(function, [Disc.of(x) for x in places], gradient=False)[0]
    scale = np.max(np.abs(values)) + np.max(discs.radius) + 1e-300
    return bool(np.max(np.abs(values - discs.centre)) <= 1e-9 * scale)
