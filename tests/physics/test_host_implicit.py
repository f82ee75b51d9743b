"""Implicit black boxes: the same ranking as the same rule in JAX, with a Jacobian that is assembled or by differences."""

import numpy as np
import pytest
from scipy import sparse

import physrank as pr
from physrank.physics import host_implicit
from problems import host_trapezoid_jacobian, host_trapezoid_residual, trapezoid_residual

RNG = np.random.default_rng(0)
INITIAL = RNG.standard_normal(9)
INSIDE = pr.Marching(trapezoid_residual, INITIAL, 0.5, implicit=True)
TRUTH = pr.scorers.DirectSolve().solution(INSIDE, (6, 9))[0]
LIBRARY = {name: TRUTH + size * RNG.standard_normal(TRUTH.shape) for name, size in {"a": 0.05, "b": 0.01}.items()}
WAYS = {
    "differences": {},
    "GMRES": {"solver": pr.Krylov()},
    "a Jacobian": {"jacobian": host_trapezoid_jacobian},
    "a dense Jacobian": {"jacobian": lambda *given: host_trapezoid_jacobian(*given).toarray(), "solver": "lu"},
}


def on_host(rule=host_trapezoid_residual, initial=INITIAL, data=0.5, **options):
    return pr.Marching(rule, initial, data, implicit=True, host=True, **options)


@pytest.mark.parametrize("effort", ["auto", "response", "solve"])
@pytest.mark.parametrize("way", WAYS)
def test_the_same_as_the_rule_in_jax(way, effort):
    found, same = (pr.rank(problem, LIBRARY, effort=effort) for problem in (on_host(**WAYS[way]), INSIDE))
    np.testing.assert_allclose(found.scores, same.scores, rtol=1e-6)
    assert found.order == ["b", "a"] and found.settled and not found.doubts


@pytest.mark.parametrize("way", ["differences", "a Jacobian"])
def test_uncertain_data_use_the_adjoint(way):
    doubted = [pr.rank(p, LIBRARY, uncertainty={"data": 0.05}).data_uncertainty for p in (on_host(**WAYS[way]), INSIDE)]
    np.testing.assert_allclose(*doubted, rtol=1e-5, atol=1e-12)


def test_complex_states_times_and_forcing():
    """Crank–Nicolson for i ψ' = (1 + t) ψ + f, whose steps are known in closed form."""
    times, forcing = np.linspace(0, 0.5, 6), 0.1 * RNG.standard_normal((5, 4))

    def rule(after, now, force, t):
        return after - now + 0.05j * (1 + t) * (after + now) - force

    states = [np.exp(1j * np.arange(4.0))]
    for n in range(5):
        half = 0.05j * (1 + times[n])
        states.append((states[-1] * (1 - half) + forcing[n]) / (1 + half))
    truth = np.stack(states)
    problem = on_host(rule, states[0], None, forcing=forcing, times=times)
    ranking = pr.rank(problem, {"off": truth + 0.1j, "near": truth + 0.01})
    np.testing.assert_allclose(ranking.state, truth, atol=1e-9)
    assert ranking.best == "near" and ranking.settled


def test_rows_of_equal_next_states_keep_their_own_derivative():
    """∂R/∂next = now here: whoever remembers by `next` alone is wrong on the second of two equal rows."""
    problem = on_host(lambda after, now, data: (after - data) * now, np.array([2.0]))
    at = np.array([[2.0], [4.0], [4.0]])
    np.testing.assert_allclose(problem.correct(at)[1].value.ravel(), [0.0, -3.5, -0.4375], rtol=1e-6)
    np.testing.assert_allclose(problem.linearise(at)[1].apply(np.ones((3, 1))).ravel(), [1, 5.5, 7.5], rtol=1e-6)


def test_equal_jacobians_are_factored_once():
    counted = []

    def solver(matrix):
        counted.append(1)
        return sparse.linalg.splu(matrix)

    matrix = sparse.csc_array(3.0 * sparse.eye_array(9))
    heat = on_host(lambda a, n, _: 3 * a - n, jacobian=lambda *_: matrix, solver=solver)
    assert pr.rank(heat, LIBRARY).settled
    assert len(counted) == 1


def test_a_step_that_newton_cannot_solve_says_so():
    impossible = on_host(lambda after, now, data: after**2 + 1 + 0 * now * data)
    assert not host_implicit.solve(impossible, 3).converged
    with pytest.raises(pr.UnresolvedError):
        pr.rank(impossible, LIBRARY, effort="solve").best  # noqa: B018


@pytest.mark.parametrize(
    "options, complaint",
    [
        ({"jacobian": lambda u: u}, r"jacobian will be called as jacobian\(next, now, data\)"),
        ({"solver": "lu"}, "solver"),
        ({"jacobian": host_trapezoid_jacobian, "solver": pr.Krylov()}, "solver must be"),
        ({"jacobian": host_trapezoid_jacobian, "host": False}, "jacobian= is for implicit=True, host=True"),
    ],
)
def test_what_does_not_fit_is_refused(options, complaint):
    with pytest.raises(ValueError, match=complaint):
        pr.Marching(host_trapezoid_residual, INITIAL, 0.5, **{"implicit": True, "host": True, **options})


def test_the_adjoint_has_its_limit():
    large = on_host(lambda after, now, data: after - data * now, np.ones(2000), 0.9, solver=pr.Krylov())
    with pytest.raises(ValueError, match="a difference for each of its 2000 numbers"):
        pr.rank(large, {"a": np.ones((2, 2000)), "b": np.zeros((2, 2000))}, uncertainty={"data": 0.1})
