"""Areas under two curves: their values where they are known, and what ties do."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from physrank.lab.evaluation import auprc, auroc, detection

EVENTS = np.array([True, False, True, False, False])


def test_known_values():
    assert auroc(EVENTS, [5, 2, 4, 3, 1]) == auprc(EVENTS, [5, 2, 4, 3, 1]) == 1
    assert auroc(EVENTS, [1, 4, 2, 3, 5]) == 0
    assert auroc(EVENTS, [5, 4, 3, 2, 1]) == pytest.approx(5 / 6)
    assert auprc(EVENTS, [5, 4, 3, 2, 1]) == pytest.approx(1 / 2 + 2 / 3 / 2)


def test_a_score_that_says_nothing():
    assert auroc(EVENTS, np.zeros(5)) == 0.5
    assert auprc(EVENTS, np.zeros(5)) == 2 / 5  # the share of events, not what the order of equals would give


def test_where_everything_or_nothing_happened_there_is_no_order():
    assert all(np.isnan(auroc(np.full(5, all_of_them), np.arange(5.0))) for all_of_them in (True, False))


@given(st.integers(0, 100))
def test_against_all_pairs(seed):
    random = np.random.default_rng(seed)
    events, scores = random.permutation(30) < random.integers(1, 30), random.integers(0, 8, 30).astype(float)
    apart = scores[events][:, None] - scores[~events][None, :]
    assert auroc(events, scores) == pytest.approx(np.mean((apart > 0) + 0.5 * (apart == 0)))
    assert auroc(events, scores) + auroc(events, -scores) == pytest.approx(1)


def test_refusals():
    assert np.isnan(auprc([False, False], [1.0, 2.0]))
    for events, scores in (([1, 0], [1.0, 2.0]), ([True], [1.0, 2.0]), ([True, False], [np.nan, 1.0])):
        with pytest.raises(ValueError, match="Expected booleans"):
            auroc(events, scores)


def test_gains_are_resampled_by_cluster(monkeypatch):
    monkeypatch.setattr(detection, "REPLICATES", 100)
    random = np.random.default_rng(1)
    events = random.random((30, 20)) < 0.3
    good, poor = events + 0.5 * random.standard_normal(events.shape), random.standard_normal(events.shape)
    names = [f"input-{k // 2}" for k in range(30)]
    found = detection.auroc_gain(events, good, poor, names, seed=3)
    assert 0.2 < found.low < found.estimate < found.high
    assert detection.auroc_gain(events, good, good, names, seed=3).high == 0
    alone = detection.auroc_gain(events, good, poor, [str(k) for k in range(30)], seed=3)
    assert found.low != alone.low  # pairs of one cluster stay together
