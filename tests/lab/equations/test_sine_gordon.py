"""Sine–Gordon in the laboratory is its declaration and one line."""

import json
from dataclasses import replace

import numpy as np
import pytest

from lab_helpers import InThisProcess
from physrank.lab.libraries import LIBRARIES, PROFILES, RUNS
from physrank.lab.store import predictions, references
from physrank.lab.studies._kit import cases
from physrank.lab.training import inference, run

TINY = replace(PROFILES["smoke"], evaluation=3, panels=1, panel_size=3, deployment=3)
LIBRARY = LIBRARIES["sine_gordon-fno-e1"]


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """A library of four short runs, with its predictions."""
    store = tmp_path_factory.mktemp("sine_gordon")
    for number in range(RUNS):
        assert run.train_run(store, TINY, LIBRARY, number)
    inference.store_predictions(store, TINY, LIBRARY)
    return store


def test_two_channels_are_stored_as_states(trained):
    data = predictions.read(trained, TINY, LIBRARY, "evaluation")
    assert data["prediction"].dims == ("input", "candidate", "time", "channel", "x")
    assert data["prediction"].shape == (3, 8, 48, 2, 48)
    x = np.arange(48) * 2 * np.pi / 48
    for k, case in enumerate(LIBRARY.declared.population("evaluation", 3)):  # both initial fields are exact
        first = np.stack([case.initial(x), case.velocity(x)]).astype(np.float32)
        assert np.all(data["prediction"].values[k, :, 0] == first)
    assert predictions.wanted(LIBRARY) == [("evaluation", "native")]


def test_sine_gordon_goes_from_training_to_a_ranking(trained, monkeypatch):
    monkeypatch.setattr(
        LIBRARY.declared.solver, "LEVELS", {"first": ((384, 1024), (384, 2048))}
    )  # quick, and good enough
    monkeypatch.setattr(references, "ProcessPoolExecutor", InThisProcess)
    found = cases.evaluate(cases.Context(trained, TINY), LIBRARY)
    assert found.losses.shape == (3, 8)
    assert np.all(np.isfinite(found.scores["shared"]))
    assert np.all(found.proxy_loss < found.losses.min(axis=1))  # the corrected state is nearer than any network
    agree = np.argsort(found.scores["shared"], axis=1) == np.argsort(found.losses, axis=1)
    assert agree.mean() > 0.6


def test_checkpoints_describe_their_equation(trained):
    description = trained / TINY.name / LIBRARY.name / "run0" / "epoch24.json"
    facts = json.loads(description.read_text())
    assert facts["equation"] == LIBRARY.equation and facts["settings"] == LIBRARY.settings(TINY, 0)
