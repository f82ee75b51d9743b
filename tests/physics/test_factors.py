"""Matrices with solvers: every solver solves both ways, equal matrices share factors, singular ones say so."""

import numpy as np
import pytest
from scipy import sparse
from scipy.sparse.linalg import factorized, splu, spsolve

import physrank as pr
from physrank.physics.factors import KEPT, PACKAGES, Factored, as_matrix, factored

RNG = np.random.default_rng(0)
SYMMETRIC = sparse.csc_array(
    sparse.diags_array([-1.0, 2.5, -1.0], offsets=[-1, 0, 1], shape=(60, 60))  # positive definite, for multigrid too
)
SKEW = sparse.csc_array(SYMMETRIC + 0.7 * sparse.eye_array(60, k=1))
ONE_SIDED = sparse.csc_array(SYMMETRIC + 0.3 * sparse.eye_array(60, k=5))  # its pattern is not symmetric


class Both:
    """A solver of one's own that offers an adjoint."""

    def __init__(self, matrix):
        self.matrix = matrix.toarray()

    def solve(self, rhs):
        return np.linalg.solve(self.matrix, rhs)

    def solve_adjoint(self, rhs):
        return np.linalg.solve(self.matrix.T, rhs)


@pytest.mark.parametrize(
    "solver",
    [None, "lu", "ilu", "pyamg", factorized, splu, spsolve, Both],
    ids=lambda s: getattr(s, "__name__", str(s)),
)
@pytest.mark.parametrize("matrix", [SYMMETRIC, SKEW, ONE_SIDED], ids=["symmetric", "skew", "one-sided"])
def test_every_solver_solves_both_ways(solver, matrix):
    factors, rhs = Factored(matrix, solver), RNG.standard_normal(60)
    np.testing.assert_allclose(matrix @ factors.solve(rhs), rhs, atol=1e-9)
    np.testing.assert_allclose(matrix.T @ factors.solve_adjoint(rhs), rhs, atol=1e-9)


@pytest.mark.parametrize("solver", ["ilu", "pyamg", factorized], ids=lambda s: getattr(s, "__name__", str(s)))
def test_solvers_of_real_matrices_take_complex_right_hand_sides(solver):
    factors, rhs = Factored(SKEW, solver), RNG.standard_normal(60) + 1j * RNG.standard_normal(60)
    np.testing.assert_allclose(SKEW @ factors.solve(rhs), rhs, atol=1e-9)
    np.testing.assert_allclose(SKEW.T @ factors.solve_adjoint(rhs), rhs, atol=1e-9)


@pytest.mark.parametrize("kind", ["sparse", "dense"])
def test_complex_matrices_and_right_hand_sides(kind):
    matrix = SKEW + 0.2j * sparse.eye_array(60)
    rhs = RNG.standard_normal(60) + 1j * RNG.standard_normal(60)
    for known in (matrix, SKEW):
        factors = Factored(as_matrix("matrix", known if kind == "sparse" else known.toarray()))
        np.testing.assert_allclose(known @ factors.solve(rhs), rhs, atol=1e-12)
        np.testing.assert_allclose(known.conj().T @ factors.solve_adjoint(rhs), rhs, atol=1e-12)


def test_a_matrix_is_factored_once_for_all_problems_that_share_it():
    counted = []

    def solver(matrix):
        counted.append(1)
        return splu(matrix)

    problems = [pr.Linear(SKEW.copy(), rhs, solver=solver) for rhs in RNG.standard_normal((3, 60))]
    libraries = [{"a": np.zeros(60), "b": np.ones(60)}] * 3
    list(pr.rank_panel(problems, libraries))
    assert len(counted) == 1
    assert factored(as_matrix("matrix", 2 * SKEW), solver) is not problems[0].factors
    changed = SKEW.copy()
    first = pr.Linear(changed, np.ones(60))
    changed.data *= 2  # what a user does to the matrix afterwards is the user's
    np.testing.assert_allclose(first.matrix.toarray(), SKEW.toarray())


def test_only_a_few_matrices_keep_their_factors():
    problems = [pr.Linear((1 + k) * SKEW, np.ones(60)) for k in range(KEPT + 3)]
    for problem in (*problems, problems[0]):
        np.testing.assert_allclose(problem.matrix @ problem.factors.solve(problem.rhs), 1, atol=1e-12)
    kept = [bool(problem.factors._prepared) for problem in problems]
    assert sum(kept) == KEPT and kept[0] and not kept[1]


def test_singular_and_broken_matrices():
    neumann = sparse.csc_array(sparse.diags_array([-1.0, 2.0, -1.0], offsets=[-1, 0, 1], shape=(9, 9)))
    neumann[0, 0] = neumann[-1, -1] = 1.0
    for matrix in (neumann, neumann.toarray()):
        rhs = np.linspace(-1, 1, 9)  # it has a solution, up to a constant
        value = Factored(matrix).solve(rhs)
        np.testing.assert_allclose(neumann @ value, rhs, atol=1e-6 * np.abs(value).max())
        assert np.isnan(Factored(matrix * np.nan).solve(rhs)).all()
        assert np.isnan(Factored(matrix * np.nan).solve_adjoint(rhs)).all()


@pytest.mark.parametrize(
    "arguments, error, complaint",
    [
        ((SKEW, np.ones(59)), ValueError, r"matrix has shape \(60, 60\); expected 59 × 59"),
        ((SKEW[:, :3], np.ones(60)), ValueError, "expected 60 × 60"),
        ((lambda u: u, np.ones(60)), ValueError, "must be a SciPy sparse matrix"),
        ((SKEW, np.full(60, np.nan)), ValueError, "rhs must be finite"),
    ],
)
def test_what_is_no_matrix_is_refused(arguments, error, complaint):
    with pytest.raises(error, match=complaint):
        pr.Linear(*arguments)


def test_a_solver_that_is_not_installed_is_told_at_once(monkeypatch):
    monkeypatch.setitem(PACKAGES, "petsc", "petsc4py_of_nobody")
    with pytest.raises(ModuleNotFoundError, match="pip install 'petsc4py_of_nobody'"):
        pr.Linear(SKEW, np.ones(60), solver="petsc")


def test_solvers_that_are_none():
    with pytest.raises(ValueError, match="solver must be"):
        pr.Linear(SKEW, np.ones(60), solver=3)
    with pytest.raises(ValueError, match=r"expected a function solve\(rhs\)"):
        pr.rank(pr.Linear(SKEW, np.ones(60), solver=lambda matrix: 3), np.zeros((2, 60)))
