"""A rung has the same parts whatever it is: a state, a proxy, how far every gap may move, a price, and why it failed."""

from dataclasses import replace

import numpy as np
import pytest

import physrank as pr
from libraries import SMALL, library
from physrank import rungs
from physrank.rungs.rung import SAFETY

NAME = "reaction-diffusion 2-D"
RUNGS = {
    "response": {"effort": "response"},
    "two corrections": {"corrections": 2},
    "solve": {"effort": "solve"},
    "ladder": {},
}


@pytest.fixture(params=RUNGS)
def rung(request):
    return pr.rank(SMALL[NAME].problem, library(NAME), **RUNGS[request.param]).rung


def test_every_way_yields_a_rung_with_all_its_parts(rung):
    number = len(library(NAME))
    assert isinstance(rung, rungs.Rung) and rung.name and rung.failed is None
    assert rung.state.shape == SMALL[NAME].state(0).shape
    np.testing.assert_array_equal(rung.proxy, rung.question.task.outputs(rung.state[None])[0])
    assert rung.uncertainty.shape == (number, number) and np.all(np.diagonal(rung.uncertainty) == 0)
    assert rung.solves >= 1 and rung.seconds > 0


def test_doubt_is_the_sum_of_its_parts_and_alike_for_one_row(rung):
    np.testing.assert_allclose(rung.uncertainty, sum(rung.parts.values()), rtol=1e-13)
    gaps, doubt = rung.against_others(1)
    np.testing.assert_allclose(gaps, rung.gaps[1], rtol=1e-9, atol=1e-15)
    np.testing.assert_allclose(doubt, rung.uncertainty[1], rtol=1e-9, atol=1e-18)
    for cause, change in rung.seen.changes.items():  # 2 ⟨c, y_i − y_j⟩, twice
        product = rung.question.space.inner(change, rung.question.outputs)
        np.testing.assert_allclose(
            rung.parts[cause], 2 * SAFETY * np.abs(product[:, None] - product), rtol=1e-6, atol=1e-16
        )


def test_prices_and_doubts_change_nothing_of_the_answer(rung):
    dearer = rung.priced(7, 1.5, ())
    assert (dearer.solves, dearer.seconds) == (7, 1.5)
    wider = rung.doubted(extra={"data": np.ones_like(rung.gaps)})
    for other in (dearer, wider):
        np.testing.assert_array_equal(other.scores, rung.scores)
    np.testing.assert_allclose(wider.uncertainty, rung.uncertainty - sum(rung.extra.values()) + 1, rtol=1e-12)


def test_a_rung_that_failed_is_a_ranking_that_refuses():
    ranking = pr.rank(SMALL[NAME].problem, library(NAME), effort="response")
    failed = ranking._from(replace(ranking.rung, failed="the solver gave up"))
    assert failed.unresolved == "the solver gave up" and not failed.settled
    with pytest.raises(pr.UnresolvedError, match="gave up"):
        _ = failed.best
