"""Exact bases and a quadrature that bounds every square of a polynomial."""

from fractions import Fraction

import numpy as np
import pytest

from physrank.certificates.paths import exact_times, time_polynomials


@pytest.mark.parametrize("count", [2, 5, 11])
def test_the_weights_bound_and_hardly_more(count):
    random = np.random.default_rng(count)
    weights, nodes = exact_times.weights(count), exact_times.nodes(count)
    for _ in range(20):
        p = [Fraction(int(c)) for c in random.integers(-9, 10, count)]
        square = exact_times._times(p, p)
        exact = sum((c / (k + 1) for k, c in enumerate(square)), Fraction(0))
        values = [sum((c * t**k for k, c in enumerate(p)), Fraction(0)) for t in nodes]
        bound = sum((Fraction(w) * v**2 for w, v in zip(weights.tolist(), values, strict=True)), Fraction(0))
        assert exact <= bound <= exact * (1 + Fraction(1, 10**9))


def test_plain_gauss_weights_are_no_bound():
    """Nodes are rounded: with Gauss's own weights some squares would be missed."""
    count, nodes = 5, exact_times.nodes(5)
    plain = [Fraction(float(w)) for w in time_polynomials.gauss(2 * count - 1)[1]]
    random, missed = np.random.default_rng(0), 0
    for _ in range(40):
        p = [Fraction(int(c)) for c in random.integers(-9, 10, count)]
        square = exact_times._times(p, p)
        exact = sum((c / (k + 1) for k, c in enumerate(square)), Fraction(0))
        values = [sum((c * t**k for k, c in enumerate(p)), Fraction(0)) for t in nodes]
        missed += sum((w * v**2 for w, v in zip(plain, values, strict=True)), Fraction(0)) < exact
    assert missed > 0


def test_bases_agree_with_the_ones_that_are_computed():
    at = np.array([float(t) for t in exact_times.nodes(11)])
    for degree in (4, 5):
        found = exact_times.bernstein(degree, 11)
        np.testing.assert_allclose(found.middle, time_polynomials.evaluate(np.eye(degree + 1), at), rtol=1e-12)
        assert np.all(found.low < found.high)
    for substeps in (1, 4, 7):
        found = exact_times.samples(substeps, 11)
        expected, _ = time_polynomials.sample_matrices(substeps, tuple(at))
        np.testing.assert_allclose(found.middle, expected.reshape(-1, 2 * substeps + 1), atol=1e-11)
