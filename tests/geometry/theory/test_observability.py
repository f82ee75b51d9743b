"""Observability: κ against an independent formula, the best decoder, and a lower bound that no estimator beats."""

import numpy as np
import pytest
import scipy.linalg
from hypothesis import given, settings
from hypothesis import strategies as st

from physrank import geometry
from physrank.geometry import (
    Ball,
    ComparisonSubspace,
    TaskSpace,
    gap_intervals,
)
from physrank.geometry.theory import Observability, minimax_risk, opposite_targets, restricted_kernel_condition


def setting(seed, observations=7, candidates=3, shape=(2, 3)):
    random = np.random.default_rng(seed)
    space = TaskSpace(random.uniform(0.2, 3.0, shape))
    outputs = random.standard_normal((candidates, *shape))
    return random, outputs, ComparisonSubspace.of(space, outputs), random.standard_normal((observations, 6))


def projector(subspace):
    """P_𝒟 as a matrix on flattened outputs, column by column."""
    shape = subspace.space.shape
    return np.stack([subspace.project(e.reshape(shape)).ravel() for e in np.eye(int(np.prod(shape)))], axis=1)


def constant_is_the_largest_ratio(subspace, matrix, found):
    """For injective 𝒯, κ² is the largest eigenvalue of the pencil (PᵀMP, 𝒯ᵀ𝒯)."""
    p, m = projector(subspace), np.diag(subspace.space.weights.ravel())
    ratio = scipy.linalg.eigh(p.T @ m @ p, matrix.T @ matrix, eigvals_only=True)[-1]
    np.testing.assert_allclose(found, np.sqrt(ratio), rtol=1e-8)


@given(st.integers(0, 10**6))
@settings(max_examples=30, deadline=None)
def test_constant_and_factor(seed):
    random, _, subspace, matrix = setting(seed)
    space = subspace.space
    found = Observability.of(subspace, matrix)
    constant_is_the_largest_ratio(subspace, matrix, found.constant)
    assert found.factor is not None
    flat = found.factor.reshape(6, 7)
    np.testing.assert_allclose(flat @ matrix, projector(subspace), atol=1e-8)  # B𝒯 = P_𝒟
    roots = np.sqrt(space.weights).reshape(6, 1)
    np.testing.assert_allclose(np.linalg.norm(roots * flat, 2), found.constant, rtol=1e-9)  # ‖B‖ = κ
    h = random.standard_normal((200, 2, 3))
    ratios = space.norm(np.array([subspace.project(x) for x in h])) / np.linalg.norm(
        h.reshape(-1, 6) @ matrix.T, axis=1
    )
    assert np.all(ratios <= found.constant * (1 + 1e-9))
    worst = found.direction
    np.testing.assert_allclose(space.norm(subspace.project(worst)), found.constant, rtol=1e-8)
    np.testing.assert_allclose(np.linalg.norm(matrix @ worst.ravel()), 1, rtol=1e-8)


def test_constant_sabotaged():
    _, outputs, subspace, matrix = setting(0)
    wrong = Observability.of(ComparisonSubspace.of(TaskSpace(np.ones((2, 3))), outputs), matrix)
    with pytest.raises(AssertionError):
        constant_is_the_largest_ratio(subspace, matrix, wrong.constant)  # forgets the weights


def test_no_other_factor_is_shorter():
    """All factors are B + C(I − 𝒯𝒯⁺); with more observations than unknowns there are many."""
    random, _, subspace, matrix = setting(1)
    space = subspace.space
    found = Observability.of(subspace, matrix)
    assert found.factor is not None
    flat, roots = found.factor.reshape(6, 7), np.sqrt(space.weights).reshape(6, 1)
    p = projector(subspace)
    for _ in range(50):
        free = p @ random.standard_normal((6, 7)) @ (np.eye(7) - matrix @ np.linalg.pinv(matrix))
        np.testing.assert_allclose((flat + free) @ matrix, p, atol=1e-8)
        assert np.linalg.norm(roots * (flat + free), 2) >= found.constant * (1 - 1e-12)


