"""Levels below the problem's grid: what a look from them asks, and how well they are solved."""

import jax.numpy as jnp
import numpy as np
import pytest

import physrank as pr
from levels import blind_library, cubic, field
from physrank import compute
from physrank.rungs import nested
from problems import CASES


def kicked(points=128, size=0.0, xp=jnp):
    """A field that decays, and that a step told the time kicks at one moment, where every coarser grid has a zero."""
    how = {"times": np.arange(41.0), "host": xp is np}

    def step(u, x, t):
        return 0.97 * u + xp.where(xp.abs(t - 13) < 0.5, size * xp.sin(32 * x), 0.0)

    def coarser(level, problem):
        fewer = slice(None, None, 2**level)
        return pr.Marching(step, problem.initial[fewer], problem.data[fewer], grid=grid(points >> level), **how)

    def grid(points):
        return pr.Grid.periodic(points, 2 * np.pi)

    x = 2 * np.pi * np.arange(points) / points
    return pr.Marching(step, np.sin(x), x, grid=grid(points), coarsen=coarser, **how)


@pytest.mark.parametrize("xp", [jnp, np], ids=["compiled", "host"])
def test_a_step_that_is_told_the_time_is_asked_at_every_moment(xp):
    """Three steps that stand for forty would miss what one of them does; nothing in the data says which."""
    problem, shape = kicked(size=0.2, xp=xp), (41, 128)
    with_it, without = (pr.scorers.DirectSolve().solution(p, shape)[0] for p in (problem, kicked(xp=xp)))
    candidates = blind_library(with_it, without)
    ranking = pr.rank(problem, candidates, task=pr.tasks.terminal())
    assert ranking.order == pr.rank(problem, candidates, task=pr.tasks.terminal(), effort="solve").order
    assert ranking.order[-1] == "without" and ranking.effort[0].rung.startswith("grid of")


@pytest.mark.parametrize("xp", [jnp, np], ids=["compiled", "host"])
def test_every_moment_is_asked_where_a_step_is_told_the_time(xp):
    pushed = kicked(size=0.2, xp=xp).pushes(lambda places: xp.zeros((len(places), 128)), 40)
    assert np.flatnonzero(np.abs(np.asarray(pushed)).max(axis=1) > 1e-9).tolist() == [0, 14]  # initial state, and kick


def test_a_rough_solve_is_a_solve_to_some_digits():
    for problem in (field(), cubic(1), CASES["diffusion-reaction"].problem):
        guess = np.zeros(problem.state_shape)
        exact, rough = (compute.run(how, problem, guess) for how in (_solve, _solve_roughly))
        assert rough.converged
        assert np.linalg.norm(rough.state - exact.state) <= 1e-4 * np.linalg.norm(exact.state)


@pytest.mark.parametrize("inverse, steps", [(1.0, 0), (-1.0, 1), (1e-3, 1)], ids=["good", "away", "hardly"])
def test_a_rough_march_needs_newton_only_where_its_preconditioner_does_not_serve(inverse, steps):
    """Whatever a preconditioner is worth, what is found solves every step; Newton's steps are what is counted."""

    def row(after, now):
        return after - now + 0.1 * (after + after**3)

    def precondition(after, now):
        return lambda r: inverse * r / (1.1 + 0.3 * after**2)

    march = pr.Marching(
        row, np.linspace(-1, 1, 6), implicit=True, solver=pr.Krylov("gmres"), preconditioner=precondition
    )
    exact, rough = (compute.run(how, march, np.zeros((5, 6))) for how in (_solve, _solve_roughly))
    assert rough.converged and (int(rough.iterations) >= 4 * steps if steps else int(rough.iterations) == 0)
    np.testing.assert_allclose(rough.state, exact.state, atol=1e-5)


def _solve(problem, guess):
    return problem.solve(guess)


def _solve_roughly(problem, guess):
    return problem.solve_roughly(guess)


@pytest.mark.parametrize("resolved", [True, False])
def test_nobody_looks_from_a_level_that_does_not_count(resolved):
    """One level counts only above another that resolved its state: a look costs as much as some steps of the march."""
    problem = pr.equations.Burgers(lambda x: np.sin(x), 0.05, np.linspace(0, 1, 9), points=128, substeps=8)
    fixed = ((1,), pr.tasks.terminal(), problem.state_shape, False)
    _, look = compute.run(nested.stand, problem, (np.zeros(()), np.asarray(resolved)), *fixed)
    assert np.any(look.rest[1:]) == resolved  # the first part is the initial state's
