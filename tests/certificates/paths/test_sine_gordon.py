"""The flow between rows: slopes of Verlet's map, and what sampling misses of the residual."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from energy_cases import waves
from helpers import solve
from physrank.certificates.paths import sine_gordon as path
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
