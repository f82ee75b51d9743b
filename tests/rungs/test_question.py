"""Products with the candidates: the same for few and for many, for numbers of any size, and beside excluded ones."""

import numpy as np
import pytest

import physrank as pr
from physrank.rungs import Question, question


def asked(number, size=1.0, shape=(5, 6), excluded=(2,)):
    random = np.random.default_rng(0)
    states = size * (10 + random.standard_normal((number, *shape)))
    states[3] = states[1]
    valid = np.ones(number, bool)
    valid[list(excluded)] = False
    return Question.of(pr.tasks.field(), states, valid), size * random.standard_normal((3, *shape)), states


@pytest.mark.parametrize("number, size", [(8, 1.0), (8, 1e-200), (question.MANY + 9, 1.0), (question.MANY + 9, 1e200)])
def test_products_are_those_of_differences_from_the_centre(number, size, monkeypatch):
    monkeypatch.setattr(question, "BLOCK", 90)  # some candidates, or some of their numbers, at a time
    found, changes, states = asked(number, size)
    rows = (states / size - states[0] / size).reshape(number, -1) / np.sqrt(30)
    expected = (changes / size).reshape(3, -1) / np.sqrt(30) @ rows.T
    expected[:, 2] = np.nan
    scale = (size / found.unit) ** 2
    np.testing.assert_allclose(found.products(list(changes)), scale * expected, rtol=1e-9, atol=1e-12 * scale)
    squares = np.where(np.arange(number) == 2, np.nan, np.sum(rows**2, axis=1))
    np.testing.assert_allclose(found.squares, scale * squares, rtol=1e-9, atol=1e-12)


def test_one_candidate_against_the_others_is_a_row_of_all_pairs():
    for number in (8, question.MANY + 9):
        found, changes, _ = asked(number)
        values = found.products(list(changes))[0]
        np.testing.assert_array_equal(found.of_pairs(values, 4), found.of_pairs(values)[4])
        np.testing.assert_allclose(found.distances_of(4), found.distances[4])
    few = asked(8)[0]
    assert few.of_pairs(np.arange(8.0))[1, 3] == 0.0  # the same candidate twice


def test_candidates_that_are_the_same_have_one_score():
    """Though their products were summed in another order; an excluded one beside them has none."""
    found, changes, _ = asked(8)
    (products,), (size,) = found.weighed([changes[0]])
    products[3] *= 1 + 1e-12
    scores = found.scores(found.centre + changes[0], products, size)
    assert scores[3] == scores[1] and np.isnan(scores[2])
    assert len(np.unique(np.delete(scores, [2, 3]))) == 6
    several = asked(8, excluded=(2, 5, 6))[0]
    assert several.of_pairs(np.arange(8.0))[1, 3] == 0.0  # also beside several excluded ones


def test_many_candidates_are_read_for_their_squares_only_once(monkeypatch):
    found, changes, _ = asked(question.MANY + 9)
    found.products(list(changes))
    monkeypatch.setattr(Question, "weighed", None)
    assert np.isfinite(np.delete(found.squares, 2)).all()
