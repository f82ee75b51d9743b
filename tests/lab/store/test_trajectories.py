"""Trajectories are made once, a few at a time, and damage is told."""

import numpy as np
import pytest

from physrank.lab.libraries import PROFILES, ROLLED
from physrank.lab.store import trajectories
from physrank.lab.store.files import StoreError, write_arrays

LIBRARY, SMOKE = ROLLED["flow_1d"], PROFILES["smoke"]


def test_trajectories_are_made_once_and_damage_is_told(tmp_path, monkeypatch):
    made = trajectories.trajectories(tmp_path, LIBRARY, SMOKE, "evaluation")
    assert made.shape == (3, 41, 3, 32) and made.dtype == np.float32
    np.testing.assert_array_equal(made[2], LIBRARY.declared.trajectory("evaluation", 2, 32))
    monkeypatch.setattr(trajectories, "_chunk", None)
    np.testing.assert_array_equal(trajectories.trajectories(tmp_path, LIBRARY, SMOKE, "evaluation"), made)
    target = trajectories.path(tmp_path, LIBRARY.equation, "evaluation", 32, 0)
    write_arrays(target, {"frames": np.full((8, 41, 3, 32), np.nan)})
    with pytest.raises(StoreError, match="expected 8 finite trajectories"):
        trajectories.trajectories(tmp_path, LIBRARY, SMOKE, "evaluation")
