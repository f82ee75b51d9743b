"""Decision geometry: law 4 and the small algebra around it, with inputs drawn by hypothesis."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from physrank import geometry
from physrank.geometry import ComparisonSubspace, TaskSpace

values = st.floats(-10, 10, allow_nan=False, allow_subnormal=False)
libraries = st.integers(2, 6).flatmap(lambda n: hnp.arrays(np.float64, (n, 9), elements=values))
targets = hnp.arrays(np.float64, 9, elements=values)
weights = hnp.arrays(np.float64, 9, elements=st.floats(0.125, 5))


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


@given(libraries, targets, targets, weights)
def test_decomposition_and_invisible_directions(outputs, t, h, w):
    space = TaskSpace(w)
    subspace = ComparisonSubspace.of(space, outputs)
    assert subspace.rank <= len(outputs) - 1
    seen, unseen = subspace.decompose(h)
    np.testing.assert_allclose(seen + unseen, h, atol=1e-12)
    np.testing.assert_allclose(space.inner(seen, unseen), 0, atol=1e-9)
    before = geometry.gap_matrix(geometry.scores_of(space, outputs, t))
    # The kept directions resolve differences to round-off of the outputs' size; so is what the rest may move.
    after = geometry.gap_matrix(geometry.scores_of(space, outputs, t + 100 * unseen))
    np.testing.assert_allclose(after, before, rtol=0, atol=1e-7)


@given(libraries, weights)
def test_basis_is_orthonormal_and_contains_differences(outputs, w):
    space = TaskSpace(w)
    subspace = ComparisonSubspace.of(space, outputs)
    gram = [[space.inner(a, b) for b in subspace.basis] for a in subspace.basis]
    np.testing.assert_allclose(np.reshape(gram, (subspace.rank, subspace.rank)), np.eye(subspace.rank), atol=1e-10)
    for y in outputs:
        np.testing.assert_allclose(subspace.project(y - outputs[0]), y - outputs[0], atol=1e-9)


def test_rank_reveals_duplicates_and_dependence():
    a, b = np.array([1.0, 0, 0, 0]), np.array([0, 1.0, 0, 0])
    space = TaskSpace.mean_square((4,))
    assert ComparisonSubspace.of(space, np.stack([a, a])).rank == 0
    assert ComparisonSubspace.of(space, np.stack([a, b, a])).rank == 1
    assert ComparisonSubspace.of(space, np.stack([a, b, (a + b) / 2, 3 * a - 2 * b])).rank == 1
    assert ComparisonSubspace.of(space, np.stack([a, b, 0 * a])).rank == 2
    # Copies that differ by round-off of a large common part are copies.
    common = 1e6 * np.ones(4)
    assert ComparisonSubspace.of(space, np.stack([common, common * (1 + 1e-16), common + 1e-11])).rank == 0


def test_small_rank_sees_everything():
    """Law 4 in full: adding anything orthogonal to 𝒟 changes no label."""
    random = np.random.default_rng(5)
    outputs, space = random.standard_normal((4, 50)), TaskSpace(random.uniform(0.5, 2, 50))
    subspace = ComparisonSubspace.of(space, outputs)
    t = random.standard_normal(50)
    for _ in range(20):
        _, unseen = subspace.decompose(1e3 * random.standard_normal(50))
        before = geometry.pair_labels(geometry.scores_of(space, outputs, t), 1e-6)
        after = geometry.pair_labels(geometry.scores_of(space, outputs, t + unseen), 1e-6)
        np.testing.assert_array_equal(before, after)
    assert len(subspace.coordinates(t)) == 3
    # … and a visible direction does change them.
    moved = geometry.pair_labels(geometry.scores_of(space, outputs, t + 1e3 * (outputs[0] - outputs[1])), 1e-6)
    assert np.any(moved != geometry.pair_labels(geometry.scores_of(space, outputs, t), 1e-6))


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


def test_task_space_refuses_bad_weights():
    for bad in ([1.0, 0.0], [1.0, np.nan], [-1.0, 1.0]):
        with pytest.raises(ValueError, match="positive, finite weights"):
            TaskSpace(np.array(bad))
    with pytest.raises(ValueError, match="Expected outputs of shape"):
        TaskSpace(np.ones(3)).norm(np.ones(4))
