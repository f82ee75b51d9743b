"""Few numbers for many: what they must keep."""

import numpy as np

from physrank.lab.evaluation import Outcomes
from physrank.lab.evaluation.compact import BINS, PROBABILITIES, gap_density, packed, pictured, quantiles, unpacked


def population(seed=0, cases=60, candidates=5):
    random = np.random.default_rng(seed)
    losses = random.uniform(1, 2, (cases, candidates))
    return losses, losses + 0.05 * random.standard_normal(losses.shape)


def test_quantiles_keep_the_ends_and_the_shares():
    values = np.r_[np.zeros(1900), np.linspace(0.1, 1, 20)]
    found = quantiles(values)
    assert len(found) == len(PROBABILITIES) and (found[0], found[-1]) == (0, 1)
    below = np.searchsorted(found, 0, side="right") - 1
    assert abs(PROBABILITIES[below] - 1900 / 1920) <= 0.01
    assert all(value in np.round(values, 4) or value in values for value in found[:99])  # of the sample, not between


def test_what_was_packed_is_unpacked():
    table = np.random.default_rng(0).integers(0, 5000, (4, 7))
    np.testing.assert_array_equal(unpacked(packed(table)), table)


def test_gaps_lie_on_the_diagonal_where_scores_are_losses_and_across_it_where_they_are_reversed():
    losses, scores = population()
    same, reversed_ = (unpacked(gap_density(losses, s)) for s in (losses, -losses))
    assert np.count_nonzero(same - np.diag(np.diag(same))) == 0
    np.testing.assert_array_equal(reversed_, same[:, ::-1])
    found = unpacked(gap_density(losses, scores))
    assert found.sum() == 2 * Outcomes.of(losses, scores).non_ties.sum()
    np.testing.assert_array_equal(found, found[::-1, ::-1])
    assert found.shape == (BINS, BINS)


def test_missing_scores_are_left_out_of_the_density():
    losses, scores = population()
    scores[0] = np.nan
    assert unpacked(gap_density(losses, scores)).sum() == 2 * 59 * 10


def test_a_picture_has_every_method():
    losses, scores = population()
    found = pictured(losses, {"shared": scores, "raw": -losses}, ["a"] * 60)
    assert found["cases"] == 60 and found["pairs"] == 600
    assert sum(found["deciles"]["shared"]["total"]) == 600
    assert set(found["gap_density"]) == {"shared"}
    assert np.mean(found["regret"]["shared"]) < np.mean(found["regret"]["raw"])
