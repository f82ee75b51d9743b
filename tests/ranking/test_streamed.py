"""`rank_streamed`: the scores of `rank` with the same anchor, from candidates that pass by and are read at most twice."""

from collections import Counter

import numpy as np
import pytest

import physrank as pr
from problems import reaction_diffusion

PROBLEM = reaction_diffusion(2, 10)
RANDOM = np.random.default_rng(0)
STATES = {f"m{k:02d}": np.pad(0.1 * RANDOM.standard_normal((10, 10)), 1) for k in range(40)}
START = {"anchor": np.zeros((12, 12)), "effort": "response"}


class Counted:
    """Reads a candidate, and counts it."""

    def __init__(self):
        self.reads, self.now, self.most = Counter(), 0, 0

    def of(self, name):
        def read():
            self.reads[name] += 1
            return STATES[name]

        return read


@pytest.mark.parametrize("max_bytes", [1, 20_000, 1 << 28])
def test_scores_are_those_of_rank_and_nothing_is_read_a_third_time(max_bytes):
    counted = Counted()
    found = pr.rank_streamed(PROBLEM, {name: counted.of(name) for name in STATES}, max_bytes=max_bytes, **START)
    whole = pr.rank(PROBLEM, STATES, **START)
    np.testing.assert_allclose(found.values, whole.scores, rtol=1e-12)
    assert found.order == whole.order and found.unresolved is None
    assert set(counted.reads) == set(STATES)
    assert max(counted.reads.values()) <= 2
    assert sum(counted.reads.values()) <= len(STATES) + 16
    assert np.all(found.uncertainty >= whole.uncertainty * (1 - 1e-9))  # distances go over the proxy


def test_an_anchor_of_a_sample_decides_the_same():
    array = np.stack(list(STATES.values()))
    found, whole = pr.rank_streamed(PROBLEM, array), pr.rank(PROBLEM, array)
    assert found.names == whole.names
    settled = np.abs(found.gaps) > found.uncertainty
    assert np.all((np.sign(found.gaps) == np.sign(whole.gaps))[settled]) and settled.mean() > 0.5
    other = pr.rank_streamed(PROBLEM, STATES, anchor="m03")
    np.testing.assert_allclose(other.values, pr.rank(PROBLEM, STATES, anchor="m03").scores, rtol=1e-12)


def test_candidates_with_nan_are_excluded_or_refused():
    spoilt = STATES | {name: np.full((12, 12), np.nan) for name in ("m00", "m20", "m21")}
    with pytest.raises(ValueError, match="Candidate 'm00' contains 144 NaN"):
        pr.rank_streamed(PROBLEM, spoilt, max_bytes=20_000)
    found = pr.rank_streamed(PROBLEM, spoilt, max_bytes=1, invalid="exclude", **START)  # one at a time
    assert list(found.excluded) == ["m00", "m20", "m21"]
    assert np.isnan(found.values).sum() == 3
    np.testing.assert_allclose(found.values[1], pr.rank(PROBLEM, STATES, **START).scores[1], rtol=1e-12)


def test_refusals():
    with pytest.raises(ValueError, match="the ladder needs all candidates; got 'auto'"):
        pr.rank_streamed(PROBLEM, STATES, effort="auto")
    with pytest.raises(ValueError, match="a handle to one array with a leading candidate axis; got 5"):
        pr.rank_streamed(PROBLEM, 5)
    with pytest.raises(ValueError, match="No candidates"):
        pr.rank_streamed(PROBLEM, {})
