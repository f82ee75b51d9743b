"""The fast Dirichlet solver: its transforms against SciPy's, its solutions against a sparse factorisation."""

import jax.numpy as jnp
import numpy as np
import pytest
import scipy.fft
import scipy.sparse as sparse
import scipy.sparse.linalg

from physrank.physics import elliptic
from physrank.physics.elliptic import DirichletDiffusion, sine_transform


@pytest.mark.parametrize(
    "shape", [(7, 5), (elliptic.FAST_FROM, 9), (elliptic.FAST_FROM + 1, elliptic.FAST_FROM), (4, 5, 6)]
)
def test_transforms_are_scipys(shape):
    x = np.random.default_rng(0).standard_normal(shape)
    np.testing.assert_allclose(sine_transform(jnp.asarray(x)), scipy.fft.dstn(x, type=1, norm="ortho"), atol=2e-6)
    single = sine_transform(jnp.asarray(x, jnp.float32))
    assert single.dtype == jnp.float32
    np.testing.assert_allclose(single, scipy.fft.dstn(x, type=1, norm="ortho"), atol=1e-4)


@pytest.mark.parametrize("points", [24, elliptic.FAST_FROM + 2])
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
