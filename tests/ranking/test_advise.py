"""Advice: every way of ranking tried on one input, and a sentence that follows from the numbers."""

import json

import numpy as np
import pytest

import physrank as pr
from physrank.ranking.advise import NOISE, ON_GRID


@pytest.fixture(scope="module")
def case():
    problem = pr.equations.ReactionDiffusion(
        lambda x, y: 1 + 0.3 * x * y, lambda x, y: 20 * np.sin(np.pi * x) * np.sin(np.pi * y), 1.0, 0.5, points=32
    )
    truth, _ = pr.scorers.DirectSolve().solution(problem, problem.state_shape)
    x = np.linspace(0, 1, 34)
    bump = np.outer(np.sin(np.pi * x), np.sin(2 * np.pi * x))
    return problem, {"near": truth + 0.01 * bump, "far": truth + 0.05 * bump.T}


def test_it_tries_every_way_and_says_which_to_use(case):
    advice = pr.advise(*case, repeats=1)
    assert next(row.way for row in advice.tried) == 'effort="auto"'
    assert all(row.settled == advice.pairs == 1 and row.differs == 0 for row in advice.tried)
    able = [row for row in advice.tried if row.way != ON_GRID]  # it leaves out how far the grid may be off
    least = min(row.seconds for row in able)
    first = next(row for row in able if row.seconds <= NOISE * least)
    assert advice.sentence.startswith("Solve" if first is advice.tried[-1] else f"Use {first.way}")
    assert str(advice).endswith(advice.sentence)
    assert json.loads(json.dumps(advice.to_dict()))["pairs"] == 1


def test_what_nothing_settles_is_said(case):
    problem, candidates = case
    truth, _ = pr.scorers.DirectSolve().solution(problem, problem.state_shape)
    twins = {"one": candidates["near"], "two": 2 * truth - candidates["near"]}  # as far off, on either side
    assert "Nothing settles" in pr.advise(problem, twins, repeats=1).sentence


def test_a_way_that_leaves_a_doubt_out_is_not_preferred_for_that():
    def stated(points):
        rough = lambda x: np.exp(0.9 * (np.sin(3 * x) + np.cos(7 * x)))  # noqa: E731
        force = lambda x: 10 * (np.sin(np.pi * x) + np.cos(5 * x))  # noqa: E731
        return pr.equations.ReactionDiffusion(rough, force, 1.0, 0.5, points=points, dims=1)

    truth = pr.scorers.DirectSolve().solution(stated(1023), (1025,))[0][::16]
    advice = pr.advise(stated(63), {"high": 1.003 * truth, "low": 0.9975 * truth}, repeats=1)
    settled = {row.way: row.settled for row in advice.tried}
    assert settled[ON_GRID] == 1 and settled['effort="solve"'] == 0  # the grid's own error decides between them
    assert "Nothing settles" in advice.sentence and "grid" in advice.sentence


@pytest.mark.parametrize("repeats", [0, 1.5, True])
def test_repeats_are_checked(case, repeats):
    with pytest.raises(ValueError, match="repeats"):
        pr.advise(*case, repeats=repeats)
