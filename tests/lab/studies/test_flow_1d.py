"""Shock tubes with candidates of known errors."""

import json

import jax
import numpy as np
import pytest

from crowds import threads
from lab_helpers import rolled_store
from physrank.lab.libraries import PROFILES, ROLLED
from physrank.lab.studies import flow_1d as study
from physrank.lab.studies._kit.cases import Context


@pytest.fixture(scope="module")
def result(tmp_path_factory):
    store = rolled_store(tmp_path_factory.mktemp("store"), ROLLED["flow_1d"])
    found, figure = study.run(Context(store, PROFILES["smoke"]))
    assert figure.axes
    return found


def test_backtracking_stays_among_physical_states_and_is_the_instruments_own(result):
    json.dumps(result, allow_nan=False)
    assert result["readouts"]["backtracking"]["valid"] == result["inputs"] == 3
    assert result["rule_agrees"] == 3 == sum(result["multipliers"])
    assert min(result["lowest_pressure"]["backtracking"]) > 0
    assert result["identity"] < 1e-12
    assert all(isinstance(text, str) for text, _ in study.claims(result))


def test_workers_find_the_same_and_what_is_stored_is_not_asked_of_them(result, tmp_path):
    pytest.importorskip("distributed")
    store, told = rolled_store(tmp_path, ROLLED["flow_1d"]), []
    with threads() as client, jax.enable_x64(False):  # as users have it, and the fixture above
        context = Context(store, PROFILES["smoke"], lambda *now: told.append(now), client)
        assert study.run(context)[0] == result
    assert told == [("flow_1d", k, 3) for k in (1, 2, 3)]
    assert study.run(context)[0] == result and len(told) == 3  # whose client is closed by now


def test_inadmissible_steps_are_errors():
    found = {
        "losses": np.array([[1.0, 2.0], [1.0, 2.0]]),
        "scores": np.array([[[1.0, 2.0]], [[1.0, 2.0]]]),
        "admissible": np.array([[True], [False]]),
        "full": np.ones((2, 1)),
        "proxy_loss": np.zeros((2, 1)),
    }
    row = study._readout(found, np.zeros(2, int))
    assert (row["valid"], row["pairs_correct"], row["top1"], row["pairs"]) == (1, 1, 1, 2)
