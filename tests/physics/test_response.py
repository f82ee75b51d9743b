"""Variants of the response: midpoints, repetition, partial steps, backtracking, and solves that failed."""

from dataclasses import replace

import jax.numpy as jnp
import numpy as np
import pytest

import laws
import physrank as pr
from physrank import compute
from physrank.physics import Correction, chained, respond
from problems import CASES, reaction_diffusion


def test_midpoint_is_cubic_for_quadratic_equations():
    """S3: one self-midpoint correction has error O(‖e‖³) for a quadratic operator."""
    quadratic = pr.Stationary(lambda u: u + 0.5 * u * jnp.roll(u, 1) - jnp.linspace(0.1, 0.5, 7), solver=pr.Dense())
    laws.quadratic_response(quadratic, np.zeros(7), order=3, correction=Correction(midpoint=True))
    with pytest.raises(AssertionError):
        laws.quadratic_response(quadratic, np.zeros(7), order=3, correction=Correction())


@pytest.mark.parametrize("name", ["burgers", "reaction-diffusion 2-D", "sine-gordon", "marching, implicit dense"])
def test_midpoint_is_cubic_for_smooth_equations_too(name):
    case = CASES[name]
    laws.quadratic_response(case.problem, case.state(0), order=3, correction=Correction(midpoint=True))


def test_midpoint_checks_both_solves():
    """The first solve decides where the second is linearised: if it failed, the variant failed."""
    strength = np.linspace(0, 300, 24)
    residual = lambda u: u - 0.5 + 0.2 * (u - 0.5) ** 2 + strength * (u - 1) * jnp.exp(-(((u - 1) / 1e-4) ** 2))  # noqa: E731
    problem = pr.Stationary(residual, solver=pr.Krylov("cg", max_steps=4))
    anchor = jnp.ones(24)
    assert not bool(laws._respond(problem, anchor, Correction()).solved)
    assert not bool(laws._respond(problem, anchor, Correction(midpoint=True)).solved)


def test_every_correction_must_be_solved():
    """Two corrections, the first of which fails: hard at the anchor, easy afterwards."""
    strength = np.linspace(0, 300, 24)
    residual = lambda u: u - 0.5 + strength * (u - 1) * jnp.exp(-(((u - 1) / 1e-4) ** 2))  # noqa: E731
    problem = pr.Stationary(residual, solver=pr.Krylov("cg", max_steps=4))
    assert not bool(laws._respond(problem, jnp.ones(24), Correction(count=2)).solved)


def test_a_singular_tangent_does_not_excuse_itself():
    """Pure Neumann Poisson with an incompatible source: no solution, and no size of δ may hide that."""

    def residual(u):
        interior = (u[2:] - 2 * u[1:-1] + u[:-2]) * 1600 + 1.0
        return jnp.concatenate([u[1:2] - u[:1], interior, u[-1:] - u[-2:-1]])

    for n in (20, 32, 44, 56):
        x = np.linspace(0, 1, n)
        problem = pr.Stationary(residual, solver=pr.Dense())
        response = laws._respond(problem, jnp.asarray(np.sin(x)), Correction())
        assert not bool(response.solved)
        scores = pr.scorers.CandidateWise()(problem, {"a": np.sin(x), "b": x**2})
        assert scores.unresolved


def test_sloppy_solves_are_not_solved():
    """An algebraic defect of 1e-5 of the anchor's is too much."""
    stiffness = np.linspace(1, 50, 200)  # conjugate gradients approach gradually
    problem = pr.Stationary(lambda u: stiffness * u - 1.0, solver=pr.Krylov("cg", rtol=1e-5))
    response = laws._respond(problem, jnp.asarray(np.random.default_rng(0).standard_normal(200)), Correction())
    relative = float(
        jnp.linalg.norm(response.algebraic_defect) / jnp.linalg.norm(laws._defect(problem, response.anchor))
    )
    assert 1e-8 < relative < 1e-4
    assert not bool(response.solved)


def test_midpoint_on_burgers_beats_one_correction():
    case = CASES["burgers"]
    truth = laws._solve(case.problem, jnp.zeros((6, 32))).state
    anchor = truth + 0.1 * jnp.asarray(case.state(4))
    errors = [
        float(jnp.linalg.norm(laws._respond(case.problem, anchor, c).state - truth))
        for c in (Correction(), Correction(midpoint=True), Correction(count=2))
    ]
    assert errors[1] < 0.2 * errors[0]
    assert errors[2] < 0.2 * errors[0]


