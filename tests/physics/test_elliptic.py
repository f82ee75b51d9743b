"""The fast Dirichlet solver against a sparse factorisation."""

import jax.numpy as jnp
import numpy as np
import pytest
import scipy.sparse as sparse
import scipy.sparse.linalg

from physrank.physics.elliptic import DirichletDiffusion
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
