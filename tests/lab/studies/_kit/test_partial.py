"""Partial corrections of one response: both ends are known, errors are projected, and gaps move by the identity."""

import numpy as np
import pytest

import physrank as pr
from physrank.lab.equations import EQUATIONS
from physrank.lab.studies._kit import partial


def made(points=24):
    equation = EQUATIONS["sine_gordon"]
    problem = equation.problem(equation.population("development", 1)[0], points)
    truth = pr.scorers.DirectSolve().solution(problem, problem.state_shape)[0]
    wave = np.linspace(0, 1, len(truth))[:, None, None] * np.sin(np.arange(points) * 2 * np.pi / points)
    candidates = np.stack([truth + 0.1 * wave, truth - 0.3 * wave, truth + 0.2 * wave**2])
    return pr.rank(problem, candidates, anchor="mean"), truth


def test_a_path_leads_from_the_anchor_to_the_proxy():
    found, truth = made()
    space = partial.state_space(found)
    row = partial.along(found, truth, space)
    np.testing.assert_allclose(row["scores"][partial.ALPHAS.index(1.0)], found.scores, rtol=1e-9)
    anchor = np.mean(found.candidates.states, axis=0)
    assert row["state"][0] == pytest.approx(float(space.norm(truth - anchor)))
    assert np.all(row["comparison"] <= row["state"] * (1 + 1e-12))
    assert row["comparison"][0] == pytest.approx(
        row["state"][0]
    )  # here the anchor's error lies in the differences' span
    assert row["state"][4] < 0.1 * row["state"][0] and row["task"][4] < 0.1 * row["task"][0]
    assert row["closure"] < 1e-12
    gaps = [scores[[1, 2, 2]] - scores[[0, 0, 1]] for scores in (row["losses"], row["scores"][4])]
    np.testing.assert_allclose(row["moved"], gaps[0] - gaps[1], atol=1e-12)
    assert row["best"] == pytest.approx(float(space.norm(truth - found.candidates.states).min()))


def test_the_metric_of_trajectories_is_an_integral_in_time():
    found, truth = made()
    ones = np.ones_like(truth)
    length, horizon = 2 * np.pi, 1.0
    assert partial.state_space(found).norm_squared(ones) == pytest.approx(2 * length * horizon)  # two fields
