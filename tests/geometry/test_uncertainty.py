"""Support functions against brute force: no target of the set leaves the hull, and some target reaches each end."""

from itertools import permutations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from physrank import geometry
from physrank.geometry import (
    Ball,
    Box,
    Ellipsoid,
    FiniteSet,
    GapIntervals,
    Sum,
    TaskSpace,
    gap_intervals,
    pair_supports,
)

random = np.random.default_rng(7)
SHAPE = (2, 3)
SPACE = TaskSpace(random.uniform(0.2, 3.0, SHAPE))
OUTPUTS = random.standard_normal((4, *SHAPE))
PROXY = random.standard_normal(SHAPE)
AXES = random.standard_normal((2, *SHAPE))
POINTS = random.standard_normal((5, *SHAPE)) + 0.5
WIDTHS = random.uniform(0.0, 1.0, SHAPE)

PAIRS = np.array([yi - yj for yi, yj in permutations(OUTPUTS, 2)])
UNIT = PAIRS / np.sqrt(np.sum(SPACE.weights * PAIRS**2, axis=(1, 2), keepdims=True))
CORNERS = np.array([np.reshape(signs, SHAPE) for signs in product([-1, 1], repeat=6)]) * WIDTHS
ANGLES = np.linspace(0, 2 * np.pi, 20001)
CIRCLE = np.tensordot(np.stack([np.cos(ANGLES), np.sin(ANGLES)], axis=1), AXES, axes=1)
INSIDE = random.standard_normal((500, *SHAPE))
INSIDE /= np.sqrt(np.sum(SPACE.weights * INSIDE**2, axis=(1, 2), keepdims=True))

# Each set with members that include, for every pair, an extreme one (to 1e-8 on the circle of angles).
SETS = {
    "ball": (Ball(0.7), 0.7 * np.concatenate([UNIT, INSIDE])),
    "ellipsoid": (Ellipsoid(AXES), CIRCLE),
    "box": (Box(WIDTHS), CORNERS),
    "finite": (FiniteSet(POINTS), POINTS),
    "sum": (Sum((Box(WIDTHS), FiniteSet(POINTS))), (CORNERS[:, None] + POINTS).reshape(-1, *SHAPE)),
}


def losses(targets):
    """R_i(t) for many targets, written without the package."""
    return np.sum(SPACE.weights * (targets[:, None] - OUTPUTS) ** 2, axis=(2, 3))


