"""Matrices of Chebyshev polynomials in many digits; bounds of functions from their values at nodes, never below the truth."""

import mpmath
import numpy as np
import pytest
from numpy.polynomial import chebyshev as numeric

from physrank.certificates.enclosures import chebyshev


@pytest.mark.parametrize(("points", "degree"), [(5, 4), (16, 33), (37, 12)])
def test_polynomials_at_zeros_and_on_uniform_grids(points, degree):
    with mpmath.workdps(40):
        zeros = [mpmath.cos(mpmath.pi * (2 * k - 1) / (2 * points)) for k in range(1, points + 1)]
        uniform = [2 * mpmath.mpf(j) / (points - 1) - 1 for j in range(points)]
        for found, where in (
            (chebyshev.at_zeros(points, degree), zeros),
            (chebyshev.at_uniform(points - 1, degree), uniform),
        ):
            assert found.centre.shape == (points, degree + 1)
            for i, t in enumerate(where):
                for k in range(degree + 1):
                    off = abs(mpmath.mpf(found.centre[i, k]) - mpmath.chebyt(k, t))
                    assert off <= found.radius[i, k] <= 1e-12


def test_derivatives_and_zero_ends():
    series = np.random.default_rng(0).standard_normal(12)
    np.testing.assert_allclose((chebyshev.derivative(11) @ series)[:-1], numeric.chebder(series), rtol=1e-13)
    coefficients = chebyshev.conforming(11) @ series[:-2]
    np.testing.assert_allclose(numeric.chebval([-1, 1], coefficients), 0, atol=1e-14)


def test_covers_leave_nothing_out():
    for rho in (1.01, 1.5, 5.0):
        found, angle = chebyshev.ellipse(rho), np.linspace(0, 2 * np.pi, 2001)
        z = (rho * np.exp(1j * angle) + np.exp(-1j * angle) / rho) / 2
        assert np.all(np.min(np.abs(z[:, None] - found.centre) - found.radius, axis=1) <= 0)
    found, x = chebyshev.cells(7), np.linspace(-1, 1, 1001)
    assert np.all(np.min(np.abs(x[:, None] - found.centre) - found.radius, axis=1) <= 0)


@pytest.mark.parametrize("points", [2, 5, 16])
def test_weights_integrate_polynomials_exactly(points):
    weights = chebyshev.fejer(points)
    with mpmath.workdps(40):
        nodes = [mpmath.cos(mpmath.pi * (2 * k - 1) / (2 * points)) for k in range(1, points + 1)]
        for degree in range(points):
            terms = [x**degree for x in nodes]
            off = abs(sum(mpmath.mpf(w) * t for w, t in zip(weights.centre, terms, strict=True)) - _moment(degree))
            assert off <= sum(mpmath.mpf(r) * abs(t) for r, t in zip(weights.radius, terms, strict=True)) <= 1e-12
    assert np.all(weights.centre > weights.radius)


def _moment(degree):
    return mpmath.mpf(2) / (degree + 1) if degree % 2 == 0 else mpmath.mpf(0)


@pytest.mark.parametrize("pole, ellipses", [(1.2, (1.1, 1.3)), (2.0, (1.1, 1.3, 1.7, 3.0)), (1.3j, (1.1, 1.3, 1.7))])
def test_tails_bound_what_is_beyond_a_degree(pole, ellipses):
    """1/(z − pole) and its square, of which every coefficient is computed on many nodes."""
    n = 256
    nodes = np.cos(np.pi * (np.arange(n) + 0.5) / n)
    values = np.real(1 / (nodes - pole)) if np.isreal(pole) else 1 / (nodes**2 + abs(pole) ** 2)
    series = 2 / n * numeric.chebvander(nodes, n - 1).T @ values
    for rho in ellipses:  # the pole is outside of them
        z = chebyshev.ellipse(rho)
        disc = (z - pole).inverse() if np.isreal(pole) else (z * z + abs(pole) ** 2).inverse()
        for degree in (3, 10, 20):
            beyond = np.abs(series[degree + 1 :]).sum()
            assert beyond <= chebyshev.tail(disc.largest, rho, degree, 1)
            left = chebyshev.degree_for(disc.largest, rho, 2, 1e-9)
            assert chebyshev.tail(disc.largest, rho, int(left), 2) <= 1.001e-9


def test_a_pole_inside_of_an_ellipse_is_noticed():
    """On the ellipse alone 1/(z² + 0.01) looks harmless."""
    z = chebyshev.ellipse(2.0)
    with pytest.raises(ValueError, match="vanish"):
        (z * z + 0.01).inverse()
