"""A library of rolled-out networks: trained, interrupted, resumed, stored."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from lab_helpers import weights
from physrank.lab.equations import ROLLOUTS
from physrank.lab.libraries import PROFILES, ROLLED
from physrank.lab.store import predictions, trajectories
from physrank.lab.training import inference, run

LIBRARY, SMOKE = ROLLED["flow_1d"], PROFILES["smoke"]


@pytest.fixture
def small(monkeypatch):
    declared = ROLLOUTS["flow_1d"]
    budget = replace(declared.budget("smoke"), training=2, windows=8, epochs=2, batch=2)
    monkeypatch.setitem(ROLLOUTS, "flow_1d", replace(declared, budgets=dict(declared.budgets) | {"smoke": budget}))


def test_rollouts_are_trained_resumed_and_stored(small, tmp_path):
    other = tmp_path / "other"
    for number in range(LIBRARY.runs):
        assert run.train_run(tmp_path, SMOKE, LIBRARY, number)
    pauses = iter([False, True])
    assert not run.train_run(other, SMOKE, LIBRARY, 0, stop=lambda: next(pauses))
    assert run.train_run(other, SMOKE, LIBRARY, 0)
    for name, tensor in weights(tmp_path, LIBRARY, 2).items():
        assert torch.equal(tensor, weights(other, LIBRARY, 2)[name]), name
    inference.store_predictions(tmp_path, SMOKE, LIBRARY)
    data = predictions.read(tmp_path, SMOKE, LIBRARY, "evaluation")
    assert data["prediction"].dims == ("input", "candidate", "time", "channel", "x")
    assert data["prediction"].shape == (3, 3, 32, 3, 32)
    assert list(data["candidate"].values) == [network.name for network in LIBRARY.declared.networks]
    true = trajectories.trajectories(tmp_path, LIBRARY, SMOKE, "evaluation")
    assert np.all(data["prediction"].values[:, :, 0] == true[:, None, 9])  # the last observed frame is exact
    assert np.all(data["prediction"].values[:, :, :, [0, 2]] > 0)  # density and pressure, whatever the network says
    assert not np.array_equal(data["prediction"].values[:, 0], data["prediction"].values[:, 1])
