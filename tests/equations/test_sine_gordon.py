"""Law 8 for Sine–Gordon: breather and kinks, dispersion, reversibility, and what it refuses."""

import jax
import numpy as np
import pytest

import physrank as pr
from exact import breather, kinks
from helpers import named_substeps, solve
from laws import slope
from physrank import compute
from physrank.equations import SineGordon
from physrank.equations._sampling import lifted_forcing
from physrank.equations.sine_gordon import _curvature
from physrank.geometry.lifts import lift
from physrank.physics.levels import altered
from physrank.physics.transforms import FOURIER_FROM


@pytest.mark.parametrize("exact, length", [(breather, 60.0), (kinks, 80.0)], ids=["breather", "kinks"])
def test_sine_gordon_order_is_two(exact, length):
    times, points = np.linspace(0, 2.0, 5), 512
    shift = lambda x: x - length / 2  # noqa: E731
    errors, substeps = [], np.array([12, 40])
    for n in substeps:
        problem = SineGordon(
            lambda x: exact(0.0, shift(x))[0],
            lambda x: exact(0.0, shift(x))[1],
            times,
            length=length,
            points=points,
            substeps=int(n),
        )
        found = solve(problem)
        true = np.stack([exact(t, shift(problem.grid.axes[0])) for t in times])
        errors.append(np.abs(found - true).max())
    assert abs(slope(1 / substeps, errors) - 2) < 0.1
    assert errors[0] < 5e-3


def test_sine_gordon_dispersion_and_forcing():
    """Small waves: ω² = c²k² + 1. A constant force on a small uniform field: u'' = −u + f."""
    k, c, times = 3, 1.3, np.linspace(0, 1, 9)
    wave = SineGordon(lambda x: 1e-5 * np.cos(k * x), lambda x: 0 * x, times, c, points=32, substeps=64)
    omega = np.sqrt(c**2 * k**2 + 1)
    expected = 1e-5 * np.cos(omega * times)[:, None] * np.cos(k * wave.grid.axes[0])
    np.testing.assert_allclose(solve(wave)[:, 0], expected, atol=2e-9)
    pushed = SineGordon(np.zeros(8), np.zeros(8), times, forcing=np.full(8, 1e-4), points=8, substeps=64)
    np.testing.assert_allclose(solve(pushed)[:, 0, 0], 1e-4 * (1 - np.cos(times)), atol=1e-8)


def test_sine_gordon_verlet_is_reversible():
    problem = SineGordon(lambda x: 2 * np.sin(x), lambda x: np.cos(x), [0.0, 1.0], points=32, substeps=40)
    after = solve(problem)[-1]
    back = SineGordon(after[0], -after[1], [0.0, 1.0], points=32, substeps=40)
    np.testing.assert_allclose(solve(back)[-1, 0], problem.initial[0], atol=1e-12)


def test_sine_gordon_refuses_unstable_substeps():
    with pytest.raises(ValueError, match=r"1 substeps per row are unstable.*Use substeps=97 or more"):
        SineGordon(np.zeros(8), np.zeros(8), [0.0, 1.0], points=384, substeps=1)
    SineGordon(np.zeros(8), np.zeros(8), [0.0, 1.0], points=384, substeps=97)
    with pytest.raises(ValueError, match="velocity must be one-dimensional"):
        SineGordon(np.zeros(8), np.zeros((2, 8)), [0.0, 1.0])
    with pytest.raises(ValueError, match="speed must be positive"):
        SineGordon(np.zeros(8), np.zeros(8), [0.0, 1.0], speed=0.0)


def test_sine_gordon_task_is_phase_space():
    problem = SineGordon(lambda x: np.sin(x), lambda x: 0 * x, [0.0, 0.1], points=16)
    truth = solve(problem)
    off = truth.copy()
    off[-1, 1] += 0.1  # velocity counts with weight one
    ranking = pr.rank(problem, {"off": off, "more": truth + 0.2 * np.array([0, 1])[:, None, None]})
    assert ranking.order == ["off", "more"]
    assert ranking.error_estimates[0] == pytest.approx(0.1 * np.sqrt(2 * np.pi), rel=1e-6)


def test_sine_gordon_names_substeps_that_keep_the_energy():
    build = lambda n: SineGordon(  # noqa: E731
        np.full(8, 0.1), np.zeros(8), np.linspace(0, 140, 21), points=8, length=100.0, substeps=n
    )
    number = named_substeps(build)
    u, v = np.moveaxis(solve(build(number)), 1, 0)
    u_x = np.fft.irfft(2j * np.pi / 100 * np.arange(5) * np.fft.rfft(u), n=8)
    energy = np.mean(v**2 / 2 + u_x**2 / 2 + 1 - np.cos(u), axis=-1)
    assert energy.max() < 1.1 * energy[0]
    assert energy.min() > 0.1 * energy[0]
    assert number <= 4  # a substep below 2 / √(1 + (π/12.5)²), seven per row


def test_sine_gordon_force_is_that_of_every_substep():
    """u'' = −u + f(t) for a small uniform field pushed by cos 3t: exact, and the force changes within a row."""
    times = np.linspace(0, 1, 3)
    pushed = SineGordon(
        np.zeros(8), np.zeros(8), times, forcing=lambda t, x: 1e-4 * np.cos(3 * t) + 0 * x, points=8, substeps=64
    )
    np.testing.assert_allclose(solve(pushed)[:, 0, 0], 1e-4 * (np.cos(times) - np.cos(3 * times)) / 8, atol=1e-8)


def test_few_points_take_another_way_to_the_same_derivative():
    points = FOURIER_FROM - 1
    u = np.random.default_rng(0).standard_normal(points)
    k = 2 * np.pi / 3.0 * np.arange(points // 2 + 1)
    np.testing.assert_allclose(
        u @ _curvature(points) / 3.0**2, np.fft.irfft(-(k**2) * np.fft.rfft(u), points), atol=1e-8
    )


@pytest.mark.parametrize("changed", [None, (0, 0, 5), (1, 3, 0), (2, 0, 0)], ids=["never", "first", "within", "last"])
def test_a_coarser_grid_has_the_force_whether_it_changes_or_not(changed):
    """Inside a program, one that never changes is lifted once."""
    problem = SineGordon(np.sin, np.cos, np.linspace(0, 1, 4), forcing=lambda t, x: np.cos(3 * x) + 0 * t, points=32)
    if changed is not None:
        problem = altered(problem, forcing=problem.forcing.at[changed].add(1.0))
    traced = compute.run(lambda given: given.coarser(1).forcing, problem)
    np.testing.assert_allclose(traced, lift(np.asarray(problem.forcing), (16,), "fourier"), atol=1e-14)


def test_every_sample_of_a_force_may_move_by_itself():
    """Also where all are the same, so that only one of them is lifted."""
    force, moved = np.ones((3, 2, 16)), np.random.default_rng(0).standard_normal((3, 2, 16))
    lifted = lambda f: lifted_forcing(f, 8)  # noqa: E731
    _, found = compute.run(lambda a, b: jax.jvp(lifted, (a,), (b,)), force, moved)
    np.testing.assert_allclose(found, lift(moved, (8,), "fourier"), atol=1e-14)
