"""Functions as users write them: values and gradients in discs, and refusals of what is no formula."""

from fractions import Fraction

import mpmath
import numpy as np
import pytest

from physrank.certificates.enclosures.discs import Disc, NotAnalytic
from physrank.certificates.enclosures.jets import evaluated

FUNCTIONS = [
    (lambda x, y: 0.25 + np.exp(0.3 * np.cos(np.pi * x) * np.sin(2 * y)), "0.25 + e(0.3*c(P*x)*s(2*y))"),
    (lambda x, y: np.sqrt(1 + x * x) / (2.5 + y) - x**3 * y**-2, "q(1 + x*x)/(2.5 + y) - x**3/y**2"),
    (lambda x, y: np.log(np.asarray(x) + 2) * np.tanh(y) + np.square(x), "l(x + 2)*t(y) + x*x"),
    (lambda x, y: np.power(x, 2.0) + 2.0**y + x**y, "x**2 + M(2)**y + x**y"),
    (lambda x, y: np.asarray(-(np.cosh(x) - np.sinh(y)) * np.reciprocal(x) + +y), "-(ch(x) - sh(y))/x + y"),
    (lambda x, y: np.full_like(x, 1.5), "M(1.5) + 0*x"),
]


def exact(text, x, y):
    names = {
        "e": mpmath.exp, "c": mpmath.cos, "s": mpmath.sin, "q": mpmath.sqrt, "l": mpmath.log, "t": mpmath.tanh,
        "ch": mpmath.cosh, "sh": mpmath.sinh, "M": mpmath.mpf, "P": mpmath.mpf(float(np.pi)), "x": x, "y": y,
    }  # fmt: skip
    # Constants of the functions are doubles.
    return eval(text.replace("0.3", "M(0.3)"), names)


@pytest.mark.parametrize(("function", "text"), FUNCTIONS)
def test_values_and_gradients_hold_the_truth(function, text):
    x, y = np.array([0.2, 0.5, 1.7]), np.array([0.3, 0.9])
    value, (along_x, along_y) = evaluated(function, [Disc.of(x[:, None]), Disc.of(y[None])])
    with mpmath.workdps(40):
        for found, order in ((value, (0, 0)), (along_x, (1, 0)), (along_y, (0, 1))):
            centre, radius = (np.broadcast_to(part, (3, 2)) for part in (found.centre, found.radius))
            for i, p in enumerate(x.tolist()):
                for j, q in enumerate(y.tolist()):
                    at = (mpmath.mpf(p), mpmath.mpf(q))
                    truth = mpmath.diff(lambda u, v: exact(text, u, v), at, order) if any(order) else exact(text, *at)
                    assert abs(mpmath.mpf(float(centre[i, j])) - truth) <= radius[i, j] + 1e-18  # of `diff` itself
            assert np.all(radius <= 1e-12 * (1 + np.abs(centre)))


def test_numbers_are_constant_functions_and_fractions_are_rounded():
    value, slopes = evaluated(2.5, [Disc.of(np.zeros(3))])
    assert value.centre == 2.5 and value.radius == 0 and slopes[0].largest == 0
    third, _ = evaluated(lambda x: x + Fraction(1, 3), [Disc.of(np.zeros(1))])
    assert abs(Fraction(float(third.centre[0])) - Fraction(1, 3)) <= Fraction(float(third.radius[0]))
    alone, _ = evaluated(Fraction(1, 3), [Disc.of(np.zeros(1))])  # without a sum, whose rounding is counted anyway
    assert abs(Fraction(float(alone.centre)) - Fraction(1, 3)) <= Fraction(float(alone.radius))


REFUSED = {
    "a modulus": np.abs,
    "a maximum": lambda x: np.maximum(x, 0.5),
    "a choice": lambda x: np.where(x > 0.5, 1.0, 2.0),
    "a branch": lambda x: x if x else 0.0,
    "an equality": lambda x: 1.0 * (x == 0.5) + x,
    "a table": lambda x: np.interp(x, [0, 1], [0, 1]),
    "an array": lambda x: np.arange(3.0) * x,
    "an array of its own": lambda x: np.ones(5),
    "a rounding": np.floor,
    "a pole": lambda x: 1 / (x - 0.5),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_no_analytic_formula_is_refused(name):
    with pytest.raises((NotAnalytic, TypeError)):
        evaluated(REFUSED[name], [Disc.of(np.linspace(0, 1, 4))])
    with pytest.raises((NotAnalytic, TypeError)):
        evaluated(lambda x: REFUSED[name](np.asarray(x)), [Disc.of(np.linspace(0, 1, 4))])
