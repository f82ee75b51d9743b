"""Gaps, margins, labels and regret, with inputs drawn by hypothesis."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from physrank import geometry
from physrank.geometry import TaskSpace
from strategies import libraries, targets, weights


def gap_transfer(space, outputs, t, q):
    """G_ij(t) − G_ij(q) = 2⟨t − q, y_i − y_j⟩."""
    left = geometry.gap_matrix(geometry.scores_of(space, outputs, t)) - geometry.gap_matrix(
        geometry.scores_of(space, outputs, q)
    )
    right = np.array([[2 * space.inner(t - q, yi - yj) for yj in outputs] for yi in outputs])
    np.testing.assert_allclose(left, right, rtol=0, atol=1e-10)


@given(libraries, targets, targets, weights)
def test_gap_transfer_identity(outputs, t, q, w):
    gap_transfer(TaskSpace(w), outputs, t, q)


def test_gap_transfer_sabotaged():
    random = np.random.default_rng(0)
    outputs, t, q = random.standard_normal((3, 9)), random.standard_normal(9), random.standard_normal(9)

    class WrongMetric(TaskSpace):
        def inner(self, x, y):
            return np.sum(x * y, axis=-1)  # forgets the weights

    with pytest.raises(AssertionError):
        gap_transfer(WrongMetric(np.linspace(1, 2, 9)), outputs, t, q)


def test_labels_order_and_ties():
    scores = [2.0, 1.0, 1.0, 3.0]
    assert geometry.top1(scores) == 1
    assert geometry.best_first(scores) == [1, 2, 0, 3]
    assert geometry.weak_order(scores) == [[1, 2], [0], [3]]
    assert geometry.tolerant_winners(scores, 1.0) == [0, 1, 2]
    labels = geometry.pair_labels(scores, 0.5)
    assert labels[1, 2] == 0
    assert labels[1, 0] == 1
    assert labels[0, 1] == -1
    assert geometry.pair_labels(scores, 1.0)[1, 0] == 0  # a gap equal to the tolerance is a tie
    with pytest.raises(ValueError, match="tolerance"):
        geometry.pair_labels(scores, -1.0)


@settings(deadline=None)
@given(libraries, targets, weights, st.floats(1e-3, 10))
def test_margin_radius_is_sharp(outputs, q, w, epsilon):
    """|G(t) − G(q)| ≤ 2ε‖y_i − y_j‖ for ‖t − q‖ ≤ ε, with equality along the pair's own direction."""
    space = TaskSpace(w)
    radius = geometry.margin_radius(space, outputs, epsilon)
    base = geometry.gap_matrix(geometry.scores_of(space, outputs, q))
    difference = outputs[0] - outputs[1]
    size = space.norm(difference)
    if size < 1e-3:
        return
    moved = geometry.gap_matrix(geometry.scores_of(space, outputs, q + epsilon * difference / size))
    np.testing.assert_allclose(moved[0, 1] - base[0, 1], radius[0, 1], rtol=1e-6, atol=1e-8)
    assert np.all(np.abs(moved - base) <= radius * (1 + 1e-9) + 1e-8)


def test_order_of_error_equal_to_order_of_margin_reverses_the_ranking():
    """S1: candidates ∓1, truth −ρᵏ/4, proxy ρᵏ/4: an error of the margin's order flips the sign."""
    space, outputs = TaskSpace(np.ones(1)), np.array([[-1.0], [1.0]])
    for rho, k in [(0.5, 1), (0.1, 2), (0.01, 3)]:
        t, q = np.array([-(rho**k) / 4]), np.array([rho**k / 4])
        true_gap = geometry.gap_matrix(geometry.scores_of(space, outputs, t))[0, 1]
        found = geometry.gap_matrix(geometry.scores_of(space, outputs, q))[0, 1]
        np.testing.assert_allclose([true_gap, found], [rho**k, -(rho**k)], rtol=1e-9)
        safe = geometry.safe_error(space, outputs, geometry.scores_of(space, outputs, q))[0, 1]
        assert safe < space.norm(t - q)  # the margin says that this error is not survived


def test_nan_has_no_order():
    for decide in (geometry.top1, geometry.weak_order):
        with pytest.raises(ValueError, match="NaN have no order"):
            decide([np.nan, 1.0, 0.0])


def test_regret():
    losses = [3.0, 1.0, 2.0]
    assert geometry.regret(losses, 1) == 0
    assert geometry.regret(losses, 0) == 2
    assert geometry.normalized_regret(losses, 2) == 0.5
    assert geometry.normalized_regret([1.0, 1.0 + 1e-12], 1) == pytest.approx(1e-4, rel=1e-3)  # floor 1e-8


@given(libraries, targets, weights)
def test_gaps_are_differences_of_scores_without_their_common_part(outputs, t, w):
    space = TaskSpace(w)
    gaps = geometry.gaps_of(space, outputs, t)
    np.testing.assert_allclose(gaps, geometry.gap_matrix(geometry.scores_of(space, outputs, t)), atol=1e-10)
    np.testing.assert_array_equal(gaps, -gaps.T)
    far = np.array([[1e8], [1e8 + 1]])  # squares have lost the last digit of the gap
    assert geometry.gaps_of(TaskSpace(np.ones(1)), far, np.zeros(1))[0, 1] == 2e8 + 1


def test_ties_keep_the_order_of_the_candidates_however_many_there_are():
    scores = np.arange(200) % 2
    assert geometry.best_first(scores) == [*range(0, 200, 2), *range(1, 200, 2)]


def test_a_pair_is_settled_when_nothing_that_may_happen_changes_its_label():
    gaps = np.array([[0.0, 1.0], [-1.0, 0.0]])
    for uncertainty, tolerance, settled in [
        (0.5, 0.0, True),  # the sign survives
        (1.0, 0.0, False),  # it may become a tie
        (2.0, 2.5, False),  # within the tolerance now, not whatever happens
        (1.4, 2.5, True),  # within it whatever happens
        (np.nan, 9.0, False),
    ]:
        found = geometry.settled_pairs(gaps, np.full((2, 2), uncertainty), tolerance)
        assert found.tolist() == [[True, settled], [settled, True]]


def test_possible_regret_is_what_the_worst_case_costs():
    gaps = geometry.gap_matrix([1.0, 3.0, 4.0])  # the first leads by 2 and 3
    np.fill_diagonal(gaps, np.nan)  # nobody loses against himself
    assert geometry.possible_regret(gaps, np.zeros((3, 3))).tolist() == [0.0, 2.0, 3.0]
    assert geometry.possible_regret(gaps, np.full((3, 3), 2.5)).tolist() == [0.5, 4.5, 5.5]
    assert geometry.possible_regret(gaps, np.full((3, 3), np.nan)).tolist() == [np.inf] * 3
    assert geometry.possible_regret(gaps[1], np.full(3, 2.5)) == 4.5
