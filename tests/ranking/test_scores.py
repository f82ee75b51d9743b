"""Scores: lower is better, ties go to the earlier candidate, and what is not finite is excluded by name."""

import numpy as np
import pytest

import physrank as pr

NAMES = ("a", "b", "c")


def test_decisions_follow_from_the_values():
    scores = pr.Scores("test", NAMES, np.array([2.0, 1.0, 2.0]))
    assert scores.best == "b" and scores.order == ["b", "a", "c"]
    np.testing.assert_array_equal(scores.gaps, [[0, -1, 0], [1, 0, 1], [0, -1, 0]])
    np.testing.assert_array_equal(scores.labels(), np.sign(scores.gaps))
    assert scores.winners(1.0) == list(NAMES) and scores.winners(0.5) == ["b"]
    again = scores.in_order(("c", "b", "a"))
    assert again.best == "b" and again.order == ["b", "c", "a"]


def test_what_is_not_finite_is_excluded_by_name_and_has_no_label():
    scores = pr.Scores("test", NAMES, np.array([2.0, np.nan, 1.0]))
    assert scores.excluded == {"b": "its score is not finite"} and scores.order == ["c", "a"]
    assert scores.labels().mask[1].all() and not scores.labels().mask[0, 2]
    with pytest.raises(pr.UnresolvedError, match="no finite score"):
        pr.Scores("test", NAMES, np.full(3, np.nan)).choose(allow_unresolved=True)


def test_unresolved_scores_answer_only_when_told_to():
    scores = pr.Scores("test", NAMES, np.array([2.0, 1.0, 3.0]), unresolved="it did not converge")
    for ask in (lambda: scores.best, lambda: scores.order, scores.labels):
        with pytest.raises(pr.UnresolvedError, match="because it did not converge"):
            ask()
    assert scores.choose(allow_unresolved=True) == "b"


def test_tolerances_are_those_of_the_numbers_whatever_unit_decides():
    for unit in (1.0, 2.0**-500, 2.0**300):
        scores = pr.Scores("test", NAMES, np.array([1.0, 2.0, 9.0]), unit=unit)
        assert scores.winners(1.5 * unit * unit) == ["a", "b"]
        np.testing.assert_array_equal(scores.labels(1.5 * unit * unit)[0], [0, 0, 1])
    tiny = pr.Scores("test", ("a", "b"), np.array([1.0, 2.0]), unit=2.0**-500)
    assert tiny.winners(1e-6) == ["a", "b"] and not tiny.labels(1e-6).any()
