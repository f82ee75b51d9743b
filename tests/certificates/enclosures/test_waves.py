"""Enclosed trigonometric sums hold the exact ones, in 40 digits; the terms of their bounds are all needed."""

import mpmath
import numpy as np
import pytest

from physrank.certificates.enclosures import waves
from physrank.certificates.enclosures.rounding import Interval

mp = mpmath.mpf


def polynomial(c, x):
    """Σ c_k e^{ikx} over |k| ≤ K, real, for parts `(2, K + 1)`."""
    terms = [mp(float(a)) * mpmath.cos(k * x) - mp(float(b)) * mpmath.sin(k * x) for k, (a, b) in enumerate(c.T)]
    return terms[0] + 2 * mpmath.fsum(terms[1:])


def parts(random, degree, lead=()):
    c = random.standard_normal((2, *lead, degree + 1)) * 2.0 ** -np.arange(degree + 1)
    c[1, ..., 0] = 0
    return c


@pytest.mark.parametrize("points", [4, 7, 12, 30])
def test_coefficients_of_an_interpolant(points):
    row = np.random.default_rng(points).standard_normal(points)
    found = waves.coefficients(row)
    with mpmath.workdps(40):
        for k in range(points // 2 + 1):
            half = mp(1) / 2 if 2 * k == points else 1
            angle = [2 * mpmath.pi * j * k / points for j in range(points)]
            for part, f in enumerate((mpmath.cos, lambda a: -mpmath.sin(a))):
                exact = half * mpmath.fsum(mp(float(v)) * f(a) for v, a in zip(row, angle, strict=True)) / points
                assert found.low[part, k] <= exact <= found.high[part, k]
    assert np.max(found.high - found.low) < 1e-14


@pytest.mark.parametrize("radius", [0.0, 1e-6])
@pytest.mark.parametrize("degree", [1, 3, 8])
def test_values_and_squares(degree, radius):
    """`together` and `each` are looked at separately: the error of every mode is within both, in the sense of ℓ²."""
    random = np.random.default_rng(degree)
    middle, grid = parts(random, degree, (3,)), waves.ProductGrid(degree)
    inside = middle + radius * random.uniform(-1, 1, middle.shape)
    inside[1, :, 0] = 0
    box = Interval(middle - radius, middle + radius)
    even, odd, e, o = grid.values(box)
    modes, together, each = grid.square(box)
    with mpmath.workdps(40):
        for row in range(3):
            c = inside[:, row]
            for j in range(grid.points // 2 + 1):
                x = 2 * mpmath.pi * j / grid.points
                there, back = polynomial(c, x), polynomial(c, -x)
                assert abs((there + back) / 2 - mp(float(even[row, j]))) <= e[row]
                assert abs((there - back) / 2 - mp(float(odd[row, j]))) <= o[row]
            whole = {k: mpmath.mpc(*map(float, c[:, k])) for k in range(degree + 1)}
            whole |= {-k: mpmath.conj(v) for k, v in whole.items() if k}
            off = []
            for k in range(2 * degree + 1):
                exact = mpmath.fsum(whole[i] * whole[k - i] for i in whole if k - i in whole)
                off.append(abs(exact - mpmath.mpc(*map(float, modes[:, row, k]))))
            both = mpmath.sqrt(off[0] ** 2 + 2 * mpmath.fsum(v**2 for v in off[1:]))
            assert both <= together[row] + mpmath.sqrt(4 * degree + 1) * each[row]
            assert radius or both < 1e-13


def test_the_table_holds_the_cosines():
    found = waves.turns(24)
    with mpmath.workdps(40):
        for k in range(24):
            assert found.low[k] <= mpmath.cos(2 * mpmath.pi * k / 24) <= found.high[k]
    assert np.max(found.high - found.low) < 1e-14


@pytest.mark.parametrize("dropped", ["gamma", "off"])
def test_without_a_term_the_values_would_be_missed(monkeypatch, dropped):
    """Sums of equal signs in an unlucky order: what a sum or a table is off by is seen in the values."""
    degree = 8
    grid, random = waves.ProductGrid(degree), np.random.default_rng(0)
    if dropped == "gamma":
        monkeypatch.setattr(waves, "gamma", lambda count: 0.0)
        grid.off = 0.0
    else:
        grid.cosine = grid.cosine * (1 + 1e-13)  # a table that is further off than it says
    outside = 0
    with mpmath.workdps(40):
        for _ in range(20):
            c = parts(random, degree)
            even, _, e, _ = grid.values(Interval.of(c))
            for j in range(grid.points // 2 + 1):
                x = 2 * mpmath.pi * j / grid.points
                outside += abs((polynomial(c, x) + polynomial(c, -x)) / 2 - mp(float(even[j]))) > e
    assert outside > 0


def test_each_term_of_the_error_counts():
    """A constant that is known to ρ has a square that is known to 2ρ; tables that are off by τ move every sum by it."""
    grid, c, radius = waves.ProductGrid(1), np.array([[1.0, 0.0], [0.0, 0.0]]), np.array([[1e-3, 0.0], [0.0, 0.0]])
    assert grid.square(Interval(c - radius, c + radius))[1] >= 2e-3
    grid.off = 1e-6
    assert grid.values(Interval.of(c))[2] >= 1e-6
    assert grid.square(Interval.of(c))[2] >= 1e-6
