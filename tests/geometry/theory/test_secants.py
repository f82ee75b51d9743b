"""Secants are exact where their degree says so and nowhere else; midpoints repeated gain an order each."""

from itertools import islice, pairwise

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import physrank as pr
from physrank import compute
from physrank.geometry.theory import bilinear, gauss_secant, midpoint_corrections
from physrank.physics import Correction, respond
from problems import CASES, reaction_diffusion


def quadratic(u):
    """Degree two, not symmetric."""
    return u + 0.5 * u * jnp.roll(u, 1) - jnp.linspace(0.1, 0.5, 7)


def pushed(defect, at, h):
    return jax.jvp(defect, (at,), (h,))[1]


def solved(defect, at, rhs):
    return jnp.linalg.solve(jax.jacfwd(defect)(at), rhs)


def operator(defect):
    """(defect, tangent, solve) of one residual, in double precision."""
    run = lambda function: lambda *given: np.asarray(compute.run(function, *given))  # noqa: E731
    return run(lambda a: defect(a)), run(lambda a, h: pushed(defect, a, h)), run(lambda a, r: solved(defect, a, r))


def misses(defect, tangent, at, error, nodes):
    """|A(v + e) − A(v) − secant e| relative to the defect's change."""
    change = defect(at + error) - defect(at)
    return np.linalg.norm(change - gauss_secant(tangent, at, error, nodes)) / np.linalg.norm(change)


def test_one_node_is_exact_for_a_quadratic_operator_two_for_a_cubic_one():
    v, e = np.random.default_rng(0).standard_normal((2, 7))
    defect, tangent, _ = operator(quadratic)
    assert misses(defect, tangent, v, e, 1) < 1e-14
    problem = reaction_diffusion(2, 6)
    cubic, tangent, _ = operator(problem.defect)
    v, e = np.random.default_rng(1).standard_normal((2, 8, 8))
    assert misses(cubic, tangent, v, e, 2) < 1e-14
    assert misses(cubic, tangent, v, e, 1) > 1e-4  # one node too few


def test_a_trapezoid_is_no_gauss_rule():
    """Sabotage: two nodes at the ends have the degree of one."""
    defect, tangent, _ = operator(reaction_diffusion(2, 6).defect)
    v, e = np.random.default_rng(1).standard_normal((2, 8, 8))
    ends = (tangent(v, e) + tangent(v + e, e)) / 2
    change = defect(v + e) - defect(v)
    assert np.linalg.norm(change - ends) > 1e-4 * np.linalg.norm(change)


@pytest.mark.parametrize("name", ["burgers", "sine-gordon"])
def test_a_time_step_is_no_polynomial_of_low_degree(name):
    """The Burgers nonlinearity is quadratic, its Runge–Kutta step is not: no identity, only agreement to third order."""
    case = CASES[name]
    defect, tangent, _ = operator(case.problem.defect)
    v = case.state(0)
    e = np.random.default_rng(2).standard_normal(v.shape)
    sizes = np.array([0.2, 0.1])
    errors = [misses(defect, tangent, v, s * e, 1) for s in sizes]
    assert errors[-1] > 1e-8
    assert np.log2(errors[0] / errors[1]) == pytest.approx(2, abs=0.2)  # of a change that is itself of order one
    assert misses(defect, tangent, v, 0.1 * e, 2) < 0.1 * errors[-1]


def at_the_solution(shift):
    """Tangent and solve of the quadratic operator, an error e, a candidate v = u − e, its defect."""
    problem = pr.Stationary(quadratic, solver=pr.Dense())
    u = np.asarray(compute.run(lambda p, g: p.solve(g), problem, np.zeros(7)).state)
    e = shift * np.random.default_rng(4).standard_normal(7)
    defect, tangent, solve = operator(quadratic)
    for _ in range(2):  # to the last bit: identities are compared to round-off
        u = u - solve(u, defect(u))
    return problem, tangent, solve, u, e, defect(u - e)


def test_plug_in_identities_of_a_quadratic_operator():
    """−A(v) = L_m e; linearised at v the error of δ is L_v⁻¹B(e, e), at u it is −L_u⁻¹B(e, e)."""
    _, tangent, solve, u, e, defect = at_the_solution(0.3)
    v, curved = u - e, bilinear(tangent, u - e, e, e)
    np.testing.assert_allclose(solve((u + v) / 2, -defect), e, atol=1e-14)
    np.testing.assert_allclose(solve(v, -defect) - e, solve(v, curved), atol=1e-14)
    np.testing.assert_allclose(solve(u, -defect) - e, -solve(u, curved), atol=1e-14)
    with pytest.raises(AssertionError):  # the sign matters
        np.testing.assert_allclose(solve(u, -defect) - e, solve(u, curved), atol=1e-3)


def test_midpoints_obey_their_recursion_exactly():
    _, tangent, solve, u, e, defect = at_the_solution(0.3)
    v = u - e
    found = list(islice(midpoint_corrections(solve, v, defect), 5))
    for now, after in pairwise(found):
        recursion = -solve(v + now / 2, bilinear(tangent, v, now - e, e))
        np.testing.assert_allclose(after - e, recursion, rtol=0, atol=1e-14)
        wrong = -solve(v + now, bilinear(tangent, v, now - e, e))  # a Newton point in place of the midpoint
        assert np.abs(after - e - wrong).max() > 1e-2 * np.abs(after - e).max()
    one = compute.run(respond, at_the_solution(0.3)[0], v, Correction(midpoint=True))
    np.testing.assert_allclose(found[1], one.correction, atol=1e-13)  # what the instrument calls a midpoint


@pytest.mark.parametrize("n", [0, 1, 2])
def test_every_midpoint_gains_an_order(n):
    sizes, errors = np.array([0.1, 0.05, 0.025]), []
    for size in sizes:
        _, _, solve, u, e, defect = at_the_solution(size)
        errors.append(np.linalg.norm(next(islice(midpoint_corrections(solve, u - e, defect), n, None)) - e))
    assert np.polyfit(np.log(sizes), np.log(errors), 1)[0] == pytest.approx(n + 2, abs=0.15)
