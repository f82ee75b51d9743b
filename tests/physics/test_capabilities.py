"""Capabilities are asked for, never a class: a problem of a user's own that has one gets what it gives, others do without."""

import jax.numpy as jnp
import numpy as np
import pytest

import physrank as pr
from physrank import scorers
from physrank.geometry.lifts import kept_rows
from physrank.physics import capabilities
from physrank.physics.problem import NonlinearSolve, Problem
from physrank.physics.stationary import Stationary
from problems import CASES

TRUTH = np.linspace(1, 2, 8)


def _residual(u):
    return u - jnp.asarray(TRUTH)


class Plain(Problem):
    """u = truth, and nothing that a problem need not have."""

    inner: Stationary = Stationary(_residual)

    def defect(self, state):
        return self.inner.defect(state)

    def linearise(self, at):
        return self.inner.linearise(at)

    def residual_energy(self, defect):
        return jnp.mean(defect**2)

    def solve(self, guess):
        return NonlinearSolve(jnp.asarray(TRUTH), jnp.asarray(1), jnp.asarray(True))

    @property
    def state_shape(self):
        return TRUTH.shape


class Able(Plain):
    """The same with capabilities, by their names alone."""

    output = "field"
    cheap_to_solve = True
    order = 3

    @property
    def grid(self):
        return pr.Grid.periodic(8, 1.0)

    def dual_energy(self, state, *, adapted=False):
        return jnp.sum(self.defect(state) ** 2), jnp.asarray(True)

    def admissible(self, state):
        return jnp.all(state > -5)

    def concerns(self, state):
        return ["below zero"] if state.min() < 0 else []

    def coarser(self, level):
        return self if level == 0 else None


CANDIDATES = {"near": TRUTH + 0.1, "far": TRUTH - 3.0}


def test_a_problem_of_five_methods_is_ranked_and_refused_what_it_cannot_do():
    ranking = pr.rank(Plain(), CANDIDATES)
    assert ranking.best == "near" and ranking.settled
    np.testing.assert_allclose(ranking.state, TRUTH, atol=1e-12)
    assert capabilities.grid(Plain()) is None and capabilities.coarser(Plain(), 1) is None
    assert not capabilities.cheap_to_solve(Plain()) and capabilities.order(Plain()) == 1
    with pytest.raises(ValueError, match="needs a problem with a dual norm"):
        scorers.CommonEnergy()(Plain(), CANDIDATES)


def test_a_problem_that_can_do_more_gets_what_that_gives():
    problem = Able()
    energies = scorers.CommonEnergy()(problem, CANDIDATES)
    np.testing.assert_allclose(energies.values, [8 * 0.1**2, 8 * 3.0**2])
    ranking = pr.rank(problem, {"near": TRUTH[::2] + 0.1, "far": CANDIDATES["far"]})  # a grid: lifted
    assert any("below zero" in note for note in ranking.notes)
    assert ranking.space == problem.grid.metric().space((8,))
    assert capabilities.cheap_to_solve(problem) and capabilities.order(problem) == 3
    assert not bool(capabilities.admissible(problem, jnp.asarray(TRUTH - 9)))
    assert capabilities.coarser(problem, 0) is problem


def test_rows_that_a_coarser_march_leaves_out_are_not_carried_over_to_it():
    """The rows that stay are what they would have been; axes of space are no rows."""
    grid = pr.Grid.cells((8, 8), 2.0)
    coarse = pr.Marching(lambda u: u, np.zeros((4, 4)), grid=pr.Grid.cells((4, 4), 2.0))
    fine = np.random.default_rng(0).standard_normal((9, 8, 8))
    lifted = np.asarray(capabilities.raised(coarse, fine, (5, 4, 4)))
    np.testing.assert_allclose(lifted, np.asarray(coarse.grid.raised(fine))[kept_rows(9, 5)], atol=1e-14)
    still = pr.Stationary(_residual, grid=grid)
    assert capabilities.raised(still, np.ones((16, 16)), (8, 8)).shape == (8, 8)


def test_who_knows_the_metric_of_its_monotonicity_is_asked_for_it():
    known = {name for name, case in CASES.items() if isinstance(case.problem, capabilities.HasSecantMetric)}
    assert known == {name for name in CASES if name.startswith("reaction-diffusion")}
