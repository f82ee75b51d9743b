"""What candidates differ in, and nothing else, can change a decision: law 4."""

import numpy as np
from hypothesis import given

from physrank import geometry
from physrank.geometry import ComparisonSubspace, TaskSpace
from strategies import libraries, targets, weights


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


def test_copies_that_differ_by_round_off_of_a_large_common_part_are_copies():
    """One unit in the last place, here and there; what is a hundred times that is a difference."""
    random = np.random.default_rng(0)
    common, space = 1e6 * random.uniform(1, 2, (1, 40)), TaskSpace.mean_square((40,))
    last = np.spacing(common) * random.integers(-1, 2, (3, 40))
    copies = common + last
    assert len(np.unique(copies, axis=0)) == 3
    assert ComparisonSubspace.of(space, copies).rank == 0
    assert ComparisonSubspace.of(space, common + 100 * last).rank == 2


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
