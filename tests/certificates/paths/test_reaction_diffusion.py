"""Polynomials that solve elliptic equations: close to exact solutions after few corrections, zero on the boundary."""

import mpmath
import numpy as np
import pytest
from numpy.polynomial import chebyshev

from manufactured import Manufactured
from physrank.certificates.enclosures.chebyshev import conforming
from physrank.certificates.paths.reaction_diffusion import Equation, reconstruct


def cubic(u):
    return 0.7 * u + 0.5 * u**3, 0.7 + 1.5 * u**2


def on_grid(coefficients, points):
    x, degree = np.linspace(-1, 1, points), len(coefficients) + 1
    matrix = chebyshev.chebvander(x, degree) @ conforming(degree)
    for axis in range(coefficients.ndim):
        coefficients = np.moveaxis(np.tensordot(matrix, coefficients, (1, axis)), 0, axis)
    return coefficients


@pytest.mark.parametrize("dims", [1, 2, 3])
@pytest.mark.parametrize("start", [0.0, 1.0])
def test_exact_solutions_are_found(dims, start):
    case = Manufactured.draw(np.random.default_rng(dims), dims, lambda u: 0.7 * u + 0.5 * (u * u * u))
    shape = (9,) * dims
    with mpmath.workdps(30):
        truth = np.array([float(t) for t in case.solution(shape)]).reshape(shape)
    equation = Equation(case.diffusion, case.forcing, cubic, (case.length,) * dims)
    coefficients, corrections = reconstruct(equation, start * truth)
    found = on_grid(coefficients, 9)
    np.testing.assert_allclose(found, truth, atol=1e-11 * np.abs(truth).max())
    for axis in range(dims):
        assert np.abs(np.moveaxis(found, axis, 0)[[0, -1]]).max() <= 1e-14 * np.abs(truth).max()
    assert corrections <= 3


def test_what_cannot_be_solved_is_not_hidden():
    """Without a number for an answer the coefficients are none: whoever encloses them sees it."""
    equation = Equation(lambda x: 1 + 0 * x, lambda x: np.nan * x, cubic, (1.0,))
    coefficients, _ = reconstruct(equation, np.zeros(9))
    found = on_grid(coefficients, 9)
    assert np.all(found == 0) or not np.all(np.isfinite(found))
