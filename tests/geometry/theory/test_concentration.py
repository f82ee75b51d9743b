"""Concentration of mean scores: coverage by simulation, and abstention exactly where the radius demands it."""

import numpy as np
import pytest

from physrank.geometry.theory import mean_score_radius, recovers

BOUND, CANDIDATES, SAMPLES, FAILURE, REPEATS = 2.0, 20, 100, 0.01, 20000


def failure_rate(radius):
    """How often some mean score is further than `radius` from its expectation, for fair coins with scores 0 and 2.

    They have the largest variance that the bound allows. The rate's own standard error is below 0.001.
    """
    draws = np.random.default_rng(0).binomial(SAMPLES, 0.5, size=(REPEATS, CANDIDATES))
    return np.mean(np.max(np.abs(BOUND * draws / SAMPLES - BOUND / 2), axis=1) > radius)


def test_coverage():
    assert failure_rate(mean_score_radius(BOUND, CANDIDATES, SAMPLES, FAILURE)) <= FAILURE


@pytest.mark.parametrize(
    "wrong",
    [
        mean_score_radius(1.0, CANDIDATES, SAMPLES, FAILURE),  # the bound forgotten
        mean_score_radius(BOUND, 1, SAMPLES, FAILURE),  # the union over candidates forgotten
        mean_score_radius(BOUND, CANDIDATES, 2 * SAMPLES, FAILURE),  # a factor √2 lost
    ],
)
def test_coverage_sabotaged(wrong):
    assert failure_rate(wrong) > 1.5 * FAILURE


def test_formula():
    expected = 3.0 * np.sqrt(np.log(2 * 4 / 0.05) / (2 * 50))
    np.testing.assert_allclose(mean_score_radius(3.0, 4, 50, 0.05), expected, rtol=1e-14)
    np.testing.assert_allclose(
        mean_score_radius(1.0, 4, 200, 0.05), mean_score_radius(1.0, 4, 50, 0.05) / 2, rtol=1e-14
    )


@pytest.mark.parametrize("samples", [500, 5000])
def test_abstains_up_to_twice_the_radius(samples):
    radius = mean_score_radius(2.0, 3, samples, 0.2)
    near, far = 2 * radius * (1 - 1e-9), 2 * radius * (1 + 1e-9)
    assert recovers([0.9, 0.5 + near, 0.5], 2.0, samples, 0.2) is None
    assert recovers([1.9, 0.5 + far, 0.5], 2.0, samples, 0.2) == 2
    # The reason: expectations one radius off, each to its bad side, would make 1 the better one below that gap.
    assert (0.5 + near) - radius < 0.5 + radius < (0.5 + far) - radius


def test_wrong_choices_are_rare_and_clear_gaps_are_recovered():
    random, means = np.random.default_rng(1), np.array([0.30, 0.32, 0.6])
    wrong, right = 0, 0
    for _ in range(2000):
        found = recovers(random.binomial(300, means) / 300, 1.0, 300, 0.2)
        wrong += found not in (None, 0)
    assert wrong / 2000 <= 0.2
    clear = np.array([0.1, 0.9])
    for _ in range(200):
        right += recovers(random.binomial(300, clear) / 300, 1.0, 300, 0.2) == 0
    assert right == 200


def test_ties_and_single_candidates():
    assert recovers([0.0, 0.0], 1.0, 10**9, 0.01) is None
    assert recovers([0.7], 1.0, 1, 0.5) == 0


@pytest.mark.parametrize("scores", [[-1e-9, 0.5], [0.5, 1.0 + 1e-9], [np.nan, 0.5], [[0.1, 0.2]]])
def test_scores_outside_the_bound_are_refused(scores):
    with pytest.raises(ValueError, match=r"mean score in \[0, 1\]"):
        recovers(scores, 1.0, 100, 0.1)


@pytest.mark.parametrize(
    "arguments, complaint",
    [
        ((np.inf, 3, 10, 0.1), "bound"),
        ((-1.0, 3, 10, 0.1), "bound"),
        ((1.0, 0, 10, 0.1), "at least one"),
        ((1.0, 3, 0, 0.1), "at least one"),
        ((1.0, 3, 10, 0.0), "failure"),
        ((1.0, 3, 10, 1.0), "failure"),
    ],
)
def test_bad_arguments(arguments, complaint):
    with pytest.raises(ValueError, match=complaint):
        mean_score_radius(*arguments)
