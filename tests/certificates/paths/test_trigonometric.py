"""Trigonometric polynomials in space: what the Burgers certificate takes for granted of them."""

from functools import cache

import equinox as eqx
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import physrank as pr
from physrank.certificates.paths.trigonometric import Line, coefficients


@cache
def line(points, viscosity=0.3, length=3.0):
    return Line.of(pr.equations.Burgers(np.zeros(points), viscosity, [0.0, 1.0], length=length, points=points))


def random_polynomial(degree, seed, decay=0.0):
    random = np.random.default_rng(seed)
    c = (random.standard_normal(degree + 1) + 1j * random.standard_normal(degree + 1)) * np.exp(
        -decay * np.arange(degree + 1)
    )
    c[0] = c[0].real
    return jnp.asarray(c)


def on(c, length, points=4096):
    """Values of Σ_{|k| ≤ K} c_k e^{2πikx/L} and of its first two derivatives."""
    k, x = 2 * np.pi / length * np.arange(len(c)), np.arange(points) * length / points
    waves = np.exp(1j * np.outer(x, k)) * np.where(k > 0, 2, 1)
    return [(waves @ ((1j * k) ** m * np.asarray(c))).real for m in range(3)]


@pytest.mark.parametrize("points", [4, 5, 6, 7, 31, 32])
def test_the_interpolant_goes_through_its_values(points):
    values = np.random.default_rng(points).standard_normal(points)
    np.testing.assert_allclose(on(coefficients(values), 3.0, points)[0], values, atol=1e-13)
    dense = on(coefficients(values), 3.0)[0]
    space = line(points)
    np.testing.assert_allclose(space.norm(jnp.asarray(coefficients(values))) ** 2, 3.0 * np.mean(dense**2), rtol=1e-12)


@eqx.filter_jit
def parts(space, u, u_t, f):
    """The residual, its kept and its dropped modes, the rate, and the slope of the smoothed residual."""
    r = space.residual(u, u_t, f)
    return r, space.kept(r), space.dropped(r), space.rate(u, f), space.slope(space.smoothed(r))


@pytest.mark.parametrize("points", [4, 6, 7, 32])
def test_residual_of_a_polynomial(points):
    """All modes of u_t − ν u_xx + u u_x − f, for a force on the whole grid."""
    space = line(points)
    u, u_t = (random_polynomial(space.degree, seed) for seed in (1, 2))
    f = jnp.asarray(coefficients(np.random.default_rng(3).standard_normal(points)))
    (value, slope, curve), (rate, *_), (force, *_) = (on(c, 3.0) for c in (u, u_t, f))
    expected = rate - 0.3 * curve + value * slope - force
    r, low, high, own_rate, smoothed = parts(space, u, u_t, f)
    np.testing.assert_allclose(on(r, 3.0)[0], expected, atol=1e-11)
    np.testing.assert_allclose(low, u_t - own_rate, atol=1e-12)
    np.testing.assert_allclose(space.inner(low, low) + space.inner(high, high), 3.0 * np.mean(expected**2), rtol=1e-12)
    np.testing.assert_allclose(space.norm(smoothed), space.norm(high), atol=1e-12)
    np.testing.assert_allclose(space.inner(u, u_t), 3.0 * np.mean(value * rate), atol=1e-12)
    assert space.grid > 4 * space.degree  # squares of products are integrated exactly


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.floats(0, 1))
def test_the_grid_misses_no_more_than_said(seed, decay):
    space = line(32)
    c = random_polynomial(space.degree, seed, decay)
    values, largest = np.asarray(space.values(c)), on(c, 3.0, 100 * space.grid)[0].max()  # grid points among others
    assert values.max() <= largest + 1e-12
    assert largest <= values.max() + float(space.missed(c)) + 1e-12


def test_the_grid_alone_is_no_bound():
    space = line(32)
    missed = [
        on(c, 3.0)[0].max() - float(space.values(c).max()) for c in map(lambda s: random_polynomial(10, s), range(9))
    ]
    assert max(missed) > 0.01


@pytest.mark.parametrize("points", [16, 24, 32, 64])
def test_the_path_has_the_modes_that_the_flow_resolves(points):
    """As many as leave no product aliased, 3K < n, and no fewer."""
    problem = pr.equations.Burgers(np.zeros(points), 0.1, [0.0, 0.1], points=points)
    degree = Line.of(problem).degree
    assert 3 * degree < points <= 3 * (degree + 1)
