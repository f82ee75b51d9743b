"""The door through which everything computes: float64, compiled once, NumPy out, host problems as they are."""

from dataclasses import replace

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import physrank as pr
from physrank import compute
from physrank.physics import Correction, NonlinearSolve, Problem, Solve, Tangent, respond
from problems import CASES, bratu


def _doubled(problem, array):
    return {"value": 2 * array, "kind": type(problem).__name__}


def test_results_are_numpy_in_double_precision_whatever_the_caller_set():
    with jax.enable_x64(False):
        found = compute.run(_doubled, CASES["burgers"].problem, np.float32([1.5, 2.5]) + np.float64(1e-12))
    assert type(found["value"]) is np.ndarray
    assert found["value"].dtype == np.float64
    np.testing.assert_array_equal(found["value"], 2 * (np.float64([1.5, 2.5]) + 1e-12))
    assert found["kind"] == "Burgers"


def test_a_shape_is_compiled_once():
    traced = []

    def noted(problem, array):
        traced.append(array.shape)
        return array

    for _ in range(3):
        compute.run(noted, None, np.ones(4))
    compute.run(noted, None, np.ones(5))
    assert traced == [(4,), (5,)]


class HostTangent(Tangent):
    """A NumPy matrix: nothing here could be traced."""

    matrix: np.ndarray

    def apply(self, direction):
        return self.matrix @ np.asarray(direction)

    def apply_adjoint(self, covector):
        return self.matrix.T @ np.asarray(covector)

    def solve(self, rhs):
        value = np.linalg.solve(self.matrix, np.asarray(rhs))
        return Solve(value, self.matrix @ value - np.asarray(rhs), np.asarray(1), np.asarray(True))

    def solve_adjoint(self, rhs):
        value = np.linalg.solve(self.matrix.T, np.asarray(rhs))
        return Solve(value, self.matrix.T @ value - np.asarray(rhs), np.asarray(1), np.asarray(True))

    def magnitude(self):
        return np.asarray(1.0)


class HostProblem(Problem):
    """matrix @ u = rhs, computed where the data lie."""

    matrix: np.ndarray
    rhs: np.ndarray
    host: bool = eqx.field(static=True, default=True)

    def defect(self, state):
        assert not isinstance(state, jax.core.Tracer)
        return self.matrix @ np.asarray(state) - self.rhs

    def linearise(self, at):
        return self.defect(at), HostTangent(self.matrix)

    def residual_energy(self, defect):
        return np.mean(np.asarray(defect) ** 2)

    def solve(self, guess):
        return NonlinearSolve(np.linalg.solve(self.matrix, self.rhs), np.asarray(1), np.asarray(True))

    @property
    def state_shape(self):
        return self.rhs.shape


def test_host_problems_go_through_the_same_door():
    random = np.random.default_rng(0)
    matrix, rhs = np.eye(5) + 0.1 * random.standard_normal((5, 5)), random.standard_normal(5)
    truth = np.linalg.solve(matrix, rhs)
    candidates = {"near": truth + 0.01, "far": truth - 0.5, "middle": truth + 0.1}
    host = HostProblem(matrix, rhs)
    ranking = pr.rank(host, candidates)
    assert ranking.order == ["near", "middle", "far"]
    np.testing.assert_allclose(ranking.state, truth, atol=1e-12)
    same = pr.rank(pr.Stationary(lambda u, d: d[0] @ u - d[1], (matrix, rhs)), candidates)
    np.testing.assert_allclose(ranking.scores, same.scores, rtol=1e-9)
    twice = list(pr.rank_panel([host, host], [candidates, candidates], corrections=2))
    np.testing.assert_allclose(twice[1].scores, same.scores, rtol=1e-9)
    with pytest.raises((AssertionError, jax.errors.TracerArrayConversionError)):
        compute.run(lambda p, x: p.defect(x), replace(host, host=False), truth)


class Counting(Problem):
    """Counts how often it is linearised while a response is traced."""

    inner: Problem
    count: list = eqx.field(static=True)

    def defect(self, state):
        return self.inner.defect(state)

    def linearise(self, at):
        self.count.append(1)
        return self.inner.linearise(at)

    def residual_energy(self, defect):
        return self.inner.residual_energy(defect)

    def solve(self, guess):
        return self.inner.solve(guess)

    @property
    def state_shape(self):
        return self.inner.state_shape


@pytest.mark.parametrize(
    "variant, times", [(Correction(), 1), (Correction(midpoint=True), 2), (Correction(count=3), 3)]
)
def test_one_correction_linearises_once(variant, times):
    count = []
    problem = Counting(pr.Stationary(bratu, data=1.0), count)
    jax.eval_shape(lambda x: respond(problem, x, variant).state, jnp.zeros(9))
    assert len(count) == times


def test_ranking_and_scorers_share_one_compiled_response():
    traced = []

    def residual(u):
        traced.append(1)
        return u + u**3 - 1.0

    problem, candidates = pr.Stationary(residual), {"a": np.full(4, 0.5), "b": np.full(4, 0.6)}
    pr.rank(problem, candidates, corrections=2)
    pr.scorers.CandidateWise()(problem, candidates)
    once = len(traced)
    pr.rank(problem, candidates)
    pr.rank(problem, candidates, corrections=4)
    pr.scorers.SharedResponse()(problem, candidates)
    pr.scorers.CandidateWise()(problem, candidates)
    assert len(traced) == once


def test_a_program_that_runs_once_says_the_same():
    """Not optimised, and with options that the installed compiler knows: others are left out, not an error."""
    problem, state = CASES["burgers"].problem, CASES["burgers"].state(0)
    usual = compute.run(_defect, problem, state)
    with compute.once():
        np.testing.assert_allclose(compute.run(_defect, problem, state), usual, rtol=1e-12, atol=1e-13)
        rows = compute.run_batch(_defect, [problem] * 2, [state] * 2)
    np.testing.assert_allclose(rows[1], usual, rtol=1e-12, atol=1e-13)
    assert compute._options(True)["compiler_options"]
    assert not compute._knows("xla_of_another_version", True)


def _defect(problem, state):
    return problem.defect(state)
