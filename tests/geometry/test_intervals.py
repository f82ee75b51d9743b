"""Gap intervals: decisions follow from them for every gap inside, wider ones settle less, contradictions are named."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from physrank import geometry
from physrank.geometry import GapIntervals, InconsistentBounds, intersect

sizes = st.integers(1, 5)
losses = sizes.flatmap(lambda n: hnp.arrays(np.float64, n, elements=st.integers(-8, 8)))
slacks = st.one_of(st.integers(0, 6), st.just(np.inf))


@st.composite
def enclosures(draw):
    """True losses, and intervals around their gaps with a different slack at every end; integers, so exact."""
    scores = draw(losses)
    below = draw(hnp.arrays(np.float64, (len(scores),) * 2, elements=slacks))
    gaps = geometry.gap_matrix(scores)
    low = np.where(np.eye(len(scores)) == 1, 0.0, gaps - below)
    return scores, GapIntervals(low, -low.T)


def decisions_hold(scores, intervals):
    """What the intervals settle is true of the losses inside them."""
    labels = geometry.pair_labels(scores)
    settled = intervals.signs != 0
    np.testing.assert_array_equal(intervals.signs[settled], labels[settled])
    if intervals.winner is not None:
        assert geometry.weak_order(scores)[0] == [intervals.winner]  # alone at the top
    regrets = scores - np.min(scores)
    assert np.all(regrets <= intervals.worst_regret)
    for tolerance in (0.0, 1.0, 4.0):
        assert all(regrets[k] <= tolerance for k in intervals.within(tolerance))


@settings(deadline=None)
@given(enclosures())
def test_settled_decisions_are_true(drawn):
    decisions_hold(*drawn)


def test_settled_decisions_sabotaged():
    scores = np.array([0.0, 2.0, 5.0])
    low = geometry.gap_matrix(scores) - 1.0
    np.fill_diagonal(low, 0.0)
    decisions_hold(scores, GapIntervals(low, -low.T))
    with pytest.raises(AssertionError):
        decisions_hold(scores, GapIntervals(low.T, -low))  # the sign convention swapped


def test_every_decision_by_hand():
    """R = (0, 2, 5) up to ±3 in each gap: only the pair (0, 2) is settled."""
    intervals = GapIntervals.around(geometry.gap_matrix([0.0, 2.0, 5.0]), 3.0)
    np.testing.assert_array_equal(intervals.signs, [[0, 0, 1], [0, 0, 0], [-1, 0, 0]])
    assert intervals.signs.dtype == np.int8
    assert intervals.winner is None
    np.testing.assert_array_equal(intervals.worst_regret, [1.0, 5.0, 8.0])
    assert (intervals.within(0.5), intervals.within(1.0), intervals.within(5.0)) == ([], [0], [0, 1])
    certain = GapIntervals.around(geometry.gap_matrix([0.0, 2.0, 5.0]), 1.0)
    assert certain.winner == 0
    np.testing.assert_array_equal(certain.worst_regret, [0.0, 3.0, 6.0])
    assert GapIntervals.around(geometry.gap_matrix([0.0, 2.0]), 2.0).winner is None  # touching 0 is not strict
    with pytest.raises(ValueError, match="tolerance"):
        certain.within(np.nan)


def certifies_no_more(wide, narrow):
    assert np.all((wide.signs == 0) | (wide.signs == narrow.signs))
    assert wide.winner in (None, narrow.winner)
    assert np.all(wide.worst_regret >= narrow.worst_regret)
    assert all(set(wide.within(tolerance)) <= set(narrow.within(tolerance)) for tolerance in (0.0, 1.0, 4.0))


@settings(deadline=None)
@given(enclosures(), st.floats(0, 10), st.floats(0, 10))
def test_wider_never_certifies_more(drawn, radius, other):
    _, narrow = drawn
    certifies_no_more(narrow.widened(radius), narrow)
    plus = np.where(np.tri(len(narrow.low)) == 1, radius, other)
    certifies_no_more(narrow.transferred(plus, plus.T), narrow)


def test_wider_sabotaged():
    narrow = GapIntervals.around(geometry.gap_matrix([0.0, 2.0, 5.0]), 2.5)
    with pytest.raises(AssertionError):
        certifies_no_more(GapIntervals.around(geometry.gap_matrix([0.0, 2.0, 5.0]), 1.0), narrow)
    with pytest.raises(ValueError, match=r"radius must be ≥ 0; got -1"):
        narrow.widened(-1.0)


def test_transfer_adds_twice_the_support_to_its_own_end():
    intervals = GapIntervals.around([[0.0, 10.0], [-10.0, 0.0]], 1.0)
    plus = np.array([[0.0, 1.0], [3.0, 0.0]])  # σ(d_01) = 1, σ(d_10) = 3
    moved = intervals.transferred(plus, plus.T)
    assert (moved.low[0, 1], moved.high[0, 1]) == (10 - 1 - 2 * 3, 10 + 1 + 2 * 1)
    assert (moved.low[1, 0], moved.high[1, 0]) == (-13, -3)
    with pytest.raises(ValueError, match="antisymmetric"):
        intervals.transferred(plus, plus)
    bias = np.array([[0.0, 2.0], [-2.0, 0.0]])  # one known vector: both ends move by the same amount
    shifted = intervals.transferred(bias, bias.T)
    assert (shifted.low[0, 1], shifted.high[0, 1]) == (13, 15)


@pytest.mark.parametrize("unknown", [np.nan, np.inf])
def test_nothing_known_settles_nothing(unknown):
    gaps = geometry.gap_matrix([0.0, 5.0, 9.0])
    blind = GapIntervals.around(gaps, unknown)
    assert not np.any(blind.signs)
    assert blind.winner is None
    np.testing.assert_array_equal(blind.worst_regret, np.inf)
    assert blind.within(1e300) == []
    np.testing.assert_array_equal(np.diagonal(blind.low), 0)  # a candidate still ties with itself
    gaps[0, 2], gaps[2, 0] = unknown, -unknown  # a candidate without a usable score
    np.testing.assert_array_equal(GapIntervals.around(gaps, 1.0).signs, [[0, 1, 0], [-1, 0, 1], [0, -1, 0]])


def test_one_missing_end_opens_its_mirror_image():
    radius = np.ones((3, 3))
    radius[0, 2] = np.nan
    partly = GapIntervals.around(geometry.gap_matrix([0.0, 5.0, 9.0]), radius)
    np.testing.assert_array_equal(partly.signs, [[0, 1, 0], [-1, 0, 1], [0, -1, 0]])


def test_impossible_bounds_are_refused():
    zero = np.zeros((2, 2))
    for low, high, complaint in [
        (np.zeros(2), np.zeros(2), "N × N"),
        (np.zeros((2, 3)), np.zeros((2, 3)), "N × N"),
        (zero, np.array([[0.0, 1.0], [1.0, 0.0]]), r"antisymmetric.*low\[0, 1\] = 0 and high\[1, 0\] = 1"),
        (np.array([[0.0, 1.0], [0.0, 0.0]]), np.array([[0.0, 0.0], [-1.0, 0.0]]), r"low ≤ high.*\[1, 0\]"),
        (np.eye(2), -np.eye(2), "0 by definition"),
        (np.array([[0, np.inf], [-np.inf, 0]]), np.array([[0, np.inf], [-np.inf, 0]]), "finite gap"),
    ]:
        with pytest.raises(ValueError, match=complaint):
            GapIntervals(low, high)


def test_round_off_between_mirror_images_widens():
    low = np.array([[0.0, 1.0], [-2.0, 0.0]])
    high = np.array([[0.0, 2.0], [-1.0 + 1e-13, 0.0]])
    intervals = GapIntervals(low, high)
    assert intervals.low[0, 1] == 1.0 - 1e-13
    np.testing.assert_array_equal(intervals.low, -intervals.high.T)


@settings(deadline=None)
@given(enclosures(), st.randoms(use_true_random=False))
def test_intersection_encloses_and_tightens(drawn, random):
    scores, _ = drawn
    gaps, bounds = geometry.gap_matrix(scores), {}
    for name in "abc":
        low = gaps - np.array([[random.randint(0, 6) * (i != j) for j in range(len(gaps))] for i in range(len(gaps))])
        bounds[name] = GapIntervals(low, -low.T)
    both = intersect(bounds)
    assert np.all((both.low <= gaps) & (gaps <= both.high))
    decisions_hold(scores, both)
    for bound in bounds.values():
        certifies_no_more(bound, both)
        assert np.all((both.low == bound.low) | (both.low > bound.low))


def test_two_anchors_settle_together_what_neither_settles_alone():
    """Each anchor beats one rival; the intersection has a winner."""
    low_a = np.array([[0.0, 1.0, -1.0], [-5.0, 0.0, -5.0], [-5.0, -5.0, 0.0]])
    low_b = np.array([[0.0, -1.0, 1.0], [-5.0, 0.0, -5.0], [-5.0, -5.0, 0.0]])
    a, b = GapIntervals(low_a, -low_a.T), GapIntervals(low_b, -low_b.T)
    assert (a.winner, b.winner, intersect({"a": a, "b": b}).winner) == (None, None, 0)


def test_contradictory_bounds_are_named():
    gaps = geometry.gap_matrix([0.0, 0.0, 4.0])
    bounds = {
        "mean": GapIntervals.around(gaps, 1.0),
        "medoid": GapIntervals.around(gaps, 9.0),
        "first": GapIntervals.around(geometry.gap_matrix([0.0, 0.0, 1.0]), 1.5),
    }
    with pytest.raises(InconsistentBounds, match=r"pair \(0, 2\).*'mean' says \[3, 5\], 'first' says \[-0.5, 2.5\]"):
        intersect(bounds)
    assert intersect({k: bounds[k] for k in ("medoid", "first")}).high[0, 2] == 2.5
    touching = intersect({"a": GapIntervals.around(gaps, 1.0), "b": GapIntervals.around(gaps - 2 * np.sign(gaps), 1.0)})
    assert touching.low[0, 2] == touching.high[0, 2] == 3
    with pytest.raises(ValueError, match="no bounds"):
        intersect({})
    with pytest.raises(ValueError, match="same candidates"):
        intersect({"a": bounds["mean"], "b": GapIntervals.around(np.zeros((2, 2)), 1.0)})
