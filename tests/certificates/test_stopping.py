"""Corrections until a decision is certified, and not one more."""

import numpy as np
import pytest

import physrank as pr
from fields import candidates_around, random_problem
from physrank.certificates import Certified


def test_rank_until_certified_corrects_only_while_something_is_open():
    problem = random_problem(10, 2, 8, size=5.0)
    easy = candidates_around(problem, 10, noise=0.001)
    hard = candidates_around(problem, 10, noise=0.5, ties=1e-6)
    first, second = (pr.rank(problem, given, until="certified", max_corrections=6) for given in (easy, hard))
    assert first.corrections == 1
    assert second.corrections > 1
    assert first.certificate.settled
    assert second.certificate.settled
    # the same state as asking for that many corrections at once
    direct = pr.rank(problem, hard, corrections=second.corrections)
    np.testing.assert_allclose(second.state, direct.state, atol=1e-13 * np.abs(direct.state).max())
    assert second.response.variant == direct.response.variant
    assert second.scoring.solves == direct.scoring.solves
    limited = pr.rank(problem, hard, until="certified", max_corrections=1)
    assert limited.corrections == 1
    assert not limited.certificate.settled
    relaxed = pr.rank(problem, hard, until=Certified(decision="best", tolerance=1e3))
    assert relaxed.corrections == 1
    with pytest.raises(ValueError, match="until must be 'settled', 'certified'"):
        pr.rank(problem, easy, until="never")
    assert "Certificate" in str(first)
    assert first.to_dict()["certificate"]["pairs_certified"] == 10


def test_a_rule_judges_by_what_was_asked_for():
    problem = random_problem(10, 1, 6)
    ranking = pr.rank(problem, candidates_around(problem, 10), effort="response")
    for decision in ("pairs", "best"):
        assert Certified(decision=decision)(problem, ranking).wanted == decision
