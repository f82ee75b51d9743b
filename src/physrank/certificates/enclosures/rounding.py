"""Validated arithmetic on arrays: intervals whose ends are rounded outwards, and rigorous sums.

IEEE arithmetic returns the floating-point number nearest to the true result, so the true result lies between the two
neighbours of what was returned. Every operation here moves its ends to those neighbours or beyond.
"""

from dataclasses import dataclass
from typing import Union

import numpy as np
from numpy.typing import ArrayLike

from physrank.geometry.space import Array

UNIT = 2.0**-53
_ABOVE_UNIT = UNIT * (1 + 2.0**-52)
SMALLEST = 2.0**-1074


def below(x: Array) -> Array:
    """At most the next floating-point number below x; NaN for an infinite x.

    The bound of Rump, Zimmermann, Boldo and Melquiond (2009): several times faster than `nextafter`.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        return x - _step(x)


def above(x: Array) -> Array:
    """At least the next floating-point number above x; NaN for an infinite x."""
    with np.errstate(over="ignore", invalid="ignore"):
        return x + _step(x)


def _step(x: Array) -> Array:
    step = np.abs(x)
    step = np.multiply(step, _ABOVE_UNIT, out=step if isinstance(step, np.ndarray) else None)  # without a second array
    step += SMALLEST
    return step


def rounds_to_nearest() -> bool:
    """Whether this thread's arithmetic is what all bounds here assume: to nearest, with gradual underflow.

    Other programs may have told the processor otherwise (`torch.set_flush_denormal`), so it is asked each time.
    """
    one, small = np.ones(8), np.full(8, 2.0**-1022)
    kept = np.all(small / 2 * 2 == small) and np.all(small / 2 > 0) and np.all((small * (1 + 2.0**-52) - small) > 0)
    nearest = np.all(one + 2.0**-54 == one) and np.all(one - 2.0**-55 == one) and np.all(-one - 2.0**-54 == -one)
    finer = np.all(one + 1.5 * 2.0**-53 == 1 + 2.0**-52)
    return bool(kept and nearest and finer)


def gamma(operations: int) -> float:
    """γ_k = k u / (1 − k u), rounded up: the relative error of a result that k operations led to."""
    return float(above(np.asarray(above(np.asarray(operations * UNIT)) / below(np.asarray(1 - operations * UNIT)))))


@dataclass(frozen=True)
class Interval:
    """Arrays of intervals [low, high]; NaN from ∞ − ∞ or 0 · ∞ becomes [−∞, ∞]."""

    low: Array
    high: Array

    __array_ufunc__ = None  # array ∘ interval is ours: NumPy would make an array of intervals

    @classmethod
    def of(cls, value: "Operand") -> "Interval":
        """Floats as they are stored, without a width."""
        if isinstance(value, Interval):
            return value
        array = np.asarray(value, np.float64)
        return cls(array, array)

    @classmethod
    def around(cls, middle: Array, reach: Array) -> "Interval":
        """[middle − reach, middle + reach]."""
        with np.errstate(all="ignore"):
            return cls._outwards(middle - reach, middle + reach)

    @classmethod
    def _outwards(cls, low: Array, high: Array) -> "Interval":
        low, high = np.asarray(below(low)), np.asarray(above(high))
        for end, unknown in ((low, -np.inf), (high, np.inf)):
            if (nan := np.isnan(end)).any():
                end[nan] = unknown
        return cls(low, high)

    @property
    def shape(self) -> tuple[int, ...]:
        return self.low.shape

    @property
    def magnitude(self) -> Array:
        """The largest absolute value in each interval."""
        return np.maximum(np.abs(self.low), np.abs(self.high))

    @property
    def middle(self) -> Array:
        """A number in each interval; NaN in one that is all numbers."""
        with np.errstate(invalid="ignore"):
            return self.low / 2 + self.high / 2

    @property
    def ball(self) -> tuple[Array, Array]:
        """The middle, and how far the ends are from it."""
        if self.low is self.high:
            return self.low, np.zeros(self.shape)
        with np.errstate(all="ignore"):
            middle = self.middle
            return middle, np.maximum(above(self.high - middle), above(middle - self.low))

    def __getitem__(self, key) -> "Interval":
        return Interval(self.low[key], self.high[key])

    def reshape(self, *shape: int) -> "Interval":
        return Interval(self.low.reshape(*shape), self.high.reshape(*shape))

    def __neg__(self) -> "Interval":
        return Interval(-self.high, -self.low)

    def __add__(self, other: "Operand") -> "Interval":
        other = Interval.of(other)
        with np.errstate(all="ignore"):
            return Interval._outwards(self.low + other.low, self.high + other.high)

    __radd__ = __add__

    def __sub__(self, other: "Operand") -> "Interval":
        return self + -Interval.of(other)

    def __rsub__(self, other: "Operand") -> "Interval":
        return Interval.of(other) + -self

    def __mul__(self, other: "Operand") -> "Interval":
        other = Interval.of(other)
        with np.errstate(all="ignore"):
            ends = [self.low * other.low, self.high * other.high]
            if other.low is not other.high and self.low is not self.high:
                ends += [self.low * other.high, self.high * other.low]
        return Interval._outwards(_extreme(np.minimum, ends), _extreme(np.maximum, ends))

    __rmul__ = __mul__

    def __truediv__(self, other: "Operand") -> "Interval":
        other = Interval.of(other)
        if np.any((other.low <= 0) & (other.high >= 0)):
            raise ZeroDivisionError("An interval that contains zero cannot be divided by.")
        with np.errstate(all="ignore"):
            return self * Interval._outwards(1 / other.high, 1 / other.low)

    def __rtruediv__(self, other: "Operand") -> "Interval":
        return Interval.of(other) / self

    def squared(self) -> "Interval":
        """x², never negative."""
        with np.errstate(all="ignore"):
            largest = self.magnitude
            crosses = (self.low <= 0) & (self.high >= 0)
            smallest = np.where(crosses, 0.0, np.minimum(np.abs(self.low), np.abs(self.high)))
            found = Interval._outwards(smallest * smallest, largest * largest)
        return Interval(np.maximum(found.low, 0.0), found.high)

    def root(self) -> "Interval":
        """√x of the part that is not negative; an interval below zero is an error."""
        if np.any(self.high < 0):
            raise ValueError("The root of an interval below zero was asked for.")
        found = Interval._outwards(np.sqrt(np.maximum(self.low, 0.0)), np.sqrt(self.high))
        return Interval(np.maximum(found.low, 0.0), found.high)

    def total(self, axes: int) -> "Interval":
        """The sum over the last `axes` axes."""
        low, high = (part.reshape(*part.shape[: part.ndim - axes], -1) for part in (self.low, self.high))
        return Interval(_tree_sum(low, -1.0), _tree_sum(high, 1.0))


Operand = Union[Interval, ArrayLike]  # noqa: UP007  (a name in quotes cannot stand in X | Y)


def _extreme(choose: np.ufunc, ends: list[Array]) -> Array:
    """The smallest or largest of several products; NaN (0 · ∞) stays NaN."""
    found = choose(ends[0], ends[1])
    for end in ends[2:]:
        found = choose(found, end)
    return found


def _tree_sum(values: Array, side: float) -> Array:
    """A bound of Σ values from below (side −1) or above (+1).

    Halves are added until one number is left, so every term passes through ⌈log₂ n⌉ additions, and the computed sum
    differs from the true one by at most γ_{log₂ n} Σ|values|.
    """
    sums, sizes, levels = values, np.abs(values), 0
    with np.errstate(all="ignore"):
        while sums.shape[-1] > 1:
            if sums.shape[-1] % 2:
                sums, sizes = (np.concatenate([x, np.zeros_like(x[..., :1])], axis=-1) for x in (sums, sizes))
            half = sums.shape[-1] // 2
            sums, sizes = (x[..., :half] + x[..., half:] for x in (sums, sizes))
            levels += 1
        if levels == 0:
            return values[..., 0]
        # The sum of sizes is itself computed: dividing by 1 − γ covers its own error.
        error = above(above(gamma(levels) * sizes[..., 0]) / below(np.asarray(1 - gamma(levels))))
        bound = above(sums[..., 0] + error) if side > 0 else below(sums[..., 0] - error)
    return np.where(np.isnan(bound), side * np.inf, bound)


def product_bounds(left: Array, right: Array) -> Interval:
    """L Rᵀ for float matrices `(m, n)`, `(k, n)`: any order of summation is within γ_n |L| |R|ᵀ (plus underflow)."""
    terms = left.shape[-1]
    with np.errstate(all="ignore"):
        value = left @ right.T
        size = np.abs(left) @ np.abs(right).T
        error = above(above(gamma(terms) * size) / below(np.asarray(1 - gamma(terms)))) + terms * SMALLEST
        return Interval._outwards(value - error, value + error)
