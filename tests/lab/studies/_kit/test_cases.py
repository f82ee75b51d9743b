"""Cases of a study: wrong inputs of the same stratum, and descriptions that tell scorers apart."""

from lab_helpers import InThisProcess
from physrank.lab.inputs import shifted_strata
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
