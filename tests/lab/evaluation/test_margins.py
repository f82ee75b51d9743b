"""Margins, concordance and flips on synthetic populations whose answers are known."""

import numpy as np
import pytest
from scipy import stats

from lab_helpers import noisy
from physrank.lab.evaluation import best_runner_up, concordance, flips, margin_deciles


def test_margin_deciles_are_ranked_within_each_cell():
    """Two candidates, so each case is one pair. Cell b's gaps are a thousand times larger; its lowest three err."""
    gaps = np.concatenate([np.arange(1.0, 21), 1e3 * np.arange(1.0, 16)])
    losses = np.stack([np.zeros(35), gaps], axis=1)
    scores = losses.copy()
    scores[[0, 20, 21, 22], 1] = -1.0
    losses = np.vstack([losses, [[0.0, 1e-7]]])  # a reference tie, left out
    found = margin_deciles(losses, np.vstack([scores, [[0.0, -1.0]]]), ["a"] * 20 + ["b"] * 16)
    assert found.total.tolist() == [4, 3] * 5  # 2 of a's 20 each; b's 15 alternate between two and one
    assert (found.total - found.correct).tolist() == [3, 1, 0, 0, 0, 0, 0, 0, 0, 0]


def test_small_margins_are_the_hard_ones():
    """Scores with Gaussian noise σ on each candidate: a pair of gap g is right with probability Φ(g / σ√2)."""
    losses, scores = noisy(4000, 4, noise=0.3)
    correct, total = margin_deciles(losses, scores, np.arange(4000) % 8, tolerance=0.0)
    assert total.sum() == 24_000 and set(total) == {2400}
    accuracy = correct / total
    assert np.all(np.diff(accuracy) > 0)
    gaps = np.sort(np.abs(losses[:, [0, 0, 0, 1, 1, 2]] - losses[:, [1, 2, 3, 2, 3, 3]]).ravel())
    expected = stats.norm.cdf(gaps / (0.3 * np.sqrt(2))).reshape(10, 2400).mean(axis=1)
    assert accuracy == pytest.approx(expected, abs=4 * 0.5 / np.sqrt(2400))


def test_best_and_runner_up():
    relative = np.linspace(0.0, 0.5, 11)
    losses = np.stack([np.full(11, 4.0), 2.0 + 2.0 * relative, np.full(11, 2.0)], axis=1)
    found = best_runner_up(losses)
    assert (found.cases, found.within_tolerance) == (11, 1)
    assert (found.q10, found.median, found.q90) == pytest.approx((0.05, 0.25, 0.45))


def test_concordance():
    losses, _ = noisy(40, 5, 0.0)
    assert np.array_equal(concordance(losses, 3 * losses - 1), 40 * np.eye(5))
    assert np.array_equal(concordance(losses, -losses), 40 * np.eye(5)[::-1])
    by_hand = concordance([[1.0, 2.0, 3.0], [3.0, 2.0, 1.0]], [[3.0, 1.0, 2.0], [np.nan, 2.0, 1.0]])
    assert by_hand.tolist() == [[1, 0, 1], [1, 1, 0], [0, 1, 0]]  # the unscored worst candidate is in no tile


def test_flips_by_hand():
    """Pairs (0,1), (0,2), (1,2): truth reverses the first and last, the scores the first and the middle."""
    found = flips([[1.0, 2.0, 1.5]], [[3.0, 2.0, 4.0]], [[1.0, 3.0, 2.0]], [[9.0, 8.0, 7.0]])
    assert found.to_dict() == {"none": 0, "both": 1, "diagnostic_only": 1, "truth_only": 1}
    still = flips([[1.0, 2.0]], [[2.0, 2.0]], [[1.0, 2.0]], [[1.0, 3.0]])
    assert still.none == 1  # a tie is no reversal
    with pytest.raises(ValueError, match="missing"):
        flips([[1.0, 2.0]], [[1.0, 2.0]], [[1.0, np.nan]], [[1.0, 2.0]])
