"""Blocks of a panel: inputs that fail are told by their number, the others are what they would be."""

from functools import partial

import numpy as np
import pytest

import physrank as pr
from crowds import HOW, Stating, candidates, problem, same


def test_one_failing_input_does_not_cost_the_others():
    stated = [Stating(k, poisoned=(2,)) for k in range(6)]
    given = [candidates(k) for k in range(6)]
    found = list(pr.rank_panel(stated, given, failing="report", **HOW))
    assert found[2] == pr.Failed(2, "ArithmeticError: no equation for input 2")
    whole = list(pr.rank_panel([problem(k) for k in range(6)], given, **HOW))
    for k in (0, 1, 3, 4, 5):
        np.testing.assert_allclose(found[k].scores, whole[k].scores, rtol=1e-12)
    with pytest.raises(RuntimeError, match="Input 2 of the panel: ArithmeticError"):
        list(pr.rank_panel(stated, given, **HOW))
    with pytest.raises(ValueError, match='failing must be "raise" or "report"'):
        pr.rank_panel(stated, given, failing="ignore")


def test_an_input_that_spoils_its_batch_fails_alone():
    """Of another kind than the first: the batch cannot be stacked."""
    problems = [problem(k) for k in range(4)]
    problems[1] = pr.Stationary(lambda u, f: u - f, data=np.ones(5))
    found = list(pr.rank_panel(problems, map(candidates, range(4)), failing="report", **HOW))
    assert not any(isinstance(one, pr.Failed) for one in found)  # each can be ranked, but not together
    problems[1] = pr.Stationary(lambda u, f: 1 / 0, data=np.ones(5))
    found = list(pr.rank_panel(problems, map(candidates, range(4)), failing="report", **HOW))
    assert [one.input for one in found if isinstance(one, pr.Failed)] == [1]
    assert found[1].why == "ZeroDivisionError: division by zero"


def test_functions_are_called_when_their_block_is_ranked():
    called = []

    def fetch(k, name):
        called.append((k, name))
        return candidates(k)[name]

    given = [{name: partial(fetch, k, name) for name in "abc"} for k in range(6)]
    panel = pr.rank_panel([partial(problem, k) for k in range(6)], given, **HOW)
    assert not called
    first = next(panel)
    assert len(called) == 3 * 4
    whole = pr.rank_panel(map(problem, range(6)), map(candidates, range(6)), **HOW)
    same([first, *panel], whole)


def test_selections_leave_out_what_failed_and_say_so():
    failed = pr.Failed(1, "no equation")
    good = pr.Scores("test", ("a", "b"), np.array([1.0, 2.0]))
    open_one = pr.Scores("test", ("a", "b"), np.array([9.0, 2.0]), unresolved="the solve failed")
    with pytest.raises(pr.UnresolvedError, match="Input 1 of the panel is unresolved: no equation"):
        pr.select([good, failed])
    choice = pr.select([good, failed, open_one], failing="report")
    assert choice.best == "a" and choice.inputs == 1
    assert choice.failed == {1: "no equation", 2: "the solve failed"}
    assert choice.to_dict()["failed_inputs"] == {"1": "no equation", "2": "the solve failed"}
    with pytest.raises(ValueError, match="All 1 failed; the first: no equation"):
        pr.select([failed], failing="report")


def test_progress_is_told_after_every_input():
    told = []
    list(pr.rank_panel([problem(0)] * 5, [candidates(0)] * 5, progress=lambda *now: told.append(now), **HOW))
    assert told == [(k, 5) for k in range(1, 6)]
