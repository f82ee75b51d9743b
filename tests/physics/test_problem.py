"""The paper's raw product norms, written out by hand."""

import jax.numpy as jnp
import numpy as np

import physrank as pr


def test_raw_norms_are_the_papers():
    random = np.random.default_rng(0)
    times = np.array([0.0, 0.1, 0.3])
    problem = pr.equations.Burgers(np.zeros(8), 0.1, times, points=8)
    map_defect = random.standard_normal((3, 8))
    dx = 2 * np.pi / 8
    pde_defect = [map_defect[1] / 0.1, map_defect[2] / 0.2]
    expected = dx * np.sum(map_defect[0] ** 2) + dx * (
        0.1 * np.sum(pde_defect[0] ** 2) + 0.2 * np.sum(pde_defect[1] ** 2)
    )
    np.testing.assert_allclose(problem.residual_energy(jnp.asarray(map_defect)), expected, rtol=1e-13)
    field = pr.equations.ReactionDiffusion(np.ones((5, 5)), np.ones((5, 5)), 1.0, 1.0)
    r = random.standard_normal((5, 5))
    inner = r[1:-1, 1:-1]
    boundary = np.sum(r**2) - np.sum(inner**2)
    np.testing.assert_allclose(
        field.residual_energy(jnp.asarray(r)), 0.25 * boundary + 0.25**2 * np.sum(inner**2), rtol=1e-13
    )
    march = pr.Marching(lambda u: u, np.zeros(4))
    r = random.standard_normal((3, 4))
    np.testing.assert_allclose(march.residual_energy(jnp.asarray(r)), np.sum(r**2) / 4, rtol=1e-13)
