"""A panel without scores chooses nobody; choices are judged by other inputs."""

import numpy as np
import pytest

from physrank.lab.studies._kit import choosing


def test_an_unresolved_input_does_not_choose_the_first_candidate():
    random = np.random.default_rng(0)
    scores = random.uniform(1, 2, (2, 6, 4))
    scores[:, :, 3] = 0.5
    scores[0, 2] = np.nan
    np.testing.assert_array_equal(choosing.winners(scores), [3, 3])
    scores[:, :, 0], scores[1, 2, 0] = 0.55, np.nan  # nor does one without a score win by that
    np.testing.assert_array_equal(choosing.winners(scores), [3, 3])
    with pytest.raises(ValueError, match="nothing to choose from"):
        choosing.winners(np.full((1, 3, 4), np.nan))


def test_choices_are_judged_by_the_losses_of_other_inputs():
    risk = np.array([[1.0, 2.0, 3.0], [5.0, 4.0, 4.0 + 1e-7]])
    row = choosing.judged(np.array([[0, 1], [2, 0]]), risk)
    assert (row["routes"], row["exact"], row["tolerant"], row["top2"]) == (4, 1, 2, 3)
    assert row["mean_normalized_regret"] == pytest.approx((0 + 0.5 + 1e-7 + 1) / 4)
    alone = choosing.by_library(["a", "b"], np.array([[0, 1], [2, 0]]), risk)
    assert alone["a"]["mean_normalized_regret"] == 0.25 and alone["b"]["top2"] == 1


def test_the_distribution_of_regret_has_its_mean_and_its_ends():
    risk, picks = np.array([[0.0, 1.0, 4.0], [3.0, 2.0, 1.0]]), np.array([[0, 1], [2, 0]])
    found = choosing.regrets(picks, risk)  # 0, 1/4, 0, 1
    assert found[0] == 0 and found[-1] == 1 and sorted(set(found)) == [0, 0.25, 1]
