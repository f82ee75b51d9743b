"""Advice: every way of ranking tried on one input, and a sentence that follows from the numbers."""

import json

import numpy as np
import pytest

import physrank as pr
from physrank.ranking.advise import NOISE


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
    least = min(row.seconds for row in advice.tried)
    first = next(row for row in advice.tried if row.seconds <= NOISE * least)
    assert advice.sentence.startswith("Solve" if first is advice.tried[-1] else f"Use {first.way}")
    assert str(advice).endswith(advice.sentence)
    assert json.loads(json.dumps(advice.to_dict()))["pairs"] == 1


def test_what_nothing_settles_is_said(case):
    problem, candidates = case
    truth, _ = pr.scorers.DirectSolve().solution(problem, problem.state_shape)
    twins = {"one": candidates["near"], "two": 2 * truth - candidates["near"]}  # as far off, on either side
    assert "Nothing settles" in pr.advise(problem, twins, repeats=1).sentence


@pytest.mark.parametrize("repeats", [0, 1.5, True])
def test_repeats_are_checked(case, repeats):
    with pytest.raises(ValueError, match="repeats"):
        pr.advise(*case, repeats=repeats)
