"""Cases of a study: wrong inputs of the same stratum, descriptions that tell scorers apart, and what workers lose."""

from pathlib import Path

import pytest

from crowds import threads
from lab_helpers import InThisProcess
from physrank import scale
from physrank.lab.inputs import shifted_strata
from physrank.lab.libraries import PROFILES
from physrank.lab.studies._kit import cases
from physrank.ranking import scorers


def test_wrong_inputs_stay_in_their_stratum():
    strata = shifted_strata(9)
    other = cases.wrong_inputs(strata)
    assert sorted(other) == list(range(9))
    assert all(strata[k] == strata[j] and k != j for k, j in enumerate(other))


def test_scorers_with_other_settings_are_other_results():
    described = [cases._described(s) for s in (scorers.DirectSolve(points=96), scorers.DirectSolve(points=48))]
    assert described[0] != described[1]
    assert cases._described(InThisProcess.map) == "InThisProcess.map"


def test_cases_are_judged_by_workers_as_here():
    pytest.importorskip("distributed")
    given, told = [(-k, 3) for k in range(5)], []
    with threads() as client:
        context = cases.Context(Path(), PROFILES["smoke"], lambda *now: told.append(now), client)
        assert list(context.each("powers", pow, given, 5)) == [pow(*case) for case in given]
    assert told == [("powers", k + 1, 5) for k in range(5)]


def test_a_case_that_is_lost_ends_a_study(monkeypatch):
    monkeypatch.setattr(scale, "ordered", lambda *_: (rows for rows in ([1], [scale.Lost("all died")])))
    judged = cases.Context(Path(), PROFILES["smoke"], client="somebody").each("proofs", abs, [(-1,), (-2,)], 2)
    assert next(judged) == 1
    with pytest.raises(RuntimeError, match="proofs, case 1: all died"):
        next(judged)