def test_fewer_observations_can_be_enough_and_exactly_the_coordinates_are():
    """𝒯 = the coordinates ⟨b_k, ·⟩ of 𝒟: κ = 1, though only 2 of 6 dimensions are seen; scaled by s, κ = 1/s."""
    _, _, subspace, _ = setting(2)
    space = subspace.space
    coordinates = (space.weights * subspace.basis).reshape(2, 6)
    np.testing.assert_allclose(Observability.of(subspace, coordinates).constant, 1, rtol=1e-10)
    np.testing.assert_allclose(Observability.of(subspace, 0.25 * coordinates).constant, 4, rtol=1e-10)


def test_invisible_decision_direction():
    """Drop one coordinate: two targets are observed alike, and yet the pair's sign differs."""
    _, outputs, subspace, _ = setting(3)
    space = subspace.space
    matrix = (space.weights * subspace.basis).reshape(2, 6)[:1]
    blind = Observability.of(subspace, matrix)
    assert blind.constant == np.inf
    assert blind.factor is None
    h = blind.direction
    np.testing.assert_allclose(matrix @ h.ravel(), 0, atol=1e-12)
    assert space.norm(subspace.project(h)) > 0.5
    inner = np.array([[space.inner(h, a - b) for b in outputs] for a in outputs])
    i, j = np.unravel_index(np.argmax(inner), inner.shape)
    middle = (outputs[i] + outputs[j]) / 2
    signs = [np.sign(geometry.gaps_of(space, outputs, middle + s * h)[i, j]) for s in (-0.1, 0.1)]
    assert signs == [-1, 1]
    x, noise = blind.two_points(0.5)
    assert not np.any(noise)
    assert space.norm(subspace.project(x)) > 0.5
    assert minimax_risk(blind.constant, 0.0) == np.inf
    # The kernel condition, not the number of observations: 5 that all miss one direction of 𝒟 are not enough …
    missing = np.linalg.svd(subspace.basis[:1].reshape(1, 6))[2][1:]
    assert Observability.of(subspace, missing).constant == np.inf
    # … and an almost invisible direction has a large, finite constant.
    weak = np.diag([1.0, 1e-6]) @ (space.weights * subspace.basis).reshape(2, 6)
    np.testing.assert_allclose(Observability.of(subspace, weak).constant, 1e6, rtol=1e-6)


@given(st.integers(0, 10**6))
@settings(max_examples=30, deadline=None)
def test_top_1_too_needs_every_direction_of_the_candidates(seed):
    """An h that is not seen and not orthogonal to 𝒟: two targets observed alike, and no candidate is best for both."""
    random, outputs, subspace, _ = setting(seed)
    outputs = np.concatenate([outputs, outputs[:1]])  # a duplicate adds no direction and changes nothing
    space, h = subspace.space, random.standard_normal((2, 3))
    matrix = scipy.linalg.null_space(h.reshape(1, 6)).T
    targets = opposite_targets(space, outputs, h)
    np.testing.assert_allclose(*[matrix @ t.ravel() for t in targets], atol=1e-9)
    best = [set(geometry.tolerant_winners(geometry.scores_of(space, outputs, t), 1e-9)) for t in targets]
    assert not best[0] & best[1]
    if seed < 3:  # too short, and somebody may be best for both; orthogonal, and nobody is decided by it
        near = [outputs.mean(axis=0) * 0 + 1e-9 * t for t in targets]
        assert len({geometry.top1(geometry.scores_of(space, outputs, t)) for t in near}) == 1
    with pytest.raises(ValueError, match="orthogonal"):
        opposite_targets(space, outputs, subspace.decompose(h)[1] * 0)