def test_repeated_corrections_are_newton():
    problem, anchor = reaction_diffusion(2, 6), jnp.asarray(CASES["reaction-diffusion 2-D"].state(5))
    twice = laws._respond(problem, anchor, Correction(count=2))
    once = laws._respond(problem, anchor, Correction())
    again = laws._respond(problem, once.state, Correction())
    np.testing.assert_allclose(twice.state, again.state, rtol=1e-10, atol=1e-12)
    np.testing.assert_array_equal(twice.anchor, anchor)
    np.testing.assert_allclose(twice.base, once.state, rtol=1e-10, atol=1e-12)
    assert int(twice.iterations) == int(once.iterations) + int(again.iterations)


def test_partial_steps_move_along_the_correction():
    problem, anchor = reaction_diffusion(2, 6), jnp.asarray(CASES["reaction-diffusion 2-D"].state(5))
    full = laws._respond(problem, anchor, Correction())
    for step in (0.0, 0.25, 1.25):
        partial = laws._respond(problem, anchor, Correction(step=step))
        np.testing.assert_allclose(partial.state, anchor + step * full.correction, rtol=1e-10, atol=1e-12)


def test_backtracking_takes_the_largest_acceptable_multiplier():
    # One unknown, x² = 4 from anchor 0.5: δ = 3.75. Admissible below 3 only: 1 (4.25) and 0.75 (3.31) fail, 0.5 is taken.
    problem = pr.Stationary(lambda x: x**2 - 4, admissible=lambda x: x < 3)
    anchor = jnp.asarray([0.5])
    response = laws._respond(problem, anchor, Correction(backtrack=(0, 0.25, 0.5, 0.75, 1)))
    assert float(response.multiplier) == 0.5
    np.testing.assert_allclose(response.state, [2.375])
    assert bool(response.converged)
    full = laws._respond(problem, anchor, Correction())
    assert not bool(full.admissible)
    assert not bool(full.converged)


def test_backtracking_does_not_raise_the_defect():
    # arctan from 3: the full Newton step overshoots and raises the defect.
    problem = pr.Stationary(jnp.arctan)
    response = laws._respond(problem, jnp.asarray([3.0]), Correction(backtrack=(0.125, 0.25, 0.5, 1)))
    assert float(response.multiplier) == 0.25
    assert abs(np.arctan(float(response.state[0]))) <= np.arctan(3.0)


def test_no_acceptable_multiplier_is_not_converged():
    problem = pr.Stationary(lambda x: x**2 - 4, admissible=lambda x: x > 100)
    response = laws._respond(problem, jnp.asarray([0.5]), Correction(backtrack=(0.5, 1)))
    assert float(response.multiplier) == 0
    assert not bool(response.converged)
    nowhere = pr.rank(problem, {"a": [0.5], "b": [0.6]}, corrections=Correction(backtrack=(0.5, 1)))
    assert "no correction was acceptable" in nowhere.unresolved
    anchor_allowed = pr.Stationary(lambda x: x**2 - 4, admissible=lambda x: x < 1)
    stays = laws._respond(anchor_allowed, jnp.asarray([0.5]), Correction(backtrack=(0, 0.5, 1)))
    assert float(stays.multiplier) == 0
    assert bool(stays.converged)  # zero was on the list
    ranking = pr.rank(anchor_allowed, {"a": [0.5], "b": [0.6]}, corrections=Correction(backtrack=(0, 0.5, 1)))
    assert any("no physics" in note for note in ranking.notes)


def test_a_chain_of_corrections_remembers_every_failure():
    problem, anchor = reaction_diffusion(2, 6), jnp.asarray(CASES["reaction-diffusion 2-D"].state(5))
    good = compute.run(respond, problem, anchor, Correction())
    later = compute.run(respond, problem, good.state, Correction())
    for name in ("accepted", "solved"):
        bad = replace(good, **{name: np.asarray(False)})
        assert bool(chained(good, later).converged)
        assert not bool(chained(bad, later).converged) and not bool(
            chained(good, replace(later, **{name: False})).converged
        )
    whole = chained(good, later)
    assert float(whole.defect_norm) == float(good.defect_norm) > float(later.defect_norm)
    assert int(whole.iterations) == int(good.iterations) + int(later.iterations)
    assert whole.variant.count == 2 and whole.variant.solves == 2
    assert Correction(count=2, midpoint=True).solves == 4
