"""Paths of partial corrections: both ends are known, and the rule stops where it should."""

import numpy as np
import pytest

import physrank as pr
from physrank.lab.equations import EQUATIONS
from physrank.lab.studies._kit import paths


def test_the_ends_of_a_path_are_the_anchor_and_the_ranking():
    equation = EQUATIONS["sine_gordon"]
    problem = equation.problem(equation.population("development", 1)[0], 32)
    truth = pr.scorers.DirectSolve().solution(problem, problem.state_shape)[0]
    wave = np.linspace(0, 1, len(truth))[:, None, None] * np.sin(np.arange(32) * np.pi / 16)
    candidates = np.stack([truth + 0.1 * wave, truth - 0.3 * wave, truth + 0.2 * wave**2])
    found = pr.rank(problem, candidates, anchor="mean")
    walked = paths.path(found, truth, (0.0, 0.5, 1.0))
    np.testing.assert_allclose(walked.scores[-1], found.scores, rtol=1e-9)
    mean = found.task.outputs(candidates.mean(axis=0)[None])[0]
    assert walked.full[0] == pytest.approx(float(found.space.norm(mean - truth[-1])))
    np.testing.assert_allclose(walked.full**2, walked.comparison**2 + walked.perpendicular**2, rtol=1e-8)
    assert walked.full[2] < 0.1 * walked.full[0]
    assert walked.identity < 1e-12 and walked.floor < 1e-9
    assert walked.admissible.all()


def test_the_rule_takes_the_largest_acceptable_multiplier_up_to_one():
    found = {
        "multipliers": np.tile([0.0, 0.5, 1.0, 1.25], (4, 1)),
        "defect": np.array([[1, 0.5, 0.1, 0.1], [1, 0.5, 2, 0.1], [1, np.nan, np.nan, 0.1], [1, 0.9, 0.8, 0.7]]),
        "admissible": np.array([[1, 1, 1, 1], [1, 1, 1, 1], [1, 1, 1, 1], [1, 1, 0, 1]], bool),
    }
    assert paths.chosen(found).tolist() == [2, 1, 0, 1]
