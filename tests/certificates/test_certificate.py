"""What a certificate says: as a paragraph, pair by pair, as JSON, and when it failed."""

import dataclasses
import json

import numpy as np
import pytest

import physrank as pr
from fields import candidates_around, field_problem, random_problem, zero_of


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
