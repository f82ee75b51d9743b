"""Polynomials in time: what the Burgers certificate takes for granted of them."""

import jax.numpy as jnp
import numpy as np
import pytest

from physrank.certificates.paths import time_polynomials

THETA = np.linspace(0, 1, 7)


@pytest.mark.parametrize("degree, build", [(3, time_polynomials.cubic), (5, time_polynomials.quintic)])
def test_pieces_reproduce_polynomials(degree, build):
    p = np.polynomial.Polynomial(np.random.default_rng(degree).standard_normal(degree + 1))
    jets = [tuple(p.deriv(m)(end) if m else p(end) for m in range((degree + 1) // 2)) for end in (0.0, 1.0)]
    c = build(*[tuple(map(jnp.asarray, jet)) for jet in jets])
    np.testing.assert_allclose(time_polynomials.evaluate(c, THETA), p(THETA), atol=1e-13)
    np.testing.assert_allclose(
        time_polynomials.evaluate(time_polynomials.derivative(c), THETA), p.deriv()(THETA), atol=1e-12
    )
    assert np.all(p(np.linspace(0, 1, 101)) <= np.max(c) + 1e-14)  # the convex hull
    np.testing.assert_allclose(np.mean(c), p.integ()(1.0) - p.integ()(0.0), atol=1e-14)


@pytest.mark.parametrize("degree", [0, 5, 16, 20])
def test_gauss_is_exact_to_its_degree(degree):
    nodes, weights = time_polynomials.gauss(degree)
    np.testing.assert_allclose(weights @ nodes**degree, 1 / (degree + 1), rtol=1e-13)
    beyond = 2 * len(nodes)
    assert abs(weights @ nodes**beyond - 1 / (beyond + 1)) > 1e-14


@pytest.mark.parametrize("substeps", [1, 2, 4, 5, 20])
def test_samples_are_interpolated(substeps):
    degree = min(2 * substeps, time_polynomials.SAMPLES_DEGREE)
    p = np.polynomial.Polynomial(np.random.default_rng(substeps).standard_normal(degree + 1), domain=[0, substeps])
    values, slopes = time_polynomials.sample_matrices(substeps, tuple(THETA))
    samples = p(np.arange(2 * substeps + 1) / 2)
    starts = np.arange(substeps)[:, None]
    np.testing.assert_allclose(values @ samples, p(starts + THETA), atol=1e-12)
    np.testing.assert_allclose(slopes @ samples, p.deriv()(starts + np.array([0, 1])), atol=1e-11)
    anything = np.random.default_rng(0).standard_normal(2 * substeps + 1)
    np.testing.assert_allclose((values @ anything)[:, [0, -1]], np.stack([anything[:-2:2], anything[2::2]], 1))
    assert np.abs(values).sum(axis=-1).max() < 12  # the Lebesgue constant: round-off is not amplified