def sharp(name, intervals_of=gap_intervals):
    uncertainty, members = SETS[name]
    found = losses(PROXY + members)
    gaps = found[:, None, :] - found[:, :, None]
    intervals = intervals_of(SPACE, OUTPUTS, PROXY, uncertainty)
    np.testing.assert_allclose(intervals.high, gaps.max(axis=0), rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(intervals.low, gaps.min(axis=0), rtol=1e-6, atol=1e-6)
    assert np.all(gaps <= intervals.high + 1e-10)
    assert np.all(gaps >= intervals.low - 1e-10)
    worst = np.max(found - found.min(axis=1, keepdims=True), axis=0)
    np.testing.assert_allclose(intervals.worst_regret, worst, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("name", SETS)
def test_hull_is_exact(name):
    sharp(name)


def half(space, outputs, q, uncertainty):
    gaps, supports = geometry.gaps_of(space, outputs, q), pair_supports(space, outputs, uncertainty)
    return GapIntervals(gaps - supports.T, gaps + supports)


def ends_swapped(space, outputs, q, uncertainty):
    supports = pair_supports(space, outputs, uncertainty)
    return GapIntervals.around(geometry.gaps_of(space, outputs, q), 0.0).transferred(supports.T, supports)


def metric_ignored(space, outputs, q, uncertainty):
    supports = pair_supports(TaskSpace(np.ones(SHAPE)), outputs, uncertainty)
    return GapIntervals.around(geometry.gaps_of(space, outputs, q), 0.0).transferred(supports, supports.T)


SABOTAGES = [*product(SETS, (half, metric_ignored)), ("finite", ends_swapped), ("sum", ends_swapped)]


@pytest.mark.parametrize("name, sabotage", SABOTAGES)
def test_hull_sabotaged(name, sabotage):
    with pytest.raises((AssertionError, ValueError)):
        sharp(name, sabotage)


@pytest.mark.parametrize("name", SETS)
def test_settled_exactly_when_no_member_objects(name):
    """Shrunk by each factor, the set certifies a pair if and only if all its members agree on it."""
    _, members = SETS[name]
    for factor in (0.03, 0.1, 0.3, 1.0):
        shrunk = {
            "ball": Ball(0.7 * factor),
            "ellipsoid": Ellipsoid(factor * AXES),
            "box": Box(factor * WIDTHS),
            "finite": FiniteSet(factor * POINTS),
            "sum": Sum((Box(factor * WIDTHS), FiniteSet(factor * POINTS))),
        }[name]
        found = losses(PROXY + factor * members)
        intervals = gap_intervals(SPACE, OUTPUTS, PROXY, shrunk)
        always = np.all(found[:, None, :] > found[:, :, None], axis=0)
        np.testing.assert_array_equal(intervals.signs == 1, always)
        always_best = [k for k in range(4) if np.all(np.argmin(found, axis=1) == k)]
        assert ([] if intervals.winner is None else [intervals.winner]) == always_best


def test_ball_agrees_with_the_margin_radius():
    intervals = gap_intervals(SPACE, OUTPUTS, PROXY, Ball(0.3))
    radius = geometry.margin_radius(SPACE, OUTPUTS, 0.3)
    np.testing.assert_allclose(intervals.high - intervals.low, 2 * radius, rtol=1e-12, atol=1e-12)


def test_finite_set_does_not_fill_its_hull():
    """Two branches, t = ±1: only the gaps ±4 are possible, though the interval is [−4, 4]; no sign is certain."""
    space, outputs = TaskSpace(np.ones(1)), np.array([[-1.0], [1.0]])
    intervals = gap_intervals(space, outputs, np.zeros(1), FiniteSet([[-1.0], [1.0]]))
    assert (intervals.low[0, 1], intervals.high[0, 1]) == (-4, 4)
    assert not np.any(intervals.signs)


def test_invisible_part_of_a_set_costs_nothing():
    subspace = geometry.ComparisonSubspace.of(SPACE, OUTPUTS)
    hidden = [subspace.decompose(100 * point)[1] for point in POINTS]
    seen = gap_intervals(SPACE, OUTPUTS, PROXY, FiniteSet(POINTS))
    more = gap_intervals(SPACE, OUTPUTS, PROXY, FiniteSet(POINTS + hidden))
    np.testing.assert_allclose(more.low, seen.low, rtol=0, atol=1e-10)
    assert max(SPACE.norm(np.array(hidden))) > 1


def test_discrepancy_transfer_is_the_minkowski_sum():
    """Bounds for the solver's target, transferred by the data's discrepancy, are the bounds of the summed sets."""
    physics, discrepancy = Ball(0.2), FiniteSet(POINTS)
    supports = pair_supports(SPACE, OUTPUTS, discrepancy)
    transferred = gap_intervals(SPACE, OUTPUTS, PROXY, physics).transferred(supports, supports.T)
    together = gap_intervals(SPACE, OUTPUTS, PROXY, Sum((physics, discrepancy)))
    np.testing.assert_allclose(transferred.low, together.low, rtol=1e-12, atol=1e-12)
    np.testing.assert_array_equal(supports.T, [[discrepancy.support(SPACE, b - a) for b in OUTPUTS] for a in OUTPUTS])


values = st.floats(-10, 10, allow_nan=False, allow_subnormal=False)


@settings(deadline=None)
@given(
    st.integers(1, 5).flatmap(lambda n: hnp.arrays(np.float64, (n, 4), elements=values)),
    hnp.arrays(np.float64, (6, 4), elements=values),
    hnp.arrays(np.float64, 4, elements=st.floats(0.1, 5)),
)
def test_no_member_leaves_the_hull(outputs, points, weights):
    """Random libraries, repeated candidates included; z ∈ 𝒰 built from the definition of each set."""
    space, q, z, corner, axes = TaskSpace(weights), points[0], points[1], points[2], points[3:]
    c = np.array([0.6, -0.48, 0.64])  # ‖c‖ = 1
    members = [
        (Ball(float(space.norm(z)) * (1 + 1e-12)), z),
        (Ellipsoid(axes), c @ axes),
        (Box(np.abs(corner)), -corner),
        (FiniteSet(points), z),
        (Sum((FiniteSet(points), Ellipsoid(axes), Box(np.abs(corner)))), z - c @ axes + 0.5 * corner),
    ]
    for uncertainty, member in members:
        intervals = gap_intervals(space, outputs, q, uncertainty)
        gaps = geometry.gap_matrix(geometry.scores_of(space, outputs, q + member))
        assert np.all((gaps >= intervals.low - 1e-9) & (gaps <= intervals.high + 1e-9))


def test_gaps_do_not_cancel():
    """Candidates that differ by 1e-9 on top of 1e6: the gap keeps 6 digits where differences of scores lose all."""
    space, q = TaskSpace(np.full(3, 0.5)), np.zeros(3)
    outputs = 2.0**20 + np.array([[0.0, 0, 0], [2.0**-30, 0, 0]])
    exact = 0.5 * (2 * 2.0**20 * 2.0**-30 + 2.0**-60)
    np.testing.assert_allclose(geometry.gaps_of(space, outputs, q)[0, 1], exact, rtol=1e-12)
    gaps = geometry.gaps_of(SPACE, OUTPUTS, PROXY)
    np.testing.assert_allclose(gaps, geometry.gap_matrix(losses(PROXY[None])[0]), rtol=1e-12, atol=1e-12)
    np.testing.assert_array_equal(gaps, -gaps.T)


@pytest.mark.parametrize("rho, k", [(0.5, 1), (0.5, 3), (0.25, 2), (0.125, 4)])
def test_error_of_the_margins_order_reverses_and_is_not_certified(rho, k):
    """S1: candidates ∓1, t = −ρᵏ/4, q = ρᵏ/4. The error ρᵏ/2 turns the gap ρᵏ into −ρᵏ; powers of two, so exact."""
    space, outputs, size = TaskSpace(np.ones(1)), np.array([[-1.0], [1.0]]), rho**k
    t, q = np.array([-size / 4]), np.array([size / 4])
    assert geometry.gaps_of(space, outputs, t)[0, 1] == size
    assert geometry.gaps_of(space, outputs, q)[0, 1] == -size
    assert space.norm(t - q) == size / 2
    honest = gap_intervals(space, outputs, q, Ball(size / 2))
    assert honest.high[0, 1] == size  # the truth is the very end of the interval: the hull is sharp
    assert honest.signs[0, 1] == 0
    # The proxy's own sign is safe up to, and not including, the radius at which the bisector is reached.
    assert gap_intervals(space, outputs, q, Ball(size / 4)).signs[0, 1] == 0
    assert gap_intervals(space, outputs, q, Ball(np.nextafter(size / 4, 0))).signs[0, 1] == -1


def test_what_is_not_finite_leaves_pairs_open():
    for bad in (np.nan, np.inf):
        outputs = OUTPUTS.copy()
        outputs[3, 0, 0] = bad
        intervals = gap_intervals(SPACE, outputs, PROXY, Ball(0.0))
        assert np.all(intervals.signs[:3, :3] != 0, where=~np.eye(3, dtype=bool))
        assert not np.any(intervals.signs[3])
        assert not np.any(gap_intervals(SPACE, OUTPUTS, np.full(SHAPE, bad), Ball(0.0)).signs)


def test_sets_that_bound_nothing_are_refused():
    for make, complaint in [
        (lambda: Ball(np.inf), "radius of a ball must be finite"),
        (lambda: Ball(-1.0), "radius of a ball"),
        (lambda: Box([1.0, np.nan]), "half-widths"),
        (lambda: Ellipsoid(np.full((1, 2), np.inf)), "axes of an ellipsoid"),
        (lambda: FiniteSet(np.zeros((0, 2))), "points of a finite set"),
        (lambda: Sum(()), "at least one part"),
        (lambda: Box(np.ones(4)).support(SPACE, PROXY), "broadcast"),
    ]:
        with pytest.raises(ValueError, match=complaint):
            make()
