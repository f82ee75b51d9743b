"""Assembled problems do what JAX problems do: rank, panels, checks, advice, doubts."""

import numpy as np
import pytest
from scipy import sparse
from scipy.sparse.linalg import splu

import physrank as pr
from problems import CASES, bratu, host_bratu, host_bratu_jacobian, indefinite

RNG = np.random.default_rng(0)
POINTS = 9
RHS = np.linspace(1, 2, POINTS)
TRUTH = np.linalg.solve(indefinite().toarray(), RHS)
LIBRARY = {"far": 3 * TRUTH, "near": 1.01 * TRUTH, "middle": TRUTH + 0.2 * np.abs(TRUTH).max()}
BRATU = {
    name: scale * np.sin(np.pi * np.linspace(0, 1, POINTS + 2)[1:-1]) for name, scale in {"a": 0.1, "b": 0.2}.items()
}


def linear(**options):
    return pr.Linear(indefinite(), RHS, **options)


@pytest.mark.parametrize("effort", ["auto", "response", "solve"])
def test_the_same_as_the_jax_problem(effort):
    host = pr.rank(pr.Assembled(host_bratu, host_bratu_jacobian, data=1.0), BRATU, effort=effort)
    same = pr.rank(pr.Stationary(bratu, data=1.0), BRATU, effort=effort)
    np.testing.assert_allclose(host.scores, same.scores, rtol=1e-9)
    np.testing.assert_allclose(host.uncertainty, same.uncertainty, rtol=1e-5, atol=1e-12)
    assert host.settled == same.settled and host.doubts == same.doubts
    np.testing.assert_allclose(host.corrected().scores, same.corrected().scores, rtol=1e-9)


def test_everything_that_takes_a_problem_takes_it():
    problem = linear()
    ranking = pr.rank(problem, LIBRARY)
    assert ranking.order == ["near", "middle", "far"] and ranking.settled and not ranking.doubts
    assert ranking.corrected().order == ranking.order
    assert pr.select([ranking, ranking]).best == "near"
    assert "effort" in str(pr.advise(problem, LIBRARY, repeats=1))
    assert pr.residual_floor(problem, TRUTH) < 1e-12
    assert pr.check(problem, TRUTH).passes
    found = pr.check(problem, 2 * TRUTH)
    assert not found.passes and found.suggestions[0].name == "rhs" and found.suggestions[0].value == pytest.approx(2)
    for scorer in (pr.scorers.RawResidual(), pr.scorers.CandidateWise(), pr.scorers.DirectSolve()):
        assert scorer(problem, LIBRARY).best == "near"
    assert pr.adjoint_gap(pr.rank(problem, LIBRARY, effort="response"), "near", "far") == pytest.approx(
        float(ranking.gaps[1, 0]), rel=1e-9
    )
    backtracked = pr.rank(problem, LIBRARY, corrections=pr.Correction(backtrack=(0.5, 1.0)))
    np.testing.assert_allclose(backtracked.scores, ranking.scores, rtol=1e-9)
    with pytest.raises(ValueError, match="No certificate is known for Linear"):
        pr.certify(problem, ranking)


def test_it_is_factored_once_per_linearisation():
    counted = []

    def solver(matrix):
        counted.append(1)
        return splu(matrix)

    pr.rank(linear(solver=solver), LIBRARY)
    assert len(counted) == 1
    counted.clear()
    pr.rank(pr.Assembled(host_bratu, host_bratu_jacobian, data=1.0, solver=solver), BRATU, effort="response")
    assert len(counted) == 1


def test_a_mass_matrix_is_the_natural_metric():
    mass = sparse.diags_array([1.0, 4.0, 1.0], offsets=[-1, 0, 1], shape=(POINTS, POINTS)) / 6
    ranking = pr.rank(linear(mass=mass), LIBRARY)
    errors = np.array([v - TRUTH for v in LIBRARY.values()])
    np.testing.assert_allclose(ranking.scores, np.einsum("ni,ij,nj->n", errors, mass.toarray(), errors), rtol=1e-9)
    assert ranking.subspace.rank == 2 and np.all(ranking.margins[0, 1:] > 0)
    ranking.to_dict(), ranking.to_xarray()