def test_no_estimator_beats_the_minimax_risk():
    random, _, subspace, matrix = setting(4)
    space = subspace.space
    found, delta = Observability.of(subspace, matrix), 0.3
    risk = minimax_risk(found.constant, delta)
    assert risk == found.constant * delta
    x, noise = found.two_points(delta)
    np.testing.assert_allclose(np.linalg.norm(noise), delta, rtol=1e-8)  # admissible
    observed = matrix @ x.ravel() + noise
    np.testing.assert_allclose(observed, 0, atol=1e-12)  # and the same for (x, n) and (−x, −n)

    def worst_of_two(estimator):
        answer = estimator(observed)
        return max(space.norm(answer - s * subspace.project(x)) for s in (1, -1))

    assert found.factor is not None
    factor = found.factor
    for _ in range(200):
        linear, shift = random.standard_normal((6, 7)), random.standard_normal((2, 3)) * random.uniform(0, 1)
        for estimator in (
            lambda y, a=linear: subspace.project((a @ y).reshape(2, 3)),
            lambda y, c=shift: subspace.project(factor @ y + c),
            lambda y, a=linear, c=shift: subspace.project(np.sin((a @ y).reshape(2, 3)) + c),
        ):
            assert worst_of_two(estimator) >= risk * (1 - 1e-9)
    # The decoder B meets the bound everywhere, with equality on the two points.
    np.testing.assert_allclose(worst_of_two(lambda y: factor @ y), risk, rtol=1e-8)
    for _ in range(200):
        z, n = 10 * random.standard_normal((2, 3)), random.standard_normal(7)
        n *= delta / np.linalg.norm(n)
        error = space.norm(factor @ (matrix @ z.ravel() + n) - subspace.project(z))
        assert error <= risk * (1 + 1e-9)


def test_observed_proxy_certifies_with_the_minimax_ball():
    """B(𝒯t + n) is a proxy whose error lies in Ball(κδ): its gap intervals contain the truth."""
    random = np.random.default_rng(5)
    space, outputs = TaskSpace(random.uniform(0.2, 3.0, 6)), random.standard_normal((3, 6))
    subspace, matrix = ComparisonSubspace.of(space, outputs), random.standard_normal((7, 6))
    found, delta = Observability.of(subspace, matrix), 0.02
    assert found.factor is not None
    for _ in range(50):
        t, n = random.standard_normal(6), random.standard_normal(7)
        n *= delta / np.linalg.norm(n)
        # Gaps see q through 𝒟 only, up to the part of the outputs' mean outside of it, which is known.
        known = outputs.mean(axis=0) - subspace.project(outputs.mean(axis=0))
        q = found.factor @ (matrix @ t + n) + known
        gaps = geometry.gaps_of(space, outputs, t)
        intervals = gap_intervals(space, outputs, q, Ball(minimax_risk(found.constant, delta)))
        assert np.all((gaps >= intervals.low - 1e-9) & (gaps <= intervals.high + 1e-9))


def test_nothing_to_observe():
    space = TaskSpace(np.ones(3))
    alike = ComparisonSubspace.of(space, np.ones((2, 3)))
    nothing = np.zeros((0, 3))
    found = Observability.of(alike, nothing)
    assert found.constant == 0  # candidates that agree need no observation
    assert found.factor is not None
    assert found.factor.shape == (3, 0)
    assert minimax_risk(found.constant, 1.0) == 0
    different = ComparisonSubspace.of(space, np.eye(3))
    for blind in (nothing, np.zeros((2, 3))):
        assert Observability.of(different, blind).constant == np.inf


def test_bad_arguments():
    space = TaskSpace(np.ones((2, 3)))
    subspace = ComparisonSubspace.of(space, np.eye(6).reshape(6, 2, 3))
    for bad in (np.ones((2, 5)), np.ones(6), np.full((2, 6), np.nan)):
        with pytest.raises(ValueError, match=r"shape \(observations, 6\)"):
            Observability.of(subspace, bad)
    for call in (lambda: minimax_risk(1.0, -1.0), lambda: Observability.of(subspace, np.eye(6)).two_points(np.inf)):
        with pytest.raises(ValueError, match="noise bound"):
            call()
    with pytest.raises(ValueError, match="observability constant"):
        minimax_risk(np.nan, 1.0)


