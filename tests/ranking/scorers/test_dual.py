"""Variational scores are dual norms and bound the error."""

import jax
import jax.numpy as jnp
import numpy as np

import laws
from physrank import scorers
from physrank.ranking.scorers import dual
from scored import FIELD, library, truth


def test_variational_scores_are_the_dual_norms_and_bound_the_error():
    h, interior = FIELD.spacing, (slice(1, -1), slice(1, -1))
    apply = jax.jit(jax.vmap(lambda e: FIELD.operator.apply(jnp.pad(e, 1)).ravel()))
    columns = np.asarray(apply(np.eye(100).reshape(100, 10, 10)))

    def dense(reaction):
        return columns.T + np.diag(reaction)

    energy = scorers.CommonEnergy()(FIELD, library("field"))
    majorant = scorers.AdaptedMajorant()(FIELD, library("field"))
    assert energy.solves == majorant.solves == 3
    lam, gamma = float(FIELD.linear), float(FIELD.cubic)
    for k, v in enumerate(library("field").values()):
        r = np.asarray(laws._defect(FIELD, jnp.asarray(v)))[interior].ravel()
        error = (v - truth("field"))[interior].ravel()
        common = dense(np.full(100, lam))
        np.testing.assert_allclose(energy.values[k], h**2 * r @ np.linalg.solve(common, r), rtol=1e-8)
        assert h**2 * error @ common @ error <= energy.values[k] * (1 + 1e-6)
        adapted = dense(lam + 0.75 * gamma * v[interior].ravel() ** 2)
        smallest = float(FIELD.coercivity(jnp.asarray(v)))
        assert smallest <= np.linalg.eigvalsh(adapted)[0] * (1 + 1e-12)
        np.testing.assert_allclose(majorant.values[k], h**2 * r @ np.linalg.solve(adapted, r) / smallest, rtol=1e-8)
        assert h**2 * error @ error <= majorant.values[k]


def test_failed_inverse_actions_mark_the_variational_scores(monkeypatch):
    for failed in (slice(None), slice(2, None)):  # all of them, or one

        def stub(problem, states, adapted, failed=failed):
            return jnp.ones(len(states)), jnp.ones(len(states), bool).at[failed].set(False)

        monkeypatch.setattr(dual, "_dual_energies", stub)
        assert "did not converge" in scorers.CommonEnergy()(FIELD, library("field")).unresolved


def test_boundary_violations_count_in_the_dual_energy():
    lifted = {"flat": truth("field"), "raised": truth("field") + 0.1}
    scores = scorers.CommonEnergy()(FIELD, lifted).values
    raised = float(FIELD.residual_energy(jnp.asarray(np.pad(np.zeros((10, 10)), 1, constant_values=0.1))))
    assert scores[1] > raised > 100 * scores[0]
