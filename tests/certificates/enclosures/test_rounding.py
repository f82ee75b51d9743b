"""Validated arithmetic: the true result is always inside, checked in exact rational arithmetic."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from physrank.certificates.enclosures import rounding
from physrank.certificates.enclosures.rounding import Interval, above, below, gamma, product_bounds

FINITE = st.floats(allow_nan=False, allow_infinity=False, min_value=-1e150, max_value=1e150)
ENDS = st.tuples(FINITE, FINITE).map(sorted)


def interval(ends):
    return Interval(np.asarray(float(ends[0])), np.asarray(float(ends[1])))


def inside(value: Fraction, found: Interval) -> bool:
    low, high = float(found.low), float(found.high)
    return (low == -np.inf or Fraction(low) <= value) and (high == np.inf or value <= Fraction(high))


def test_neighbours_are_never_missed():
    random = np.random.default_rng(0)
    bits = random.integers(0, 2**64, 400_000, dtype=np.uint64).view(np.float64)
    edges = np.concatenate([2.0 ** np.arange(-1074.0, 1024), np.arange(-3000, 3000) * 5e-324, [0.0, -0.0]])
    x = np.concatenate([bits[np.isfinite(bits)], edges, -edges])
    with np.errstate(over="ignore"):
        assert np.all(below(x) <= np.nextafter(x, -np.inf))
        assert np.all(above(x) >= np.nextafter(x, np.inf))
    assert np.mean(below(x) == np.nextafter(x, -np.inf)) > 0.99  # and hardly ever further away


@settings(max_examples=300, deadline=None)
@given(ENDS, ENDS, st.fractions(0, 1), st.fractions(0, 1))
def test_operations_contain_every_exact_result(a, b, s, t):
    x = Fraction(a[0]) + s * (Fraction(a[1]) - Fraction(a[0]))
    y = Fraction(b[0]) + t * (Fraction(b[1]) - Fraction(b[0]))
    first, second = interval(a), interval(b)
    assert inside(x + y, first + second)
    assert inside(x - y, first - second)
    assert inside(x * y, first * second)
    assert inside(x * x, first.squared())
    assert float(first.squared().low) >= 0
    if b[0] > 0 or b[1] < 0:
        assert inside(x / y, first / second)


@given(FINITE)
def test_a_stored_float_times_an_interval(value):
    found = Interval.of(value) * interval((0.1, 0.3))
    assert inside(Fraction(value) * Fraction(0.1), found)
    assert inside(Fraction(value) * Fraction(0.3), found)


def test_roots_and_their_squares():
    found = interval((2.0, 3.0)).root()
    assert Fraction(float(found.low)) ** 2 < 2
    assert Fraction(float(found.high)) ** 2 > 3
    assert float(interval((-1e-30, 4.0)).root().low) == 0.0
    with pytest.raises(ValueError, match="below zero"):
        interval((-2.0, -1.0)).root()


@pytest.mark.parametrize("size", [1, 2, 3, 7, 64, 1000])
def test_sums_contain_the_exact_sum(size):
    random = np.random.default_rng(size)
    values = random.standard_normal(size) * 10.0 ** random.uniform(-12, 12, size)
    values = np.concatenate([values, -values[::-1], [1e-14]])  # almost everything cancels
    random.shuffle(values)
    exact = sum((Fraction(v) for v in values.tolist()), Fraction(0))
    assert inside(exact, Interval.of(values).total(1))


def test_sums_over_several_axes_keep_the_leading_ones():
    values = np.random.default_rng(1).standard_normal((3, 4, 5))
    found = Interval.of(values).total(2)
    assert found.shape == (3,)
    for row, low, high in zip(values, found.low, found.high, strict=True):
        assert low <= row.sum() <= high
        assert high - low < 1e-13


def test_matrix_products_contain_the_exact_ones():
    random = np.random.default_rng(2)
    left, right = random.standard_normal((3, 50)), random.standard_normal((4, 50))
    right[0] = left[0] * 1e-8
    found = product_bounds(left, right)
    for i in range(3):
        for j in range(4):
            exact = sum(
                (Fraction(a) * Fraction(b) for a, b in zip(left[i].tolist(), right[j].tolist(), strict=True)),
                Fraction(0),
            )
            assert inside(exact, found[i, j])


def test_arrays_on_the_left_are_not_taken_apart():
    found = np.ones(3) - Interval.of(np.full(3, 0.5))
    assert isinstance(found, Interval)
    assert found.shape == (3,)


def test_what_cannot_be_known_is_everything():
    wide = Interval(np.asarray(-np.inf), np.asarray(np.inf))
    found = wide * Interval.of(0.0) + wide
    assert found.low == -np.inf
    assert found.high == np.inf
    huge = Interval.of(1e308) * 10.0
    assert huge.high == np.inf
    with pytest.raises(ZeroDivisionError):
        Interval.of(1.0) / interval((-1.0, 1.0))


def test_gamma_bounds_the_textbook_constant():
    for k in (1, 10, 10_000):
        exact = Fraction(k, 2**53) / (1 - Fraction(k, 2**53))
        assert Fraction(gamma(k)) >= exact


def test_without_outward_rounding_the_truth_escapes(monkeypatch):
    """The twin that must fail: plain arithmetic does not enclose."""
    monkeypatch.setattr(rounding, "below", lambda x: x)
    monkeypatch.setattr(rounding, "above", lambda x: x)
    random = np.random.default_rng(3)
    pairs = random.standard_normal((200, 2))
    missed = [not inside(Fraction(a) * Fraction(b), Interval.of(a) * Interval.of(b)) for a, b in pairs.tolist()]
    assert sum(missed) > 100
