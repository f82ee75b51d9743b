"""Flow at Mach 0.1 with two candidates of known errors."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest

from lab_helpers import rolled_store
from physrank.lab.libraries import PROFILES, ROLLED
from physrank.lab.studies import flow_2d as study
from physrank.lab.studies._kit.cases import Context

sys.path.insert(0, str(Path(__file__).parents[3] / "docs"))
import render_further


@pytest.fixture(scope="module")
def result(tmp_path_factory):
    store = rolled_store(tmp_path_factory.mktemp("store"), ROLLED["flow_2d"])
    patch = pytest.MonkeyPatch()
    patch.setattr(study, "DIFFERENCES", (1e-4,))  # each is a compilation
    found, figure = study.run(Context(store, PROFILES["smoke"]))
    patch.undo()
    assert figure.axes
    return found


@pytest.mark.slow
def test_the_path_begins_at_the_mean_and_its_unit_step_ranks(result):
    assert "|" in render_further.flow_2d(json.loads(json.dumps(result, allow_nan=False)))
    assert [values[0] for values in result["path"].values()] == [1.0] * 4
    assert result["mean"]["top1"] == {"common state": 0, "corrected": 2}
    assert result["mean"]["defect"]["improved"] == result["inputs"] == 2
    assert 0 <= result["raw"] <= 2
    assert result["identity"] < 1e-10
    assert all(isinstance(text, str) for text, _ in study.claims(result))


def test_scores_that_differ_by_round_off_choose_nobody():
    scores = np.array([[1.0, 1.0 + 1e-15], [1.0, 1.1]])
    assert study._right(scores, np.array([0, 0])) == 1