def test_states_have_any_shape():
    square = pr.rank(pr.Linear(indefinite(), RHS.reshape(3, 3)), {k: v.reshape(3, 3) for k, v in LIBRARY.items()})
    np.testing.assert_allclose(square.scores, pr.rank(linear(), LIBRARY).scores, rtol=1e-12)
    assert square.state.shape == (3, 3)
    with pytest.raises(ValueError, match="residual returned shape"):
        pr.rank(pr.Assembled(lambda u: u[:3], lambda u: np.eye(9)), LIBRARY)
    with pytest.raises(ValueError, match="expected 9 × 9, one row for every number of a state"):
        pr.rank(pr.Assembled(lambda u: u, lambda u: np.eye(3)), LIBRARY)


def test_what_the_equation_does_not_determine_is_noticed():
    neumann = sparse.csc_array(sparse.diags_array([-1.0, 2.0, -1.0], offsets=[-1, 0, 1], shape=(POINTS, POINTS)))
    neumann[0, 0] = neumann[-1, -1] = 1.0
    rhs = np.linspace(-1, 1, POINTS)
    some = np.linalg.lstsq(neumann.toarray(), rhs, rcond=None)[0]
    ranking = pr.rank(pr.Linear(neumann, rhs), {"a": some, "b": some + 1.0})
    assert not ranking.settled and "does not determine" in " ".join(ranking.doubts)
    impossible = pr.rank(pr.Linear(neumann, rhs + 1), {"a": some, "b": some + 1.0})
    assert impossible.unresolved


def test_uneven_rows_do_not_hide_each_other():
    scale = np.where(np.arange(POINTS) % 3, 1.0, 1e9)
    uneven = pr.rank(pr.Linear(sparse.diags_array(scale) @ indefinite(), scale * RHS), LIBRARY)
    np.testing.assert_allclose(uneven.scores, pr.rank(linear(), LIBRARY).scores, rtol=1e-6)
    assert uneven.settled


def test_a_solver_that_does_not_solve_is_unresolved():
    ranking = pr.rank(
        linear(solver=lambda matrix: lambda rhs: 0.9 * splu(matrix).solve(rhs) * (1 + 0.01 * RHS)), LIBRARY
    )
    assert ranking.unresolved and "did not converge" in ranking.unresolved


def test_uncertain_data():
    ranking = pr.rank(linear(), LIBRARY, uncertainty={"rhs": 0.01})
    inverse = np.linalg.inv(indefinite().toarray())
    i, j = 0, 2
    slope = inverse.T @ (list(LIBRARY.values())[i] - list(LIBRARY.values())[j]) / POINTS
    assert ranking.data_uncertainty[i, j] == pytest.approx(2 * 0.01 * np.abs(slope) @ RHS, rel=1e-9)
    samples = [pr.Linear(indefinite(), RHS * (1 + 0.01 * sign)) for sign in (1, -1)]
    assert np.all(pr.rank(linear(), LIBRARY, uncertainty=samples).data_uncertainty <= ranking.data_uncertainty + 1e-15)
    host = pr.rank(pr.Assembled(host_bratu, host_bratu_jacobian, data=1.0), BRATU, uncertainty={"data": 0.1})
    same = pr.rank(pr.Stationary(bratu, data=1.0), BRATU, uncertainty={"data": 0.1})
    np.testing.assert_allclose(host.data_uncertainty, same.data_uncertainty, rtol=1e-5, atol=1e-15)
    many = pr.Assembled(lambda u, f: u - f[:9], lambda u, f: np.eye(9), data=np.ones(300))
    with pytest.raises(ValueError, match="300 numbers, each of which takes two residuals"):
        pr.rank(many, LIBRARY, uncertainty={"data": 0.1})


def test_complex_problems():
    matrix, rhs = indefinite() + 5j * sparse.eye_array(POINTS), RHS * np.exp(1j * np.arange(POINTS))
    truth = np.linalg.solve(matrix.toarray(), rhs)
    library = {"a": truth + 0.1, "b": truth + 0.2j, "c": 0 * truth.real}
    for problem in (
        pr.Linear(matrix, rhs),
        pr.Assembled(lambda u: matrix @ u - rhs, lambda u: matrix),
        pr.Stationary(lambda u: matrix @ u - rhs, host=True),
    ):
        ranking = pr.rank(problem, library)
        np.testing.assert_allclose(
            ranking.scores, [np.mean(np.abs(v - truth) ** 2) for v in library.values()], rtol=1e-6
        )
        np.testing.assert_allclose(ranking.state, truth, rtol=1e-6)
    with pytest.raises(ValueError, match="Candidate 'a' is complex"):
        pr.rank(CASES["burgers"].problem, {"a": np.ones((6, 32)) * 1j})
