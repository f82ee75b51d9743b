"""Discs hold the truth in many digits, for every point of their operands; what is not analytic is refused."""

from fractions import Fraction

import mpmath
import numpy as np
import pytest

from physrank.certificates.enclosures.discs import Disc, NotAnalytic

UNARY = {
    "exp": (Disc.exp, mpmath.exp),
    "sin": (Disc.sin, mpmath.sin),
    "cos": (Disc.cos, mpmath.cos),
    "log": (Disc.log, mpmath.log),
    "sqrt": (Disc.sqrt, mpmath.sqrt),
    "inverse": (Disc.inverse, lambda z: 1 / z),
    "cube": (lambda x: x**3, lambda z: z**3),
    "fifth of its inverse": (lambda x: x**-5, lambda z: z**-5),
    "power": (lambda x: x**0.37, lambda z: z ** mpmath.mpf(0.37)),
}
BINARY = {
    "sum": lambda x, y: x + y,
    "difference": lambda x, y: x - y,
    "product": lambda x, y: x * y,
    "quotient": lambda x, y: x / y,
}


def drawn(random, count, complex_valued):
    """Discs in the right half-plane, of widths from nothing to most of their distance from the axis."""
    centre = 10.0 ** random.uniform(-3, 1, count)
    if complex_valued:
        centre = centre + 1j * random.standard_normal(count)
    radius = np.real(centre) * 0.95 * 10.0 ** random.uniform(-18, 0, count) * random.integers(0, 2, count)
    return Disc(centre, radius)


def point(random, disc, k, complex_valued):
    turn = random.uniform(0, 2 * np.pi) if complex_valued else random.choice([0.0, np.pi])
    return mpmath.mpmathify(complex(disc.centre[k])) + mpmath.mpf(float(disc.radius[k])) * mpmath.expj(
        turn
    ) * mpmath.mpf("0.9999999")


def holds(found, k, truth):
    return abs(mpmath.mpmathify(complex(found.centre[k])) - truth) <= mpmath.mpf(float(found.radius[k]))


@pytest.mark.parametrize("complex_valued", [False, True])
def test_every_point_of_the_operands_leads_into_the_disc(complex_valued):
    random, count = np.random.default_rng(1), 60
    with mpmath.workdps(50):
        for _ in range(4):
            x, y = (drawn(random, count, complex_valued) for _ in range(2))
            for name, (ours, theirs) in UNARY.items():
                found = ours(x)
                for k in range(count):
                    assert holds(found, k, theirs(point(random, x, k, complex_valued))), (name, k)
            for name, both in BINARY.items():
                found = both(x, y)
                for k in range(count):
                    p, q = (point(random, d, k, complex_valued) for d in (x, y))
                    assert holds(found, k, both(p, q)), (name, k)


def test_they_are_no_wider_than_they_must_be():
    thin = Disc.of(np.linspace(0.1, 3, 50))
    for ours, _ in UNARY.values():
        found = ours(thin)
        assert np.all(found.radius <= 1e-13 * (np.abs(found.centre) + 1))
    wide = Disc(np.full(1, 2.0), np.full(1, 0.01))
    for ours, slope in ((Disc.exp, np.exp(2)), (Disc.sin, 1.0), (Disc.inverse, 0.25), (Disc.log, 0.5)):
        assert ours(wide).radius[0] <= 1.02 * 0.01 * slope


def test_matrices_along_an_axis():
    random = np.random.default_rng(2)
    with mpmath.workdps(40):
        for axis in (0, 1):
            matrix = Disc(random.standard_normal((5, 4)), 1e-9 * random.random((5, 4)))
            x = Disc(random.standard_normal((4, 4)), 1e-7 * random.random((4, 4)))
            found = x.along(axis, matrix)
            a = matrix.centre + matrix.radius * random.choice([-1, 1], (5, 4))
            v = np.moveaxis(x.centre + x.radius * random.choice([-1, 1], (4, 4)), axis, 0)
            exact = mpmath.matrix(a.tolist()) * mpmath.matrix(v.tolist())
            centre, radius = (np.moveaxis(part, axis, 0) for part in (found.centre, found.radius))
            off = [[abs(mpmath.mpf(centre[i, j]) - exact[i, j]) for j in range(4)] for i in range(5)]
            assert all(off[i][j] <= radius[i, j] * (1 + 1e-6) for i in range(5) for j in range(4))
            assert radius.max() < 1e-5


@pytest.mark.parametrize("name", ["log", "sqrt", "inverse", "power"])
def test_what_may_touch_the_axis_is_refused(name):
    ours = UNARY[name][0]
    ours(Disc(np.array([1.0, 2.0]), np.array([0.99, 0.0])))
    for bad in (Disc.of(np.array([1.0, 0.0])), Disc(np.array([1.0]), np.array([1.0])), Disc.of(np.array([1.0, -1.0]))):
        with pytest.raises(NotAnalytic):
            ours(bad)


def test_what_overflows_is_unknown():
    assert Disc.of(np.array([800.0])).exp().largest == np.inf
    assert (Disc.of(np.array([np.inf])) - Disc.of(np.array([np.inf]))).largest == np.inf


def test_sums_that_cancel_hold_their_rounding():
    random = np.random.default_rng(3)
    a, x = random.standard_normal((20, 200)), random.standard_normal(200)
    a[:, -1] = -(a[:, :-1] @ x[:-1]) / x[-1]  # what is left is rounding
    found = Disc.of(x).along(0, Disc.of(a))
    for row, centre, radius in zip(a, found.centre, found.radius, strict=True):
        exact = sum(Fraction(float(p)) * Fraction(float(q)) for p, q in zip(row, x, strict=True))
        assert abs(Fraction(float(centre)) - exact) <= Fraction(float(radius))
