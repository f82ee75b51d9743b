"""Libraries that are admitted or refused."""

import numpy as np
import pytest
import torch

from lab_helpers import BURGERS, SECOND, TINY
from physrank.lab.equations import EQUATIONS
from physrank.lab.libraries import RUNS
from physrank.lab.models import networks
from physrank.lab.store import checkpoints, predictions
from physrank.lab.store.files import StoreError
from physrank.lab.training import inference
from physrank.lab.training import run as training


def test_constraints_hold_exactly_and_admission_checks_them(tmp_path):
    for run in range(RUNS):
        training.train_run(tmp_path, TINY, SECOND, run)
    inference.store_predictions(tmp_path, TINY, SECOND)
    data = predictions.read(tmp_path, TINY, SECOND, "evaluation")
    fields = data["prediction"].values
    assert fields.shape == (3, 8, 48, 48)
    assert data["prediction"].dims == ("input", "candidate", "time", "x")
    initial = EQUATIONS["burgers"].features(EQUATIONS["burgers"].population("evaluation", 3))[:, 0, 0]
    assert np.all(fields[:, :, 0] == initial[:, None])
    assert not np.all(fields[:, 0, -1] == fields[:, 1, -1])
    assert list(data["candidate"].values) == [name for name, _, _ in SECOND.candidates(TINY)]
    before = predictions.path(tmp_path, TINY, SECOND, "evaluation").stat().st_mtime_ns
    inference.store_predictions(tmp_path, TINY, SECOND)  # stored once
    assert predictions.path(tmp_path, TINY, SECOND, "evaluation").stat().st_mtime_ns == before
    checkpoint = checkpoints.folder(tmp_path, TINY, SECOND, 0)
    model = networks.build(SECOND, TINY)
    facts = checkpoints.load(checkpoint, 4, model, SECOND.settings(TINY, 0))
    with torch.no_grad():
        next(model.parameters()).mul_(0.5)
    checkpoints.save(checkpoint, 4, model, facts["settings"], {"validation_loss": 0.1})
    with pytest.raises(StoreError, match="not made with the checkpoints beside it"):
        inference.store_predictions(tmp_path, TINY, SECOND)
    with pytest.raises(StoreError, match=r"1\.200 exceeds 1"):
        inference.admit(SECOND, fields, [1.2] * 8, 0.0)
    with pytest.raises(StoreError, match="expected exact"):
        inference.admit(SECOND, fields, [0.5] * 8, 1e-9)
    with pytest.raises(StoreError, match="not finite"):
        inference.admit(SECOND, fields * np.nan, [0.5] * 8, 0.0)


def test_incomplete_libraries_are_not_admitted(trained):
    with pytest.raises(StoreError, match="has not reached epoch"):
        inference.store_predictions(trained, TINY, BURGERS)
