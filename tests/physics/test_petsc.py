"""PETSc as a solver of matrices, where `petsc4py` is installed: it solves both ways, pivots, never makes up a solution."""

import numpy as np
import pytest
from scipy import sparse

import physrank as pr
from physrank.physics.factors import Factored

petsc = pytest.importorskip("petsc4py.PETSc", reason="PETSc is not installed")

RNG = np.random.default_rng(4)
SKEW = sparse.csc_array(sparse.diags_array([-1.0, 2.5, -0.3], offsets=[-1, 0, 1], shape=(60, 60)))
COMPLEX = np.dtype(petsc.ScalarType).kind == "c"


def solved(matrix, rhs):
    """‖M x − r‖ and ‖Mᴴ z − r‖."""
    factors = Factored(matrix, "petsc")
    adjoint = np.conj(matrix.T)
    return [
        np.linalg.norm(m @ x - rhs) for m, x in ((matrix, factors.solve(rhs)), (adjoint, factors.solve_adjoint(rhs)))
    ]


@pytest.mark.parametrize("matrix", [SKEW, SKEW.toarray()], ids=["sparse", "dense"])
def test_it_solves_both_ways(matrix):
    assert max(solved(matrix, RNG.standard_normal(60))) < 1e-12
    assert max(solved(matrix, RNG.standard_normal(60) + 1j * RNG.standard_normal(60))) < 1e-12


def test_saddle_points():
    """Zeros on the diagonal that are not even stored: only pivots help."""
    divergence = sparse.random_array((20, 60), density=0.2, random_state=np.random.default_rng(2))
    matrix = sparse.csc_array(sparse.block_array([[SKEW, divergence.T], [divergence, None]]))
    assert max(solved(matrix, RNG.standard_normal(80))) < 1e-9


def test_what_has_no_solution_is_not_a_number():
    matrix = SKEW.tolil()
    matrix[0] = 0.0
    found = Factored(sparse.csc_array(matrix), "petsc").solve(np.ones(60))
    assert not np.linalg.norm(matrix @ found - 1) < 0.5  # nan, or nothing that could be taken for a solution


def test_complex_matrices():
    matrix, rhs = sparse.csc_array(SKEW + 0.2j * sparse.eye_array(60)), RNG.standard_normal(60) + 0j
    if COMPLEX:
        assert max(solved(matrix, rhs)) < 1e-12
    else:
        with pytest.raises(ValueError, match="built for real numbers"):
            solved(matrix, rhs)


def test_rankings_are_those_of_other_solvers():
    truth = np.linalg.solve(SKEW.toarray(), np.ones(60))
    candidates = {name: truth + size * RNG.standard_normal(60) for name, size in (("far", 0.5), ("near", 0.01))}
    doubtful = {"rhs": np.full(60, 1e-3)}  # which asks for the adjoint, too
    ours, others = (
        pr.rank(pr.Linear(SKEW, np.ones(60), solver=s), candidates, uncertainty=doubtful) for s in ("petsc", None)
    )
    assert ours.order == others.order and ours.settled
    np.testing.assert_allclose(ours.scores, others.scores, rtol=1e-9)
    np.testing.assert_allclose(ours.uncertainty, others.uncertainty, rtol=1e-6, atol=1e-12)
    cubic = pr.Assembled(
        lambda u: SKEW @ u + u**3 - 1.0, lambda u: SKEW + sparse.diags_array(3 * u**2), solver="petsc", shape=(60,)
    )
    assert pr.rank(cubic, candidates).response.converged
