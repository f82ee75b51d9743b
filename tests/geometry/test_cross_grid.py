"""From grid to grid: the identity closes whatever the drifts, and the screen never contradicts the fine grid."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from physrank import geometry
from physrank.geometry import CrossGrid, TaskSpace

SPACE = TaskSpace(np.linspace(0.5, 1.5, 40) / 40)


def two_grids(seed, drift=0.3, candidates=5):
    """A library and its proxy, and the same after drifts of any size, alike for no two candidates."""
    random = np.random.default_rng(seed)
    truth = random.standard_normal(40)
    y = truth + 0.3 * random.standard_normal((candidates, 40))
    q = truth + 0.05 * random.standard_normal(40)
    moved = drift * random.standard_normal((candidates + 1, 40))
    return (q, y), (q + moved[0], y + moved[1:])


@given(st.integers(0, 200), st.floats(0, 3))
def test_the_identity_is_exact_for_drifts_of_any_size(seed, drift):
    found = CrossGrid.of(SPACE, *two_grids(seed, drift))
    assert found.closure.max() <= 1e-14 * max(1.0, np.abs(found.fine).max())
    np.testing.assert_array_equal(found.first_order, -found.first_order.T)


def test_what_leaves_a_drift_out_is_no_identity():
    """The proxy's drift forgotten, the bilinear term forgotten: neither closes, unless there is no such drift."""
    (q, y), (fine_q, fine_y) = two_grids(1)
    found = CrossGrid.of(SPACE, (q, y), (fine_q, fine_y))
    upper = np.triu_indices(len(y), 1)
    for wrong in (found.candidates_only, found.first_order):
        assert np.abs(wrong - found.fine)[upper].min() > 1e-6
    # Without its drift the proxy is the coarse grid's, while the candidates are the fine one's.
    np.testing.assert_allclose(found.candidates_only, geometry.gaps_of(SPACE, fine_y, q), rtol=0, atol=1e-14)
    still = CrossGrid.of(SPACE, (q, y), (q, fine_y))
    for gaps in (still.candidates_only, found.candidates_only):  # what the fine grid says with the coarse proxy
        np.testing.assert_allclose(gaps, still.fine, rtol=0, atol=1e-14)
    together = CrossGrid.of(SPACE, (q, y), (fine_q, y + 0.1))  # candidates move alike: p stands still
    np.testing.assert_allclose(together.first_order, together.fine, rtol=0, atol=1e-14)


@given(st.integers(0, 200), st.floats(0.01, 1))
def test_a_screened_sign_is_the_fine_one(seed, drift):
    found = CrossGrid.of(SPACE, *two_grids(seed, drift))
    signs = found.screen().signs
    settled = signs != 0
    np.testing.assert_array_equal(signs[settled], np.sign(found.fine)[settled])
    winner = found.screen().winner
    assert winner is None or winner == geometry.top1(-found.fine.sum(axis=1))
    assert (found.screen(allowance=0.1).signs != 0).sum() <= settled.sum()
    off = ~np.eye(len(signs), dtype=bool)
    np.testing.assert_array_equal(settled[off], (found.locality < 1)[off])


def test_the_screen_abstains_where_the_bilinear_term_decides():
    """One direction, two candidates, known numbers: |R| = 15 exceeds |Ĝ| = 1, whichever sign Ĝ has."""
    space = TaskSpace(np.ones(1))
    found = CrossGrid.of(
        space, (np.array([1.0]), np.array([[1.0], [0.0]])), (np.array([-1.0]), np.array([[3.0], [-1.0]]))
    )
    assert (found.coarse[0, 1], found.first_order[0, 1], found.remainder[0, 1]) == (1.0, -1.0, -15.0)
    assert found.fine[0, 1] == -16.0 and found.closure.max() == 0
    assert found.screen().signs[0, 1] == 0 and found.screen().winner is None
    assert np.isnan(found.labels()[0, 1]) and found.flipped[0, 1]


def test_labels_need_the_whole_interval():
    (q, y), (fine_q, fine_y) = two_grids(3, 0.01)
    found = CrossGrid.of(SPACE, (q, y), (fine_q, fine_y))
    size = np.abs(found.fine).max()
    np.testing.assert_array_equal(found.labels(2 * size), np.zeros_like(found.fine))
    labels = found.labels(0.1 * size)
    known = ~np.isnan(labels)
    truth = np.sign(found.fine) * (np.abs(found.fine) > 0.1 * size)
    np.testing.assert_array_equal(labels[known], truth[known])
    with pytest.raises(ValueError, match="≥ 0"):
        found.labels(-1.0)


def test_flips_are_scored_by_the_first_order_and_by_the_margin():
    """Small drifts: the first order knows who flips, the margin only who might; without drifts the two are one."""
    rows = [CrossGrid.of(SPACE, *two_grids(seed, 0.05, 8)) for seed in range(40)]
    upper = np.triu_indices(8, 1)
    flipped, ours, margin = (
        np.concatenate([value(row)[upper] for row in rows])
        for value in (lambda r: r.flipped, lambda r: r.flip_scores(), lambda r: r.flip_scores(first_order=False))
    )
    assert flipped.any() and np.min(ours[flipped]) > np.quantile(ours[~flipped], 0.9)
    assert np.mean(ours[flipped] > 0) > 0.95 and np.all(margin <= 0)
    grid = two_grids(0)[0]
    still = CrossGrid.of(SPACE, grid, grid)
    np.testing.assert_array_equal(still.flip_scores(), still.flip_scores(first_order=False))


def test_candidates_of_two_grids_must_be_the_same():
    (q, y), (fine_q, fine_y) = two_grids(0)
    with pytest.raises(ValueError, match="same candidates"):
        CrossGrid.of(SPACE, (q, y), (fine_q, fine_y[:-1]))
