"""Differences of black boxes: the step fits the function's rounding, doubt is told, and what fails is rescued."""

import numpy as np
import pytest

import physrank as pr
from physrank.physics.differences import Memory, along, choose_size, columns
from problems import bratu

RNG = np.random.default_rng(0)
AT, DIRECTION = RNG.standard_normal((2, 12))


def smooth(u):
    return u**3 - np.roll(u, 1)


SLOPE = 3 * AT**2 * DIRECTION - np.roll(DIRECTION, 1)


@pytest.mark.parametrize(
    "function, accuracy, told",
    [
        (smooth, 1e-8, False),
        (lambda u: smooth(u).astype(np.float32), 1e-3, False),
        (lambda u: smooth(u.astype(np.float32)), 1e-3, False),
        (lambda u: np.round(smooth(u), 2), 1.0, True),
    ],
    ids=["double", "single out", "single inside", "two digits"],
)
def test_the_step_fits_the_rounding(function, accuracy, told):
    memory = Memory()
    found = along(function, AT, DIRECTION, choose_size(function, AT, memory))
    assert np.linalg.norm(found - SLOPE) <= accuracy * np.linalg.norm(SLOPE)
    assert bool(memory.remarks) == told
    fixed = along(function, AT, DIRECTION, 1e-9)  # one step for everything would be a mistake
    assert accuracy == 1e-8 or np.linalg.norm(fixed - SLOPE) > 0.9 * accuracy * np.linalg.norm(SLOPE)


def test_columns_are_the_derivative_for_real_and_complex_states():
    matrix = columns(smooth, AT, choose_size(smooth, AT, Memory()))
    np.testing.assert_allclose(matrix @ DIRECTION, SLOPE, atol=1e-7)
    state, moved = AT + 1j * DIRECTION, DIRECTION - 2j * AT
    size = choose_size(lambda u: np.abs(u) ** 2 * u, state, Memory())
    matrix = columns(lambda u: np.abs(u) ** 2 * u, state, size)
    expected = 2 * np.abs(state) ** 2 * moved + state**2 * moved.conj()
    np.testing.assert_allclose((matrix @ moved.view(float)).view(complex), expected, atol=1e-6)


def test_constant_and_broken_functions_do_no_harm():
    assert not along(lambda u: 0 * u + 1, AT, DIRECTION, choose_size(lambda u: 0 * u + 1, AT, Memory())).any()
    assert not along(smooth, AT, 0 * DIRECTION, 1e-5).any()
    ranking = pr.rank(pr.Stationary(lambda u: np.sqrt(u - 10), host=True), {"a": AT, "b": DIRECTION})
    assert ranking.unresolved


def host(u):
    ends = np.pad(u, 1)
    return -(ends[2:] - 2 * u + ends[:-2]) * (len(u) + 1) ** 2 - np.exp(u)


@pytest.mark.parametrize(
    "solver",
    [None, pr.Dense(), pr.Krylov(), pr.Krylov(method="cg")],
    ids=lambda given: getattr(given, "__name__", str(given)),
)
@pytest.mark.parametrize("effort", ["auto", "response", "solve"])
def test_the_same_as_the_jax_problem(solver, effort):
    x = np.linspace(0, 1, 32)[1:-1]
    library = {name: scale * x * (1 - x) for name, scale in (("a", 0.3), ("b", 0.45), ("c", 1.0))}
    found = pr.rank(pr.Stationary(host, host=True, solver=solver), library, effort=effort)
    same = pr.rank(pr.Stationary(bratu, data=1.0), library, effort=effort)
    np.testing.assert_allclose(found.scores, same.scores, rtol=1e-6)
    assert found.settled == same.settled and not found.doubts


def test_what_gmres_does_not_solve_is_factored_and_told():
    x = np.linspace(0, 1, 202)[1:-1]
    library = {"a": 0.3 * x * (1 - x), "b": 0.45 * x * (1 - x)}
    ranking = pr.rank(pr.Stationary(host, host=True, solver=pr.Krylov(max_steps=20)), library)
    same = pr.rank(pr.Stationary(bratu, data=1.0), library)
    assert not ranking.unresolved and "formed by columns" in " ".join(ranking.doubts)
    np.testing.assert_allclose(ranking.scores, same.scores, rtol=1e-6)


def test_a_preconditioner_is_used():
    counted = []

    def counting(u):
        counted.append(1)
        return host(u)

    x = np.linspace(0, 1, 102)[1:-1]
    matrix = np.array([host(e) - host(0 * e) for e in np.eye(100)]).T
    inverse = np.linalg.inv(matrix)
    library, used = {"a": 0.3 * x * (1 - x), "b": 0.45 * x * (1 - x)}, []
    for options in ({}, {"preconditioner": lambda u: lambda r: inverse @ r}):
        counted.clear()
        problem = pr.Stationary(counting, host=True, solver=pr.Krylov(restart=100, max_steps=200), **options)
        assert not pr.rank(problem, library, effort="response").unresolved
        used.append(len(counted))
    assert used[1] < used[0] / 2
