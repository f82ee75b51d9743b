"""The flow between rows: slopes of Verlet's map, and what sampling misses of the residual."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from energy_cases import waves
from helpers import solve
from physrank.certificates.paths import sine_gordon as path
from physrank.equations import SineGordon
from physrank.geometry.lifts import lift


def test_verlet_slopes_are_those_of_the_flow():
    times = [0.0, 0.05, 0.12]
    problem = waves(4, times=times, substeps=1)
    state = solve(problem) + 0.01 * np.random.default_rng(0).standard_normal((3, 2, 32))
    stages = path.verlet_stages(problem, state)
    least, largest = stages.least, stages.largest
    for n in range(2):
        row = jax.tree.map(lambda leaf, n=n: leaf[n], problem.marching.forcing)
        ahead = np.cos(np.asarray(problem.flow(jnp.asarray(state[n]), problem.speed, row))[0])
        np.testing.assert_allclose([least[n, 1], largest[n, 1]], [ahead.min(), ahead.max()], rtol=1e-12)
        np.testing.assert_allclose(least[n, 0], np.cos(state[n, 0]).min(), rtol=1e-12)


@pytest.mark.parametrize("amplitude", [0.3, 2.0])
def test_remainders_of_the_residual_are_bounds(amplitude):
    """What sampling at Gauss nodes and on the fine grid misses of sin ŝ, against dense samples."""
    random, points, fine = np.random.default_rng(5), 8, 16
    series = [amplitude * random.standard_normal((1, points)) / 3.0 ** (2 * m) for m in range(path.DEGREE + 1)]
    spectra = [np.fft.rfft(term, norm="forward") for term in series]
    sizes = np.stack([path.multiplicity(points) * np.abs(c) for c in spectra])
    dense = [path._lifted(c, points, 256) for c in spectra]
    nodes = (np.polynomial.legendre.leggauss(path.NODES)[0] + 1) / 2
    z = np.linspace(0, 1, 41)
    missed_space = missed_time = 0.0
    for at in z:
        g = np.sin(path._at(dense, at))
        missed_space = max(missed_space, np.abs(g - lift(g[:, :: 256 // fine], (256,), "fourier")).max())
    samples = np.stack([np.sin(path._at(dense, at))[0] for at in nodes])
    for at in z:
        basis = [np.prod([(at - b) / (a - b) for b in nodes if b != a]) for a in nodes]
        missed_time = max(missed_time, np.abs(np.sin(path._at(dense, at))[0] - basis @ samples).max())
    assert missed_space <= path._outside_grid(sizes.sum(axis=0), fine)[0] < 1e4 * missed_space
    assert missed_time <= path._between_nodes(sizes.sum(axis=2))[0] + 1e-15


def still(points, speed=1.2):
    """A problem whose fields do not matter: only its grid and wave speed are used."""
    return SineGordon(np.zeros(points), np.zeros(points), [0.0, 0.1], speed, points=points)


def test_taylor_terms_are_those_of_the_equation():
    """u_tt = c² u_xx − sin u + f by hand: on a flat field the pendulum's, on a small wave those of the linear equation."""
    problem, h = still(8), 0.1
    step, flat = np.array([[h]]), np.ones((1, 8))
    u, v, f, g = 0.7, 1.3, 0.4, 0.2
    found = path._taylor(u * flat, h * v * flat, [f * flat, g * flat], step, problem)
    rate = f - np.sin(u)
    expected = [
        u,
        h * v,
        h**2 * rate / 2,
        (h**2 * g - h**3 * v * np.cos(u)) / 6,
        h**4 * (v**2 * np.sin(u) - rate * np.cos(u)) / 24,
    ]
    np.testing.assert_allclose([float(term[0, 0]) for term in found[:5]], expected, rtol=1e-12)
    wave = 1e-6 * np.cos(2 * np.pi * np.arange(8) / 8 * 2)[None]
    found = path._taylor(wave, 0 * wave, [0 * wave, 0 * wave], step, problem)
    square = (2 * float(problem.speed)) ** 2 + 1
    for m, factor in ((2, -square * h**2 / 2), (4, square**2 * h**4 / 24), (6, -(square**3) * h**6 / 720)):
        np.testing.assert_allclose(found[m].astype(float), factor * wave, rtol=1e-9, atol=1e-20)


