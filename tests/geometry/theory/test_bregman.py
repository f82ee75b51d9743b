"""Bregman losses: gaps are affine in one coordinate of the target, t for the first type and ∇Φ(t) for the second."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.special import kl_div

from physrank import geometry
from physrank.geometry import Ball, Box, FiniteSet, GapIntervals, TaskSpace
from physrank.geometry.theory import AffineLosses, Bregman, smooth_remainder

random = np.random.default_rng(3)
SPACE = TaskSpace(random.uniform(0.2, 3.0, (2, 2)))
OUTPUTS = random.uniform(0.5, 3.0, (4, 2, 2))
TARGETS = random.uniform(0.5, 3.0, (7, 2, 2))
# A potential that is not a sum over entries: Φ(x) = ‖x‖⁴/4, whose gradient in the metric is ‖x‖² x.
QUARTIC = Bregman(SPACE, lambda x: SPACE.norm_squared(x) ** 2 / 4, lambda x: SPACE.norm_squared(x)[..., None, None] * x)
POTENTIALS = {
    "squared norm": Bregman.squared_norm(SPACE),
    "Kullback–Leibler": Bregman.kullback_leibler(SPACE),
    "Itakura–Saito": Bregman.itakura_saito(SPACE),
    "quartic": QUARTIC,
}
# The inverse of ∇Φ, to make targets from dual variables.
PRIMAL = {
    "squared norm": lambda p: p / 2,
    "Kullback–Leibler": np.exp,
    "Itakura–Saito": lambda p: -1 / p,
    "quartic": lambda p: p / SPACE.norm_squared(p)[..., None, None] ** (1 / 3),
}


@pytest.mark.parametrize("name", POTENTIALS)
def test_gradient_is_that_of_the_potential_in_the_metric(name):
    """dΦ(x)[h] = ⟨∇Φ(x), h⟩_M, by a central difference."""
    bregman, h = POTENTIALS[name], 1e-5 * random.standard_normal((2, 2))
    slope = (bregman.potential(TARGETS + h) - bregman.potential(TARGETS - h)) / 2
    np.testing.assert_allclose(SPACE.inner(bregman.gradient(TARGETS), h), slope, rtol=1e-6, atol=1e-12)


def test_known_divergences():
    x, y = TARGETS[0], OUTPUTS[0]
    w = SPACE.weights
    expected = {
        "squared norm": np.sum(w * (x - y) ** 2),
        "Kullback–Leibler": np.sum(w * kl_div(x, y)),
        "Itakura–Saito": np.sum(w * (x / y - np.log(x / y) - 1)),
    }
    for name, value in expected.items():
        np.testing.assert_allclose(POTENTIALS[name].loss(x, y), value, rtol=1e-12)


def gaps_are_differences_of_losses(bregman):
    for t in TARGETS:
        first = np.array([bregman.loss(t, y) for y in OUTPUTS])
        second = np.array([bregman.loss(y, t) for y in OUTPUTS])
        np.testing.assert_allclose(bregman.first_type_gaps(t, OUTPUTS), first - first[:, None], atol=1e-10)
        np.testing.assert_allclose(bregman.second_type_gaps(t, OUTPUTS), second - second[:, None], atol=1e-10)


@pytest.mark.parametrize("name", POTENTIALS)
def test_gaps_are_differences_of_losses(name):
    gaps_are_differences_of_losses(POTENTIALS[name])
    many = POTENTIALS[name].second_type_gaps(TARGETS, OUTPUTS)
    assert many.shape == (7, 4, 4)
    np.testing.assert_allclose(many[2], POTENTIALS[name].second_type_gaps(TARGETS[2], OUTPUTS), atol=1e-12)


def test_gaps_sabotaged():
    class Primal(Bregman):
        def dual(self, x):
            return x  # compares in t instead of ∇Φ(t)

    with pytest.raises(AssertionError):
        gaps_are_differences_of_losses(Primal(SPACE, QUARTIC.potential, QUARTIC.gradient))

    class NoOffsets(Bregman):
        def first_type(self, outputs):
            return AffineLosses(self.space, self.gradient(outputs), np.zeros(len(outputs)))

    with pytest.raises(AssertionError):
        gaps_are_differences_of_losses(NoOffsets(SPACE, QUARTIC.potential, QUARTIC.gradient))


def test_squared_norm_is_the_hilbert_loss():
    """Both types give the gaps, and the intervals, of the squared distance; the factor 2 sits in ∇Φ(y) = 2y."""
    squared, t = Bregman.squared_norm(SPACE), TARGETS[0]
    expected = geometry.gaps_of(SPACE, OUTPUTS, t)
    np.testing.assert_allclose(squared.first_type_gaps(t, OUTPUTS), expected, atol=1e-12)
    np.testing.assert_allclose(squared.second_type_gaps(t, OUTPUTS), expected, atol=1e-12)
    widths = Box(random.uniform(0, 1, (2, 2)))
    hilbert = geometry.gap_intervals(SPACE, OUTPUTS, t, widths)
    np.testing.assert_allclose(squared.first_type_intervals(OUTPUTS, t, widths).low, hilbert.low, atol=1e-12)
    twice = Box(2 * widths.half_widths)  # the dual variable is 2t
    np.testing.assert_allclose(squared.second_type_intervals(OUTPUTS, t, twice).high, hilbert.high, atol=1e-12)


@pytest.mark.parametrize("name", POTENTIALS)
def test_comparison_coordinates_decide(name):
    """What is orthogonal to the span changes no gap; for the second type, orthogonal in the dual variable."""
    bregman, outputs, t = POTENTIALS[name], OUTPUTS[:3], TARGETS[0]
    first, second = bregman.first_type(outputs).subspace, bregman.second_type(outputs).subspace
    assert first.rank == second.rank == 2
    _, unseen = first.decompose(0.2 * random.standard_normal((2, 2)))
    moved = bregman.first_type_gaps(t + unseen, outputs)
    np.testing.assert_allclose(moved, bregman.first_type_gaps(t, outputs), atol=1e-10)
    assert SPACE.norm(unseen) > 1e-3
    _, unseen = second.decompose(0.02 * random.standard_normal((2, 2)))
    other = PRIMAL[name](bregman.dual(t) + unseen)
    np.testing.assert_allclose(second.coordinates(bregman.dual(other)), second.coordinates(bregman.dual(t)), atol=1e-10)
    losses = np.array([[bregman.loss(y, z) for y in outputs] for z in (t, other)])
    np.testing.assert_allclose(losses[0] - losses[0, 0], losses[1] - losses[1, 0], atol=1e-10)


def robust(name, type_, intervals_of):
    """Hulls over random members of q + 𝒰 (first) or ∇Φ(q) + 𝒰 (second), from losses: enclosed, and reached."""
    bregman, q = POTENTIALS[name], TARGETS[0]
    shifts = 0.05 * np.random.default_rng(0).standard_normal((6, 2, 2)) + 0.02
    if type_ == "first":
        losses = np.array([[bregman.loss(q + z, y) for y in OUTPUTS] for z in shifts])
    else:
        losses = np.array([[bregman.loss(y, PRIMAL[name](bregman.dual(q) + z)) for y in OUTPUTS] for z in shifts])
    gaps = losses[:, None, :] - losses[:, :, None]
    intervals = intervals_of(bregman, type_)(OUTPUTS, q, FiniteSet(shifts))
    np.testing.assert_allclose(intervals.low, gaps.min(axis=0), atol=1e-9)
    np.testing.assert_allclose(intervals.high, gaps.max(axis=0), atol=1e-9)


def honest(bregman, type_):
    return getattr(bregman, f"{type_}_type_intervals")


def types_swapped(bregman, type_):
    return getattr(bregman, f"{'second' if type_ == 'first' else 'first'}_type_intervals")


def factor_two(bregman, type_):
    def intervals(outputs, q, uncertainty):
        return honest(bregman, type_)(outputs, q, FiniteSet(2 * uncertainty.points))

    return intervals


@pytest.mark.parametrize("type_", ["first", "second"])
@pytest.mark.parametrize("name", POTENTIALS)
def test_intervals_are_exact(name, type_):
    robust(name, type_, honest)
    for sabotage in (types_swapped, factor_two):
        with pytest.raises(AssertionError):
            robust(name, type_, sabotage)


def test_ball_is_reached_in_the_gradient_direction():
    bregman, q, radius = POTENTIALS["Kullback–Leibler"], TARGETS[0], 0.1
    intervals = bregman.first_type_intervals(OUTPUTS, q, Ball(radius))
    direction = np.log(OUTPUTS[0]) - np.log(OUTPUTS[1])
    t = q + radius * direction / SPACE.norm(direction)
    gap = bregman.loss(t, OUTPUTS[1]) - bregman.loss(t, OUTPUTS[0])
    np.testing.assert_allclose(intervals.high[0, 1], gap, rtol=1e-12)


positive = hnp.arrays(np.float64, (3, 2, 2), elements=st.floats(0.1, 10))


@settings(deadline=None)
@given(positive, hnp.arrays(np.float64, (2, 2), elements=st.floats(0.1, 10)))
def test_divergences_are_nonnegative_and_vanish_on_the_diagonal(outputs, t):
    for bregman in POTENTIALS.values():
        assert np.all(bregman.loss(t, outputs) >= -1e-8)
        np.testing.assert_allclose(bregman.loss(t, t), 0, atol=1e-12)


def test_positive_domain_is_kept():
    bregman, bad = POTENTIALS["Kullback–Leibler"], np.array([[1.0, 0.0], [1.0, 1.0]])
    for call in (
        lambda: bregman.loss(bad, OUTPUTS[0]),
        lambda: bregman.loss(OUTPUTS[0], bad),
        lambda: bregman.first_type(bad[None]),
        lambda: bregman.second_type(bad[None]),
        lambda: bregman.second_type_gaps(bad, OUTPUTS),
    ):
        with pytest.raises(ValueError, match=r"positive values only; got values down to 0"):
            call()
    # First-type gaps are affine in the target, so a proxy just outside still compares.
    assert np.all(np.isfinite(bregman.first_type_gaps(bad - 0.01, OUTPUTS)))


def test_smooth_remainder_bounds_the_tangent():
    """ℓ(t, y) = Σ w log cosh(t − y) is not Bregman; its second derivative lies in [0, 1], so L_ij = 1 in the metric."""
    t0, radius = TARGETS[0], 0.3

    def losses(t):
        return np.sum(SPACE.weights * np.log(np.cosh(t - OUTPUTS)), axis=(1, 2))

    tangent = AffineLosses(SPACE, -np.tanh(t0 - OUTPUTS), losses(t0))
    remainder = smooth_remainder(1.0, radius)
    intervals = tangent.intervals(np.zeros((2, 2)), Ball(radius)).widened(remainder)
    curvature = []
    for _ in range(300):
        h = random.standard_normal((2, 2))
        h *= radius / SPACE.norm(h)
        gaps = geometry.gap_matrix(losses(t0 + h))
        assert np.all((gaps >= intervals.low) & (gaps <= intervals.high))
        curvature.append(np.abs(gaps - tangent.gaps(h)).max())
    assert 0.1 * remainder < max(curvature) <= remainder  # it is needed, and enough
    assert smooth_remainder(4.0, 3.0) == 18.0
    with pytest.raises(ValueError, match="≥ 0"):
        smooth_remainder(-1.0, 1.0)


def test_smooth_remainder_is_attained_by_a_quadratic():
    """g(t) = t²/2 has L = 1 and remainder exactly h²/2."""
    t0, h = 0.7, 0.3
    remainder = (t0 + h) ** 2 / 2 - t0**2 / 2 - h * t0
    np.testing.assert_allclose(smooth_remainder(1.0, h), remainder, rtol=1e-12)
    wide = GapIntervals.around(np.zeros((2, 2)), smooth_remainder(np.ones((2, 2)), h))
    np.testing.assert_allclose(wide.high[0, 1], remainder, rtol=1e-12)
