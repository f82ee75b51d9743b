"""One response equals every pairwise adjoint."""

import numpy as np
import pytest

import physrank as pr
from libraries import GOOD, ROOT, SMALL, library
from problems import bratu


def test_adjoint_gap_refuses():
    ranking = pr.rank(ROOT, {"bad": np.array([1.0, np.nan, 1.0]), **GOOD}, invalid="exclude")
    for name in ("bad", "nobody"):
        with pytest.raises(ValueError, match=f"'{name}' is not among the valid candidates"):
            pr.adjoint_gap(ranking, "a", name)


@pytest.mark.parametrize("name", ["burgers", "reaction-diffusion 2-D", "marching, implicit dense", "stationary, dense"])
def test_one_response_equals_every_pairwise_adjoint(name):
    ranking = pr.rank(SMALL[name].problem, library(name))
    for i, j in ((0, 1), (2, 0), (1, 3)):
        estimate = pr.adjoint_gap(ranking, ranking.names[i], ranking.names[j])
        np.testing.assert_allclose(estimate, ranking.gaps[i, j], rtol=1e-7, atol=1e-12)


def test_adjoint_identity_needs_the_algebraic_defect(no_rescue):
    """With a sloppy solve the identity still closes, because ℓ is part of it."""
    problem = pr.Stationary(bratu, data=1.0, solver=pr.Krylov(rtol=1e-1, method="cg", max_steps=3))
    ranking = pr.rank(problem, library("stationary, dense"), effort="response", allow_unresolved=True)
    assert ranking.unresolved
    honest = pr.Stationary(bratu, data=1.0)
    object.__setattr__(ranking, "problem", honest)
    estimate = pr.adjoint_gap(ranking, "m0", "m1")
    np.testing.assert_allclose(estimate, ranking.gaps[0, 1], rtol=1e-7)


def test_adjoint_identity_is_for_full_corrections():
    for variant in (pr.Correction(step=0.5), pr.Correction(midpoint=True)):
        ranking = pr.rank(ROOT, GOOD, corrections=variant)
        with pytest.raises(ValueError, match="a full correction"):
            pr.adjoint_gap(ranking, "a", "b")


def test_an_adjoint_solve_that_fails_is_told(no_rescue):
    """The response was solved by a factorisation, the adjoint is asked of an iteration that stops after two steps."""
    ranking = pr.rank(pr.Stationary(bratu, data=1.0), library("stationary, dense"), effort="response")
    object.__setattr__(ranking, "problem", pr.Stationary(bratu, data=1.0, solver=pr.Krylov("cg", max_steps=2)))
    with pytest.raises(pr.UnresolvedError, match="adjoint solve did not converge"):
        pr.adjoint_gap(ranking, "m0", "m1")
