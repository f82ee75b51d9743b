"""The door through which everything computes: float64, compiled once, NumPy out, host problems as they are."""

import subprocess
import sys
from dataclasses import replace

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import sparse
from scipy.sparse.linalg import spsolve

import physrank as pr
from physrank import _programs, compute
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


MATRIX = sparse.eye_array(3).tocsc()


def _assigns(u):
    u[0] = 1.0
    return u


def _callback(u):
    return jax.pure_callback(lambda v: np.asarray(v) / 3, jax.ShapeDtypeStruct(u.shape, u.dtype), u)


@pytest.mark.parametrize(
    "residual",
    [
        lambda u: MATRIX @ u - 1,
        lambda u: np.sin(u) - 1,
        lambda u: spsolve(MATRIX, u) - 1,
        lambda u: np.linalg.solve(np.eye(3), u) - 1,
        lambda u: u if u[0] > 0 else u - 1,
        lambda u: u - float(u[0]),
        _assigns,
        lambda u: _callback(u) - 1,
    ],
)
def test_functions_that_jax_cannot_trace_are_told_what_to_write_instead(residual):
    library = {"a": np.ones(3), "b": np.full(3, 0.5)}
    with pytest.raises(TypeError, match=r"physrank\.Stationary\(…, host=True\).*physrank\.Linear") as told:
        pr.rank(pr.Stationary(residual), library)
    assert "\n" not in str(told.value)
    with pytest.raises(TypeError, match="host=True"):
        list(pr.rank_panel([pr.Stationary(residual)] * 2, [library] * 2))


def test_a_callback_with_a_derivative_works_in_double_precision():
    @jax.custom_jvp
    def third(u):
        return jax.pure_callback(
            lambda v: np.asarray(v) / 3, jax.ShapeDtypeStruct(u.shape, u.dtype), u, vmap_method="sequential"
        )

    third.defjvp(lambda at, along: (third(*at), third(*along)))
    ranking = pr.rank(pr.Stationary(lambda u: third(u) - 0.1), {"a": np.ones(3), "b": np.full(3, 0.5)})
    np.testing.assert_allclose(ranking.state, 0.3, rtol=1e-14)


CALLED_BACK = """
import jax, numpy as np, physrank as pr
from scipy import sparse
from scipy.sparse.linalg import splu
factors = splu(sparse.csc_array(3 * sparse.eye_array(300)))
@jax.custom_jvp
def solved(u):
    called = lambda v: factors.solve(np.asarray(v))
    return jax.pure_callback(called, jax.ShapeDtypeStruct(u.shape, u.dtype), u, vmap_method="sequential")
solved.defjvp(lambda at, along: (solved(*at), solved(*along)))
problem = pr.Stationary(lambda u: solved(u) - 0.1)
for _ in range(2):
    try:
        ranking = pr.rank(problem, dict(a=np.ones(300), b=np.full(300, 0.5)), effort="response")
        print(abs(ranking.state - 0.3).max() < 1e-12, ranking.best)
    except TypeError as told:
        print(told)
    jax.config.update("jax_enable_x64", True)
"""


def test_a_callback_in_a_thread_of_the_compilers_is_told_where_precision_is_set():
    """In a process of its own, as users have it: here, the tests set the precision."""
    done = subprocess.run([sys.executable, "-c", CALLED_BACK], capture_output=True, text=True, timeout=120)
    told, then = done.stdout.splitlines()
    # XLA decides in whose thread it calls: where it is ours, all is well.
    assert told == "True b" or ("jax_enable_x64" in told and "host=True" in told)
    assert then == "True b"


def test_what_such_a_thread_says_is_a_sentence_and_other_failures_are_left_alone():
    wrong = "Incorrect output dtype for return value #0: Expected: float64, Actual: float32"
    with pytest.raises(TypeError, match=r"jax_enable_x64.*host=True") as told, compute._explained():
        raise jax.errors.JaxRuntimeError(f"INTERNAL: CpuCallback error calling callback: Traceback\n{wrong}")
    assert "\n" not in str(told.value)
    with pytest.raises(jax.errors.JaxRuntimeError), compute._explained():
        raise jax.errors.JaxRuntimeError("INTERNAL: CpuCallback error calling callback: Traceback\nOSError: gone")


def test_functions_defined_anew_for_every_call_do_not_fill_the_memory(monkeypatch):
    monkeypatch.setattr(_programs, "PROGRAMS", 3)

    def found(problem, array):
        return problem.defect(array)

    for _ in range(8):
        compute.run(found, pr.Stationary(lambda u: u - 1), np.ones(4))
    assert _programs.compiled(found, False)._cache_size() <= 3
    traced, kept = [], pr.Stationary(lambda u: traced.append(1) or u - 1)
    for _ in range(8):
        compute.run(found, kept, np.ones(4))
    assert len(traced) <= 2  # one that is defined once is not compiled again and again


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
    jax.clear_caches()  # of very many programs none is kept: other tests have compiled some
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
    assert _programs.options(True)["compiler_options"]
    assert not _programs._knows("xla_of_another_version", True)


def _defect(problem, state):
    return problem.defect(state)
