"""Medoids of trajectories in time–space distances."""

import numpy as np

from physrank.lab.equations import EQUATIONS
from physrank.lab.studies._kit import anchoring
from physrank.ranking import anchors

PROBLEM = EQUATIONS["sine_gordon"].problem(EQUATIONS["sine_gordon"].population("development", 1)[0], 32)


def test_distances_are_integrals_over_time_and_space():
    """t on [0, 1] for both fields: ∫ t² dt · 2π · 2, by the trapezoid rule."""
    space = anchoring.trajectory_metric(PROBLEM).space(PROBLEM.state_shape)
    t = np.linspace(0, 1, 48)[:, None, None] * np.ones(PROBLEM.state_shape)
    exact = 4 * np.pi * (1 / 3 + 1 / (6 * 47**2))
    np.testing.assert_allclose(space.norm_squared(t), exact, rtol=1e-12)


def test_the_ends_weigh_half_and_that_can_decide_the_medoid():
    states = np.zeros((3, *PROBLEM.state_shape))
    states[0, [0, -1]] = 1.0  # √2 from zero over all entries, 1 in units of a row by the trapezoid rule
    states[2, 5] = 1.1
    names = ("a", "b", "c")
    states[1, 20] = 1.05
    assert np.array_equal(anchors.medoid().find(names, states), states[1])
    assert np.array_equal(anchoring.medoid_in_time(PROBLEM).find(names, states), states[0])


def test_other_names_are_left_to_rank():
    assert anchoring.resolve("mean", PROBLEM) == "mean"
    assert anchoring.resolve(anchoring.MEDOID_IN_TIME, PROBLEM).name == "medoid"
