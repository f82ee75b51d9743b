"""Twice the precision, against exact fractions: transformations without error, bounds that hold and are small."""

import operator
from fractions import Fraction

import numpy as np
import pytest

from physrank.certificates.enclosures.double_double import DoubleDouble, two_product, two_sum

OPERATIONS = {"+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv}


def drawn(random, count, spread):
    return random.standard_normal(count) * 2.0 ** random.integers(-spread, spread + 1, count)


def exact(number, k):
    return Fraction(float(number.high[k])) + Fraction(float(number.low[k]))


@pytest.mark.parametrize("spread", [0, 3, 60, 450])
def test_sums_and_products_are_split_without_error(spread):
    random = np.random.default_rng(spread)
    a, b = drawn(random, 400, spread), drawn(random, 400, spread)
    for split, operation in ((two_sum, operator.add), (two_product, operator.mul)):
        s, e = split(a, b)
        for k in range(400):
            whole = operation(Fraction(float(a[k])), Fraction(float(b[k])))
            if operation is operator.add or abs(whole) > Fraction(2) ** -900:
                assert Fraction(float(s[k])) + Fraction(float(e[k])) == whole
        assert np.array_equal(s, operation(a, b))


@pytest.mark.parametrize("sign", OPERATIONS)
@pytest.mark.parametrize("spread", [0, 10, 300])
def test_the_truth_is_within_the_error(sign, spread):
    """For operands that are off themselves, at the ends of what they may be."""
    random, count = np.random.default_rng(7), 300
    numbers = []
    for _ in range(2):
        high, low = two_sum(drawn(random, count, spread), drawn(random, count, spread) * 2.0**-54)
        off = np.abs(high) * 2.0 ** random.integers(-130, -80, count) * random.integers(0, 2, count)
        numbers.append(DoubleDouble(high, low, off))
    x, y = numbers
    found = OPERATIONS[sign](x, y)
    for k in range(count):
        for p in (-1, 1):
            for q in (-1, 1):
                left, right = (exact(n, k) + s * Fraction(float(n.error[k])) for n, s in ((x, p), (y, q)))
                truth = OPERATIONS[sign](left, right)
                assert abs(exact(found, k) - truth) <= Fraction(float(found.error[k]))
    inside = found.interval()
    sharp = (x.error == 0) & (y.error == 0)
    scale = np.abs(x.high) + np.abs(y.high) if sign in "+-" else np.abs(found.high)
    assert np.all(found.error[sharp] <= 2.0**-98 * scale[sharp] + 2.0**-1040)
    assert all(inside.low[k] <= exact(found, k) <= inside.high[k] for k in range(count))


def test_cancellation_leaves_half_of_the_digits():
    x = DoubleDouble.of(np.array([1.0])) / 3.0
    left = (x * 3.0 - 1.0).interval()
    assert left.low[0] <= 0 <= left.high[0] and left.high[0] - left.low[0] <= 2.0**-98


def test_overflow_and_division_by_nothing_are_unknown():
    big = DoubleDouble.of(np.array([1e300, 1.0])) * 1e300
    inside = big.interval()
    assert inside.low[0] == -np.inf and inside.high[0] == np.inf
    assert inside.low[1] <= 1e300 <= inside.high[1]
    by_nothing = (DoubleDouble.of(np.array([1.0])) / 0.0).interval()
    assert by_nothing.low[0] == -np.inf and by_nothing.high[0] == np.inf


@pytest.mark.parametrize("sign", OPERATIONS)
def test_parts_that_overlap_cost_width_never_truth(sign):
    """Nobody promises that the second double is small."""
    x, y = (DoubleDouble(np.array([1.0]), np.array([low]), np.zeros(1)) for low in (1.0, 0.5))
    found, truth = OPERATIONS[sign](x, y), OPERATIONS[sign](Fraction(2), Fraction(3, 2))
    assert abs(exact(found, 0) - truth) <= Fraction(float(found.error[0]))
