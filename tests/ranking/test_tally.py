"""The running sums behind `select`: what a table of all scores would say, in memory that does not grow."""

import numpy as np
import pytest

import physrank as pr
from physrank.ranking import tally
from physrank.ranking.tally import Tally


def scored(row, unit=1.0):
    return pr.Scores("test", ("a", "b", "c"), np.asarray(row, float), unit=unit)


def tallied(table):
    found = Tally(("a", "b", "c"), 1.0)
    for k, row in enumerate(table):
        found.add(k, scored(row))
    return found


def by_table(table, resamples, seed):
    """The bootstrap of a whole table."""
    counts = np.random.default_rng(seed).multinomial(len(table), np.full(len(table), 1 / len(table)), size=resamples)
    return np.bincount(np.argmin(counts @ table, axis=1), minlength=3) / resamples


def test_sums_are_those_of_the_table():
    table = np.random.default_rng(0).random((500, 3))
    found = tallied(table)
    np.testing.assert_array_equal(found.means, table.mean(axis=0))
    np.testing.assert_array_equal(found.frequency(700, 3), by_table(table, 700, 3))


def test_grouped_inputs_resample_like_single_ones(monkeypatch):
    """Frequencies of groups of neighbours estimate the same thing: within what two bootstraps differ by."""
    table = np.random.default_rng(1).random((3001, 3)) + np.array([0.004, 0.0, 0.002])
    whole = tallied(table).frequency(4000, 0)
    monkeypatch.setattr(tally, "GROUPS", 256)
    found = tallied(table)
    assert found.each == 16 and found.groups.shape == (256, 3)
    np.testing.assert_allclose(found.groups.sum(axis=0), table.sum(axis=0))
    assert whole.max() < 0.95 and np.abs(found.frequency(4000, 0) - whole).max() < 0.08


def test_scores_of_different_units_are_averaged_in_one():
    """1e200 and 1e-200 are measured in units of their own: b is worse where it matters."""
    tiny = pr.Scores("test", ("a", "b"), np.array([9.0, 1.0]), unit=2.0**-500)
    huge = pr.Scores("test", ("a", "b"), np.array([1.0, 2.0]), uncertainty=np.eye(2))
    choice = pr.select([huge, tiny])
    assert choice.best == "a"
    np.testing.assert_allclose(choice.mean_scores, [0.5, 1.0])
    alike = pr.Scores("test", ("a", "b"), np.array([4.0, 8.0]), unit=0.5, uncertainty=4 * np.eye(2))
    same = pr.select([huge, alike])
    np.testing.assert_array_equal(same.mean_scores, huge.values)
    np.testing.assert_array_equal(same.uncertainty, np.eye(2))
    with pytest.raises(ValueError, match="too different to be averaged"):
        pr.select([tiny, pr.Scores("test", ("a", "b"), np.array([1.0, 2.0]), unit=2.0**500)])


def test_fields_of_different_size_are_averaged_in_one_unit():
    """A linear problem scaled by 1e-150 has scores that are nothing beside those of the problem itself."""

    def residual(u, f):
        return u - f

    def input_of(size, good):
        candidates = {
            "a": np.full(3, size * (1 + 0.1 * (good != "a"))),
            "b": np.full(3, size * (1 + 0.1 * (good != "b"))),
        }
        return pr.rank(pr.Stationary(residual, data=np.full(3, size)), candidates, allow_unresolved=True)

    rankings = [input_of(1.0, "a"), input_of(1e-150, "b"), input_of(1e-150, "b")]
    assert rankings[1].scoring.unit != rankings[0].scoring.unit
    choice = pr.select(rankings)
    assert choice.best == "a"
    np.testing.assert_allclose(choice.mean_scores, [0.0, 0.01 / 3], atol=1e-15)


def test_an_unresolved_input_that_is_let_in_settles_nothing():
    """Whatever its failed solve believes of its own doubt: the others alone would settle it."""
    sure, none = np.zeros((3, 3)), {"allow_unresolved": True}
    good = [pr.Scores("test", ("a", "b", "c"), np.array([1.0, 2.0, 3.0]), uncertainty=sure) for _ in range(9)]
    failed = pr.Scores("test", ("a", "b", "c"), np.array([1.0, 2.0, 3.0]), "the solve failed", uncertainty=sure, **none)
    assert pr.select(good).survives_doubt is True
    selection = pr.select([*good, failed])
    assert selection.survives_doubt is False
    assert selection.settled is False
    assert pr.select([*good, failed], bound=4.0).settled is False