def test_restricted_class_without_exposure_needs_no_observation():
    """S1: candidates 0 and 10, targets in (−1, 1). Nothing is observed, and sign and winner are determined."""
    space, outputs, nothing = TaskSpace(np.ones(1)), np.array([[0.0], [10.0]]), np.zeros((0, 1))
    targets = np.linspace(-1, 1, 101)[1:-1, None]
    gaps = np.array([geometry.gaps_of(space, outputs, t)[0, 1] for t in targets])
    assert np.all(gaps > 0)
    assert np.ptp(gaps) > 30  # the exact gap does vary
    assert ComparisonSubspace.of(space, outputs).rank == 1
    # The condition fails on the whole line, and would be needed there: it is sufficient, not necessary, on (−1, 1).
    assert not restricted_kernel_condition(space, outputs, nothing, np.ones((1, 1)))
    assert Observability.of(ComparisonSubspace.of(space, outputs), nothing).constant == np.inf
    intervals = gap_intervals(space, outputs, np.zeros(1), Ball(1.0))
    assert (intervals.low[0, 1], intervals.high[0, 1]) == (80, 120)
    assert (intervals.signs[0, 1], intervals.winner) == (1, 0)


def test_restricted_kernel_condition():
    """V = span(e_1, e_2) in a weighted ℝ³: only what differs along V has to be seen, orthogonally in the metric."""
    space, v = TaskSpace(np.array([1.0, 4.0, 0.5])), np.eye(3)[:2]
    outputs = np.array([[0.0, 0, 0], [0, 0, 5.0], [1.0, 1.0, -2.0]])  # P_V of the differences: span (1, 1, 0)
    # ⟨(4, −1), (1, 1)⟩_M = 4 − 4 = 0: a kernel of V along (4, −1) is harmless, and one along (1, −1) is not.
    assert restricted_kernel_condition(space, outputs, [[1.0, 4.0, 0.0]], v)
    assert not restricted_kernel_condition(space, outputs, [[1.0, 1.0, 0.0]], v)
    # On all of ℝ³ the same observation misses the third axis.
    assert not restricted_kernel_condition(space, outputs, [[1.0, 4.0, 0.0]], np.eye(3))
    assert restricted_kernel_condition(space, outputs, np.zeros((0, 3)), np.zeros((0, 3)))  # one target: V = {0}
    random = np.random.default_rng(0)
    z0 = random.standard_normal(3)
    first, other = (geometry.gaps_of(space, outputs, z0 + s * np.array([4.0, -1.0, 0.0])) for s in (0, 7))
    np.testing.assert_allclose(first, other, atol=1e-10)


def test_restricted_condition_is_not_fooled_by_round_off():
    """Subspaces in general position: what is zero in exact arithmetic is zero here, not a tiny observation."""
    random = np.random.default_rng(6)
    space, outputs, matrix = TaskSpace(random.uniform(0.2, 3.0, 6)), random.standard_normal((3, 6)), np.ones((2, 6))
    matrix[1] = random.standard_normal(6)
    kernel = scipy.linalg.null_space(matrix).T  # V ⊆ ker 𝒯: nothing is seen
    assert not restricted_kernel_condition(space, outputs, matrix, kernel)
    assert not restricted_kernel_condition(space, outputs, matrix, kernel.sum(axis=0))
    assert restricted_kernel_condition(space, outputs, np.vstack([matrix, np.eye(6)]), kernel)
    subspace = ComparisonSubspace.of(space, outputs)
    hidden = [subspace.decompose(x)[1] for x in random.standard_normal((3, 6))]  # V ⟂ 𝒟: nothing needs to be seen
    assert restricted_kernel_condition(space, outputs, np.zeros((1, 6)), np.array(hidden))
    assert not restricted_kernel_condition(
        space, outputs, np.zeros((1, 6)), np.array([*hidden, outputs[0] - outputs[1]])
    )
    euclidean = TaskSpace(np.ones(6))  # orthogonal in one metric is not orthogonal in the other
    assert not restricted_kernel_condition(euclidean, outputs, np.zeros((1, 6)), np.array(hidden))
