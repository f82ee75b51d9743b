"""Transforms, slow and fast, are SciPy's."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.fft

from physrank.physics.transforms import FOURIER_FROM, SINE_FROM, irfft, rfft, sine_transform


@pytest.mark.parametrize("points", [4, 7, 48, FOURIER_FROM - 1, FOURIER_FROM, 128])
def test_fourier_there_and_back(points):
    u = np.random.default_rng(0).standard_normal((3, points))
    spectrum = rfft(jnp.asarray(u))
    np.testing.assert_allclose(spectrum, scipy.fft.rfft(u), atol=1e-12)
    np.testing.assert_allclose(irfft(spectrum, points), u, atol=1e-13)
    # The imaginary parts of the first and of the last mode of an even number have no say.
    odd = np.random.default_rng(1).standard_normal((2, 3, points // 2 + 1))
    np.testing.assert_allclose(
        irfft(jax.lax.complex(*jnp.asarray(odd)), points), scipy.fft.irfft(odd[0] + 1j * odd[1], points), atol=1e-13
    )


@pytest.mark.parametrize("shape", [(7, 5), (SINE_FROM, 9), (SINE_FROM + 1, SINE_FROM), (4, 5, 6)])
def test_transforms_are_scipys(shape):
    x = np.random.default_rng(0).standard_normal(shape)
    np.testing.assert_allclose(sine_transform(jnp.asarray(x)), scipy.fft.dstn(x, type=1, norm="ortho"), atol=1e-12)
    single = sine_transform(jnp.asarray(x, jnp.float32))
    assert single.dtype == jnp.float32
    np.testing.assert_allclose(single, scipy.fft.dstn(x, type=1, norm="ortho"), atol=1e-4)