def test_lifted_values_are_those_of_the_interpolant():
    for points in (8, 9):
        values = np.random.default_rng(0).standard_normal((3, points))
        fine = path._lifted(np.fft.rfft(values, norm="forward"), points, 4 * points)
        np.testing.assert_allclose(fine.astype(float), lift(values, (4 * points,), "fourier"), atol=1e-12)


def dense_residual(series, force, step, problem, points=512, nodes=40):
    """∫ ‖ŝ_tt − c² ŝ_xx + sin ŝ − f‖ dt on a grid that resolves anything."""
    at = [lift(np.asarray(term, float), (points,), "fourier") for term in [*series, *force]]
    terms, push = at[: len(series)], at[len(series) :]
    k = np.arange(points // 2 + 1)
    total = 0.0
    for z, weight in zip(*np.polynomial.legendre.leggauss(nodes), strict=True):
        z, weight = (z + 1) / 2, weight / 2
        bent = sum(m * (m - 1) * z ** (m - 2) * terms[m] for m in range(2, len(terms))) / step**2
        value = sum(z**m * term for m, term in enumerate(terms))
        curved = np.fft.irfft(-(k**2) * np.fft.rfft(value), n=points)
        left = bent - float(problem.speed) ** 2 * curved + np.sin(value) - (push[0] + z * push[1])
        total += weight * np.sqrt(np.sum(left**2) * problem.length / points)
    return step * total


def test_the_measured_residual_is_a_bound_also_where_sampling_sees_too_little(monkeypatch):
    """Waves so high that their sine is rough between the points of the fine grid; tight for ordinary ones."""
    random, step = np.random.default_rng(3), 0.05
    missed = 0
    for trial in range(24):
        problem = still(4, 0.8 + 0.02 * trial)
        size = (0.5, 8.0)[trial % 2]
        u, v, *force = (size * random.standard_normal((1, 4)) for _ in range(4))
        series = path._taylor(u, step * v, force, np.array([[step]]), problem)
        true = dense_residual(series, force, step, problem)
        found = path._measure(series, force, np.array([[step]]), problem)[0][0]
        assert true <= found * (1 + 1e-9)
        if size < 1:
            assert found <= 3 * true + 1e-9
        with monkeypatch.context() as without:
            for name in ("_outside_grid", "_between_nodes"):
                without.setattr(path, name, lambda *_: 0.0)
            missed += path._measure(series, force, np.array([[step]]), problem)[0][0] < true * (1 - 1e-6)
    assert missed > 0  # the remainders are needed


def test_cosines_are_enclosed_during_the_whole_substep():
    """A pendulum that swings far within one substep: neither end shows the cosines between."""
    problem = SineGordon(np.full(8, -0.6), np.full(8, 5.0), [0.0, 0.24], points=8, substeps=1)
    found = path.reconstruct(problem, solve(problem))
    assert found.largest[0, 0] >= 1 and found.least[0, 0] <= np.cos(0.6)


def test_a_residual_with_a_changing_force_is_measured_against_that_force():
    steady, ramp = (np.full((1, 8), 1.0), np.full((1, 8), -2.0))
    problem, step = still(8), np.array([[0.1]])
    series = path._taylor(0.3 * steady, 0 * steady, [steady, ramp], step, problem)
    right = path._measure(series, [steady, ramp], step, problem)[0][0]
    assert right < 1e-6 < path._measure(series, [steady, 0 * ramp], step, problem)[0][0]
