"""How much may be spent is said in words or in detail, and checked before anything is."""

import numpy as np
import pytest

import physrank as pr
from physrank.rungs.effort import EFFORTS, Spent, resolve


def test_names_and_details_are_understood():
    assert resolve("auto") == pr.Effort() == EFFORTS["auto"]
    assert resolve(pr.Effort(levels=2)).levels == 2


@pytest.mark.parametrize("effort", ["most", 3, ["auto"]])
def test_other_efforts_are_refused(effort):
    with pytest.raises(ValueError, match="'auto', 'response', 'solve'"):
        resolve(effort)


@pytest.mark.parametrize("options", [{"levels": -1}, {"levels": 1.5}, {"corrections": 0}, {"corrections": True}])
def test_impossible_details_are_refused_by_name(options):
    with pytest.raises(ValueError, match=next(iter(options))):
        pr.Effort(**options)


def test_open_pairs_are_counted_once():
    settled = np.eye(3, dtype=bool)
    assert Spent("rung", 0.1, 1, settled).open == 3
    assert Spent("rung", 0.1, 1).open is None
