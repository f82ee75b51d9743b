"""Sine–Gordon references against an adaptive method."""

import numpy as np
import pytest

from physrank.lab.inputs import SineGordonInput, shifted_strata
from physrank.lab.references import sine_gordon


def test_sine_gordon_reference_against_dop853():
    times = np.linspace(0, 1, 5)
    cases = [SineGordonInput.sample("development", k, s) for k, s in enumerate(shifted_strata(2))]
    coarse, fine = sine_gordon.solve(cases, times, 64, 2048), sine_gordon.solve(cases, times, 128, 4096)
    adaptive = sine_gordon.solve_adaptively(cases[1], times, 128)
    bar = np.abs(coarse[1] - fine[1][..., ::2]).max()
    assert bar < 1e-4
    assert np.abs(fine[1] - adaptive).max() < bar
    with pytest.raises(ValueError, match="multiple of 4"):
        sine_gordon.solve(cases, times, 64, 2047)
