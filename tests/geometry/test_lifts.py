"""Lifts reproduce exactly what they promise."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import physrank as pr
from physrank import lifts


@given(st.integers(5, 24), st.integers(5, 40))
def test_fourier_lift_is_exact_on_resolved_modes(source, target):
    grid = lambda n: np.arange(n) * 2 * np.pi / n  # noqa: E731
    for k in range((min(source, target) - 1) // 2 + 1):
        for wave in (np.cos, np.sin):
            lifted = lifts.lift(wave(k * grid(source)), (target,), "fourier")
            np.testing.assert_allclose(lifted, wave(k * grid(target)), atol=1e-12)


def test_fourier_lift_drops_rather_than_aliases():
    x = np.arange(32) * 2 * np.pi / 32
    np.testing.assert_allclose(lifts.lift(np.cos(12 * x), (16,), "fourier"), 0, atol=1e-12)


def test_fourier_lift_of_the_highest_mode():
    """The zigzag on n points is cos(nx/2): half of it belongs to each of ±n/2."""
    zigzag = np.array([1.0, -1.0] * 4)
    x = np.arange(20) * 2 * np.pi / 20
    np.testing.assert_allclose(lifts.lift(zigzag, (20,), "fourier"), np.cos(4 * x), atol=1e-12)
    np.testing.assert_allclose(lifts.lift(np.cos(4 * x), (8,), "fourier"), zigzag, atol=1e-12)


@given(st.integers(2, 20), st.integers(2, 30))
def test_cosine_lift_is_exact_on_resolved_cosines(source, target):
    x, y = (np.arange(source) + 0.5) / source, (np.arange(target) + 0.5) / target
    for k in range(min(source, target)):
        np.testing.assert_allclose(
            lifts.lift(np.cos(k * np.pi * x), (target,), "cosine"), np.cos(k * np.pi * y), atol=1e-11
        )


def test_fourier_nyquist_round_trip():
    values = np.random.default_rng(0).standard_normal(8)
    np.testing.assert_allclose(lifts.lift(lifts.lift(values, (20,), "fourier"), (8,), "fourier"), values, atol=1e-12)


@given(st.integers(3, 20), st.integers(3, 30))
def test_sine_lift_is_exact_on_sines_and_lines(source, target):
    x, y = np.linspace(0, 1, source), np.linspace(0, 1, target)
    for k in range(1, min(source, target) - 1):
        np.testing.assert_allclose(
            lifts.lift(np.sin(k * np.pi * x), (target,), "sine"), np.sin(k * np.pi * y), atol=1e-11
        )
    np.testing.assert_allclose(lifts.lift(2 - 3 * x, (target,), "sine"), 2 - 3 * y, atol=1e-12)


def test_sine_lift_keeps_boundary_violations():
    field = np.zeros((6, 6))
    field[0, :] = 1.0
    lifted = lifts.lift(field, (11, 11), "sine")
    np.testing.assert_allclose(lifted[0], 1.0, atol=1e-12)
    np.testing.assert_allclose(lifted[-1], 0.0, atol=1e-12)


def test_polynomial_and_chebyshev_lifts_are_exact_on_polynomials():
    y = np.linspace(0, 1, 17)
    x = np.linspace(0, 1, 9)
    np.testing.assert_allclose(lifts.lift(x**5 - x, (17,), "polynomial"), y**5 - y, atol=1e-13)
    nodes = (1 - np.cos(np.pi * np.arange(9) / 8)) / 2
    np.testing.assert_allclose(lifts.lift(nodes**8, (17,), "chebyshev"), y**8, atol=1e-13)


def test_lifts_work_axis_by_axis_and_keep_leading_axes():
    x = np.arange(8) * 2 * np.pi / 8
    field = np.stack([np.sin(x)[:, None] * np.cos(2 * x), np.cos(x)[:, None] * np.sin(x)])
    y, z = np.arange(12) * 2 * np.pi / 12, np.arange(20) * 2 * np.pi / 20
    expected = np.stack([np.sin(y)[:, None] * np.cos(2 * z), np.cos(y)[:, None] * np.sin(z)])
    np.testing.assert_allclose(lifts.lift(field, (12, 20), "fourier"), expected, atol=1e-12)


def test_lifts_refuse():
    with pytest.raises(ValueError, match="Unknown lift 'cubic'"):
        lifts.lift(np.ones(4), (8,), "cubic")
    with pytest.raises(ValueError, match="at least 2 nodes"):
        lifts.lift(np.ones(1), (8,), "sine")
    with pytest.raises(ValueError, match=r"must be a physrank\.Grid"):
        pr.Stationary(lambda u: u, grid="sine")


def test_linear_lift_never_overshoots_and_is_exact_on_lines():
    x, y = (np.arange(8) + 0.5) / 8, (np.arange(32) + 0.5) / 32
    inner = slice(2, -2)  # beyond the last centres it is constant
    np.testing.assert_allclose(lifts.lift(3 * x - 1, (32,), "linear")[inner], (3 * y - 1)[inner], atol=1e-13)
    jump = lifts.lift(np.where(x < 0.5, 1.0, 0.1), (32,), "linear")
    assert jump.min() == 0.1 and jump.max() == 1.0


def test_sampled_is_the_polynomial_lift():
    field = np.random.default_rng(0).standard_normal((21, 34, 9))
    np.testing.assert_allclose(
        lifts.sampled(field, (11, 17, 9)), lifts.lift(field, (11, 17, 9), "polynomial"), atol=1e-13
    )


@given(st.integers(8, 40), st.integers(4, 8))
def test_rows_left_out_are_cubic(rows, count):
    kept = lifts.kept_rows(rows, count)
    assert kept[0] == 0 and kept[-1] == rows - 1 and len(set(kept)) == count
    t = np.arange(rows) / rows
    cubic = np.stack([1 - t + 2 * t**3, t**2], axis=1)
    np.testing.assert_allclose(lifts.lift_rows(cubic[kept], rows), cubic, atol=1e-10)
    assert lifts.lift_rows(cubic, rows) is cubic
    np.testing.assert_array_equal(lifts.lift_rows(cubic, len(kept)), cubic[kept])


@given(st.integers(8, 40), st.integers(4, 40))
def test_shorter_spectrum_is_the_fourier_lift(source, target):
    target = min(source, target)
    field = np.random.default_rng(source).standard_normal((2, source))
    spectrum = lifts.shorter_spectrum(np.fft.rfft(field), source, target)
    lifted = lifts.lift(field, (target,), "fourier")
    np.testing.assert_allclose(np.fft.irfft(spectrum, n=target), lifted, atol=1e-12)
    np.testing.assert_allclose(spectrum, np.fft.rfft(lifted), atol=1e-12)
