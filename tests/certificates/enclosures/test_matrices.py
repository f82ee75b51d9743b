"""Norms of matrices are bounds, and close ones."""

from fractions import Fraction

import mpmath
import numpy as np
import pytest

from physrank.certificates.enclosures.matrices import contracted, inverse_norm, spectral_norm
from physrank.certificates.enclosures.rounding import Interval


def random_matrix(seed, n, condition):
    random = np.random.default_rng(seed)
    left, right = (np.linalg.qr(random.standard_normal((n, n)))[0] for _ in range(2))
    return left @ np.diag(np.geomspace(1, 1 / condition, n)) @ right * 10.0 ** random.uniform(-20, 20)


@pytest.mark.parametrize("condition", [1.0, 1e4, 1e10, 1e13])
@pytest.mark.parametrize("n", [1, 2, 6])
def test_norms_bound_the_exact_ones(n, condition):
    for seed in range(4):
        matrix = random_matrix(seed, n, condition)
        with mpmath.workdps(60):
            values = mpmath.svd_r(mpmath.matrix(matrix.tolist()), compute_uv=False)
            largest, least = max(values), min(values)
            assert largest <= spectral_norm(matrix) <= largest * (1 + 1e-12)
            assert 1 / least <= inverse_norm(matrix, 0 * matrix) <= 1 / least * (1 + 1e-15 * condition * 100)


def test_errors_of_the_entries_count():
    matrix = random_matrix(0, 5, 1e3)
    error = 1e-6 * np.abs(matrix).max() * np.ones_like(matrix)
    found, random = inverse_norm(matrix, error), np.random.default_rng(1)
    for _ in range(50):
        near = matrix + error * random.choice([-1.0, 1.0], matrix.shape)
        assert np.linalg.norm(np.linalg.inv(near), 2) <= found * (1 + 1e-12)
    assert found > 1.001 * inverse_norm(matrix, 0 * matrix)


def test_what_is_not_shown_to_be_invertible_has_no_bound():
    assert inverse_norm(np.zeros((3, 3)), np.zeros((3, 3))) == np.inf
    assert inverse_norm(np.array([[1.0, 1.0], [1.0, 1.0 + 1e-17]]), np.zeros((2, 2))) == np.inf
    assert inverse_norm(np.eye(2), np.full((2, 2), 0.6)) == np.inf
    assert spectral_norm(np.zeros((2, 2))) == 0.0
    assert spectral_norm(np.array([[np.inf]])) == np.inf


def test_long_sums_of_products_hold_the_exact_ones():
    """400 products that nearly cancel: only γ covers what their sum loses."""
    random = np.random.default_rng(0)
    missed = 0
    for _ in range(20):
        a, b = random.standard_normal((2, 200))
        left, right = np.concatenate([a, -a]), np.concatenate([b, b * (1 + 1e-15)])
        found = contracted(Interval.of(left[None]), Interval.of(right[None]))
        exact = sum(
            (Fraction(x) * Fraction(y) for x, y in zip(left.tolist(), right.tolist(), strict=True)), Fraction(0)
        )
        assert Fraction(float(found.low[0, 0])) <= exact <= Fraction(float(found.high[0, 0]))
        missed += abs(Fraction(float(left @ right)) - exact) > Fraction(2.0**-48)
    assert missed > 0
