"""Elementary functions of intervals hold every value, in 60 digits, and are not idle."""

import mpmath
import numpy as np
import pytest

from physrank.certificates.enclosures import elementary
from physrank.certificates.enclosures.rounding import Interval

EXACT = {
    "exp": mpmath.exp,
    "expm1": mpmath.expm1,
    "log": mpmath.log,
    "sin": mpmath.sin,
    "cos": mpmath.cos,
    "tanh": mpmath.tanh,
    "sinh": mpmath.sinh,
    "cosh": mpmath.cosh,
    "logistic": lambda x: 1 / (1 + mpmath.exp(-x)),
}


def missed(name, low, high, random):
    found, exact = getattr(elementary, name)(Interval(low, high)), EXACT[name]
    outside = 0
    with mpmath.workdps(60):
        for a, b, least, most in zip(low, high, found.low, found.high, strict=True):
            ends = mpmath.mpf(float(a)), mpmath.mpf(float(b))
            for t in (0.0, 1.0, random.random()):
                value = exact(ends[0] + mpmath.mpf(t) * (ends[1] - ends[0]))
                outside += not least <= value <= most
    return outside, found


@pytest.mark.parametrize("width", [0.0, 1e-12, 0.1, 3.0])
@pytest.mark.parametrize("name", EXACT)
def test_every_value_is_inside(name, width):
    random = np.random.default_rng(len(name))
    x = random.standard_normal(120) * 10.0 ** random.uniform(-9, 2.7, 120)
    x = np.abs(x) if name == "log" else x
    outside, found = missed(name, x, x + width * np.abs(x) * random.random(120), random)
    assert outside == 0
    if width == 0:
        assert np.median((found.high - found.low) / np.maximum(np.abs(found.low), 1)) < 1e-14


@pytest.mark.parametrize("name", EXACT)
def test_the_ends_of_the_number_line(name):
    x = np.array([5e-324, 1e-308, 745.0, 1e5, 1.0000001e5, 1e300, 1.7e308])
    random = np.random.default_rng(0)
    x = x if name in ("log", "sin", "cos") else np.concatenate([x, -x])
    x = x if name not in ("exp", "expm1", "logistic", "sinh", "cosh") else x[np.abs(x) < 1e6]
    assert missed(name, x, x, random)[0] == 0


def test_near_multiples_of_a_quarter_turn():
    k = np.arange(-2000, 2001, 43)
    for x in (k * (np.pi / 2), np.nextafter(k * (np.pi / 2), 0)):
        for name in ("sin", "cos"):
            assert missed(name, x, x, np.random.default_rng(1))[0] == 0


def test_without_the_rest_of_the_constants_it_would_be_missed(monkeypatch):
    monkeypatch.setattr(elementary, "LN2", (elementary.LN2[0], 0.0))
    monkeypatch.setattr(elementary, "HALF_PI", (elementary.HALF_PI[0], 0.0))
    x = np.linspace(20, 30, 50)
    for name in ("exp", "sin"):
        assert missed(name, x, x, np.random.default_rng(2))[0] > 100


def test_without_enough_terms_it_would_be_missed(monkeypatch):
    monkeypatch.setattr(elementary, "TERMS", 10)
    x = np.linspace(0.3, 0.7, 50)
    for name in ("exp", "sin", "cos"):
        assert missed(name, x, x, np.random.default_rng(3))[0] > 0


def test_what_is_not_known_is_everything():
    whole = Interval(np.array([-np.inf]), np.array([np.inf]))
    for name in ("sin", "cos", "tanh"):
        found = getattr(elementary, name)(whole)
        assert found.low <= -1 and found.high >= 1
    assert elementary.exp(whole).low == 0 and elementary.exp(whole).high == np.inf


def test_a_taylor_sum_is_within_its_error():
    """Of the sum itself: what is added to it afterwards would hide a smaller one."""
    below = 0
    with mpmath.workdps(40):
        for orders, sign, x in ((range(20), 1, 0.35), (range(1, 21, 2), -1, 0.62), (range(0, 20, 2), -1, 0.62)):
            points = np.linspace(0 if sign < 0 else -x, x, 200)
            for point, value in zip(points, elementary._taylor(points, orders, sign), strict=True):
                terms = [
                    sign ** (n // 2) * mpmath.mpf(float(point)) ** m / mpmath.factorial(n) for m, n in enumerate(orders)
                ]
                off = abs(mpmath.fsum(terms) - mpmath.mpf(float(value)))
                assert off <= elementary.ERROR
                below += off > 2.0**-54
    assert below > 0
