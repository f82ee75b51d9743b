"""Violations of a constraint are measured where they are."""

import numpy as np
import pytest

from physrank.lab.equations.constraint import InitialRow, ZeroEdges


def test_violations_are_measured_where_they_are():
    features = np.random.default_rng(0).standard_normal((2, 5, 4, 6))
    emitted = np.zeros((2, 3, 2, 4, 6))
    emitted[:, :, :, 0] = features[:, None, :2, 0]
    assert InitialRow((0, 1)).violation(emitted, features) == 0
    emitted[1, 2, 1, 0, 3] += 0.25
    assert InitialRow((0, 1)).violation(emitted, features) == pytest.approx(0.25)
    inside = np.pad(np.ones((1, 1, 1, 3, 3)), [(0, 0)] * 3 + [(1, 1)] * 2)
    assert ZeroEdges().violation(inside, features) == 0
    inside[..., 2, -1] = -0.5
    assert ZeroEdges().violation(inside, features) == 0.5
