"""Elementary functions of intervals, enclosed without trusting a library: a reduced argument, a Taylor sum and its remainder.

The reductions x − k ln 2 and x − k π/2 use constants in two parts, the first of so few bits that k times it is exact.
"""

from math import factorial

import numpy as np

from physrank.certificates.enclosures.rounding import UNIT, Interval, above, below
from physrank.geometry.space import Array

LN2 = (
    6.93147180369123816490e-01,
    1.90821492927058770002e-10,
)  # of 32 bits, and the rest to half a unit in its last place
HALF_PI = 1.57079632673412561417, 6.07710050650619224932e-11
LARGEST_EXPONENT, LARGEST_ANGLE = 700.0, 1e5  # beyond them only coarse bounds are given
TERMS = 20
ERROR = 18 * UNIT


def exp(x: Interval) -> Interval:
    return Interval(_exp(x.low).low, _exp(x.high).high)


def expm1(x: Interval) -> Interval:
    return exp(x) - 1.0


def log(x: Interval) -> Interval:
    """−∞ below where the interval reaches zero."""
    return Interval(_log(x.low).low, _log(x.high).high)


def logistic(x: Interval) -> Interval:
    return 1.0 / (1.0 + exp(-x))


def tanh(x: Interval) -> Interval:
    return Interval(_tanh(x.low).low, _tanh(x.high).high)


def sinh(x: Interval) -> Interval:
    low, high = ((exp(Interval.of(end)) - exp(Interval.of(-end))) / 2.0 for end in (x.low, x.high))
    return Interval(low.low, high.high)


def cosh(x: Interval) -> Interval:
    """Even, and it grows with |x|."""
    spans, ends = (x.low < 0) & (x.high > 0), (np.abs(x.low), np.abs(x.high))
    least, most = np.where(spans, 0.0, np.minimum(*ends)), np.maximum(*ends)
    low, high = ((exp(Interval.of(end)) + exp(Interval.of(-end))) / 2.0 for end in (least, most))
    return Interval(np.maximum(low.low, 1.0), high.high)


def sin(x: Interval) -> Interval:
    return _wave(x, 0)


def cos(x: Interval) -> Interval:
    return _wave(x, 1)


def _exp(x: Array) -> Interval:
    """Of numbers."""
    inside = np.clip(np.where(np.isnan(x), 0.0, x), -LARGEST_EXPONENT, LARGEST_EXPONENT)
    k = np.rint(inside / np.log(2))
    r, reach = (Interval.of(inside) - k * LN2[0] - _rest(LN2[1]) * k).ball
    found = Interval.around(_taylor(r, range(TERMS), 1), ERROR + 2 * reach)
    with np.errstate(all="ignore"):
        low, high = np.ldexp(found.low, k.astype(int)), np.ldexp(found.high, k.astype(int))
    low = np.where(x < -LARGEST_EXPONENT, 0.0, low)
    return Interval(np.where(np.isnan(x), 0.0, low), np.where((x > LARGEST_EXPONENT) | np.isnan(x), np.inf, high))


def _log(x: Array) -> Interval:
    """log x = y + log(x e^{−y}) for any y near it, and δ − δ² ≤ log(1 + δ) ≤ δ for |δ| ≤ ½."""
    with np.errstate(all="ignore"):
        near = np.log(x)
    known = np.isfinite(near)
    y = np.where(known, near, 0.0)
    off = Interval.of(np.where(known, x, 1.0)) * _exp(-y) - 1.0
    found = Interval.of(y) + Interval((off - off.squared()).low, off.high)
    known &= off.magnitude <= 0.5
    return Interval(np.where(known, found.low, -np.inf), np.where(known, found.high, np.inf))


def _tanh(x: Array) -> Interval:
    left = exp(Interval.of(-2.0 * np.minimum(np.abs(x), LARGEST_EXPONENT)))
    found = (1.0 - left) / (1.0 + left)
    low, high = np.clip(found.low, 0.0, 1.0), np.clip(found.high, 0.0, np.minimum(np.abs(x), 1.0))
    low = np.minimum(low, high)
    return Interval(np.where(x < 0, -high, low), np.where(x < 0, -low, high))


def _wave(x: Interval, quarter: int) -> Interval:
    """sin(x + quarter · π/2): at the middle, where it changes by at most |h| min(1, |slope| + |h|/2)."""
    with np.errstate(all="ignore"):
        middle = x.middle
        reach = np.maximum(above(x.high - middle), above(middle - x.low))
    value, slope = _sine(middle, quarter), _sine(middle, quarter + 1)
    steep = np.minimum(1.0, above(slope.magnitude + above(reach / 2)))
    moved = np.where(x.low == x.high, 0.0, above(reach * steep))
    found = value + Interval(-moved, moved)
    return Interval(np.fmax(np.where(np.isnan(moved), -1.0, found.low), -1.0),
                    np.fmin(np.where(np.isnan(moved), 1.0, found.high), 1.0))  # fmt: skip


def _sine(x: Array, quarter: int) -> Interval:
    known = np.abs(x) <= LARGEST_ANGLE
    inside = np.where(known, x, 0.0)
    k = np.rint(inside / (np.pi / 2))
    r, reach = (Interval.of(inside) - k * HALF_PI[0] - _rest(HALF_PI[1]) * k).ball
    odd = Interval.around(r * _taylor(r * r, range(1, TERMS + 1, 2), -1), ERROR * np.abs(r) + reach)
    even = Interval.around(_taylor(r * r, range(0, TERMS, 2), -1), ERROR + reach)
    turn = (k.astype(int) + quarter) % 4
    sines, cosines = turn % 2 == 0, turn < 2
    low, high = np.where(sines, odd.low, even.low), np.where(sines, odd.high, even.high)
    low, high = np.where(cosines, low, -high), np.where(cosines, high, -low)
    return Interval(np.where(known, low, -1.0), np.where(known, high, 1.0))


def _rest(value: float) -> Interval:
    """A constant that is known to its last place."""
    return Interval(np.asarray(below(np.asarray(value))), np.asarray(above(np.asarray(value))))


def _taylor(x: Array, orders: range, sign: int) -> Array:
    """Σ ± x^m / n! over the orders n, m = 0, 1, …, for |x| ≤ 0.63, within ERROR.

    A step of Horner's scheme multiplies what came before by |x| and adds at most 3u of its value, which is below 1.5: 13u in
    all, a few more for a rounded x, and what was left out is below 2⁻⁶⁰.
    """
    found = np.zeros(np.shape(x))
    for n in reversed(orders):
        found = found * x + sign ** (n // 2) / factorial(n)
    return found
