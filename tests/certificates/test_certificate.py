"""What a certificate says: as a paragraph, pair by pair, as JSON, and when it failed."""

import dataclasses
import json

import numpy as np
import pytest

import physrank as pr
from fields import candidates_around, field_problem, random_problem, zero_of
from physrank.certificates import Assumption, Certificate, Enclosure
from physrank.certificates.certificate import Zero


def test_a_certificate_reads_as_a_paragraph():
    problem = random_problem(11, 2, 8)
    certificate = pr.certify(problem, pr.rank(problem, candidates_around(problem, 11), corrections=3), tolerance=1e-3)
    text = str(certificate)
    assert "validated" in text
    assert "only zero of the stated discrete problem" in text
    assert certificate.best in text
    assert "μ > 0" in text
    assert certificate.best in certificate.safe
    assert certificate.regret_bounds[certificate.best] <= 0
    with pytest.raises(ValueError, match="tolerance"):
        pr.certify(problem, pr.rank(problem, candidates_around(problem, 11)), tolerance=-1.0)


def test_a_stored_certificate_can_be_read_pair_by_pair():
    problem = field_problem()
    truth = zero_of(problem)
    ranking = pr.rank(problem, {"a": truth * 1.01, "b": truth * 0.5})
    stored = json.loads(json.dumps(pr.certify(problem, ranking).to_dict(), allow_nan=False))
    assert stored["names"] == ["a", "b"] and stored["signs"] == [[0, 1], [-1, 0]]
    assert stored["gaps"]["low"][0][1] <= stored["gaps"]["proxy"][0][1] <= stored["gaps"]["high"][0][1]


def test_a_failed_certificate_claims_nothing_in_any_form():
    problem = field_problem()
    ranking = pr.rank(problem, {"only": zero_of(problem)})
    broken = dataclasses.replace(ranking, scoring=dataclasses.replace(ranking.scoring, unresolved="made so"))
    certificate = pr.certify(problem, broken)
    assert certificate.best is None and certificate.safe == [] and np.isinf(certificate.regret_bounds["only"])
    assert str(certificate).startswith("No certificate") and "validated" not in str(certificate)


def test_a_certificate_is_stored_as_json(tmp_path):
    problem = field_problem()
    ranking = pr.rank(problem, {"a": zero_of(problem) * 1.01, "b": zero_of(problem) * 0.5})
    path = pr.certify(problem, ranking).to_json(tmp_path / "deep" / "proof.json")
    assert json.loads(path.read_text())["best"] == "a"


def made(low, high, *, holds=True, **options):
    """Two candidates, of whose gap so much is known; b is the worse one where it is positive."""
    gaps = pr.geometry.GapIntervals(np.array([[0.0, low], [-high, 0.0]]), np.array([[0.0, high], [-low, 0.0]]))
    found = Enclosure("theorem", "it", gaps, 1.0, "a norm", (Assumption("it holds", holds, "made so"),))
    return Certificate(("a", "b"), np.zeros((2, 2)), found, options.pop("tolerance", 0.0), **options)


def test_a_pair_without_a_sign_is_open_unless_both_ends_are_within_the_tolerance():
    for low, high, is_open in ((-0.5, 3.0, True), (-3.0, 0.5, True), (-0.5, 0.7, False), (0.1, 3.0, False)):
        certificate = made(low, high, tolerance=1.0)
        assert (certificate.open_pairs == [("a", "b")]) is is_open
        assert certificate.settled is not is_open


def test_one_failed_assumption_opens_every_pair():
    assert made(1.0, 2.0).signs[0, 1] == 1 and made(1.0, 2.0).best == "a"
    failed = made(1.0, 2.0, holds=False, tolerance=9.0)
    assert not failed.signs.any() and not failed.settled and np.isinf(failed.gaps.high[0, 1])


def test_whoever_wants_the_best_needs_no_order():
    for wanted, settled in (("pairs", False), ("best", True)):
        assert made(-0.5, 3.0, tolerance=1.0, wanted=wanted).settled is settled


def test_zeros_are_the_same_only_where_one_lies_where_the_other_is_alone():
    first = Zero(np.zeros(2), within=0.3, alone=0.5)
    for within, alone, same in ((0.1, 1.2, False), (0.1, 1.4, True)):
        other = Zero(np.array([0.6, 0.8]), within, alone)  # one apart
        assert first.is_surely(other) is same and other.is_surely(first) is same


def test_what_is_proved_the_other_way_round_is_said_aloud():
    """A ranking that had a before b, and a proof that b is better: in words, with both targets, and in the dictionary."""
    against = dataclasses.replace(made(-2.0, -1.0), proxy_gaps=np.array([[0.0, 0.5], [-0.5, 0.0]]))
    assert against.reversed == [("b", "a")]
    text = str(against)
    assert "THE OTHER WAY ROUND" in text and "'b' is better than 'a'" in text and "not the ranking's 'a'" in text
    assert "proved against it;" in text and "the problem's own grid" in text
    assert against.to_dict()["reversed"] == [["b", "a"]] and against.to_dict()["contradiction"] in text
    agreed = dataclasses.replace(against, proxy_gaps=-against.proxy_gaps)
    for silent in (agreed, made(-2.0, -1.0), dataclasses.replace(against, excluded=("a",))):
        assert silent.reversed == [] and silent.to_dict()["contradiction"] is None and "OTHER WAY" not in str(silent)
