"""The fast Dirichlet solver against a sparse factorisation."""

import jax.numpy as jnp
import numpy as np
import pytest
import scipy.sparse as sparse
import scipy.sparse.linalg

from physrank import compute
from physrank._arrays import as_double
from physrank.physics.elliptic import DirichletDiffusion
from physrank.physics.solvers import ROUGH
from physrank.physics.transforms import SINE_FROM


@pytest.mark.parametrize("points", [24, SINE_FROM + 2])
def test_solves_like_a_sparse_factorisation(points):
    x = np.linspace(0, 1, points)
    a = np.exp(0.5 * np.sin(2 * np.pi * x[:, None]) * np.cos(np.pi * x[None, :]))
    diffusion = DirichletDiffusion(jnp.asarray(a), 1 / (points - 1))
    reaction, rhs = 1 + np.add.outer(x, x)[1:-1, 1:-1], np.random.default_rng(1).standard_normal((points - 2,) * 2)
    solve = diffusion.solve(jnp.asarray(reaction), jnp.asarray(rhs), jnp.asarray(0.0))
    expected = scipy.sparse.linalg.spsolve(matrix(a, 1 / (points - 1)) + sparse.diags(reaction.ravel()), rhs.ravel())
    np.testing.assert_allclose(solve.value.ravel(), expected, rtol=0, atol=1e-8 * np.abs(expected).max())


def _both(diffusion, reaction, rhs):
    """One iteration, to two digits: judged by a solver, and by itself."""
    whole = diffusion.solve(reaction, rhs, jnp.asarray(0.0), rtol=ROUGH)
    return whole.value, whole.defect, diffusion.solve_roughly(reaction, rhs, jnp.asarray(0.0), ROUGH)


@pytest.mark.parametrize("jump", [0.0, 3.0], ids=["smooth", "jump"])
@pytest.mark.parametrize("size", [1.0, 1e-300])
def test_a_rough_solve_ends_where_the_judged_one_does(jump, size):
    x = np.linspace(0, 1, 24)
    a = np.exp(0.5 * np.sin(2 * np.pi * x[:, None]) * np.cos(np.pi * x[None, :])) + jump * (x > 0.4)
    diffusion = DirichletDiffusion(as_double(a), 1 / 23)
    rhs = size * np.random.default_rng(1).standard_normal((22, 22))
    value, defect, roughly = compute.run(_both, diffusion, np.ones((22, 22)), rhs)
    assert 1e-3 * np.linalg.norm(rhs / size) < np.linalg.norm(defect / size) <= ROUGH * np.linalg.norm(rhs / size)
    np.testing.assert_allclose(roughly / size, value / size, rtol=0, atol=1e-9 * np.abs(value / size).max())


def test_what_a_rough_solve_makes_of_what_is_not_finite_is_not_finite():
    """Nothing would look like a state that does not move."""
    diffusion, rhs = DirichletDiffusion(as_double(np.ones((8, 8))), 1 / 7), np.full((6, 6), np.nan)
    assert np.isnan(compute.run(_both, diffusion, np.ones((6, 6)), rhs)[2]).all()


def matrix(a, h):
    """−∇·(a∇) with harmonic means on the faces, assembled face by face."""
    n, rows, columns, values = len(a) - 2, [], [], []
    number = -np.ones(a.shape, int)
    number[1:-1, 1:-1] = np.arange(n * n).reshape(n, n)
    for one, other in ((np.s_[:-1, :], np.s_[1:, :]), (np.s_[:, :-1], np.s_[:, 1:])):
        face = (2 * a[one] * a[other] / (a[one] + a[other]) / h**2).ravel()
        i, j = number[one].ravel(), number[other].ravel()
        for p, q in ((i, j), (j, i)):
            inside, both = p >= 0, (p >= 0) & (q >= 0)
            rows += [p[inside], p[both]]
            columns += [p[inside], q[both]]
            values += [face[inside], -face[both]]
    return sparse.csc_matrix((np.concatenate(values), (np.concatenate(rows), np.concatenate(columns))))
