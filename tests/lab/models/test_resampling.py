"""Resampling evaluates band-limited fields elsewhere."""

import numpy as np
import pytest
import torch

from networks import PADDINGS, smooth_field
from physrank.lab.models.resampling import resample, resampling_matrix


@pytest.mark.parametrize("padding", PADDINGS)
@pytest.mark.parametrize("dtype, tolerance", [(torch.float32, 1e-5), (torch.float64, 1e-10)])
@pytest.mark.parametrize("n, m", [(16, 32), (15, 30), (16, 12)])
def test_resampling_evaluates_a_band_limited_field_elsewhere(n, m, dtype, tolerance, padding):
    field, elsewhere = smooth_field(n, padding, dtype), smooth_field(m, padding, dtype)
    there = resample(field, (m, m), padding)
    torch.testing.assert_close(there, elsewhere, rtol=0, atol=tolerance)
    torch.testing.assert_close(resample(there, (n, n), padding), field, rtol=0, atol=tolerance)


@pytest.mark.parametrize("padding, wave", [("circular", 9), ("zeros", 17)])
def test_coarsening_removes_what_the_coarse_grid_cannot_hold(padding, wave):
    x = np.arange(32) / 32 if padding == "circular" else (np.arange(32) + 0.5) / 64
    fine = np.cos(2 * np.pi * wave * x)
    np.testing.assert_allclose(resampling_matrix(16, 32, padding) @ fine, 0, atol=1e-12)
    assert np.abs(fine[::2]).max() > 0.5  # taking every second point would not remove it


def test_a_matrix_first_made_in_inference_mode_serves_in_training():
    resampling_matrix.cache_clear()
    x = torch.randn(1, 1, 8, 8, dtype=torch.float64)
    with torch.inference_mode():
        resample(x, (16, 16), "circular")
    weight = torch.ones((), dtype=torch.float64, requires_grad=True)
    resample(weight * x, (16, 16), "circular").square().sum().backward()
    assert weight.grad is not None and weight.grad > 0
