"""Computed Fourier transforms are within their bound of the exact ones."""

import mpmath
import numpy as np
import pytest

from physrank.certificates.enclosures.fourier import WIDE, WIDE_UNIT, transform_error
from physrank.certificates.enclosures.rounding import UNIT


@pytest.mark.parametrize("points", [4, 12, 30, 31, 64, 77, 96, 169])
@pytest.mark.parametrize(("kind", "unit"), [(np.float64, UNIT), (WIDE, WIDE_UNIT)])
def test_transforms_are_within_their_bound(points, kind, unit):
    x = np.random.default_rng(points).standard_normal(points)
    found, back = np.fft.rfft(x.astype(kind)), np.fft.irfft(np.fft.rfft(x.astype(kind)), n=points)
    with mpmath.workdps(40):
        roots = [mpmath.expjpi(mpmath.mpf(-2 * k) / points) for k in range(points)]
        exact = [mpmath.fsum(float(v) * roots[j * k % points] for k, v in enumerate(x)) for j in range(points // 2 + 1)]
        size = mpmath.sqrt(mpmath.fsum(abs(c) ** 2 for c in exact))
        off = [_digits(c.real) + 1j * _digits(c.imag) - e for c, e in zip(found, exact, strict=True)]
        wrong = mpmath.sqrt(mpmath.fsum(abs(c) ** 2 for c in off))
        assert wrong <= transform_error(points, unit) * size
        assert points == 4 or wrong >= 1e-4 * transform_error(points, unit) * size  # and not far from it
        there = mpmath.sqrt(mpmath.fsum((_digits(b) - mpmath.mpf(float(v))) ** 2 for b, v in zip(back, x, strict=True)))
        assert there <= 2 * transform_error(points, unit) * np.linalg.norm(x)


def _digits(value):
    """A wide float without loss: its double, and what is left."""
    high = float(value)
    return mpmath.mpf(high) + mpmath.mpf(float(value - type(value)(high)))


def test_large_prime_factors_have_no_bound():
    assert transform_error(2 * 37) == transform_error(101) == np.inf
    assert transform_error(31) < 1e-13 > transform_error(384)
