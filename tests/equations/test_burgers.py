"""Law 8 for Burgers: exact solutions it was not derived from; slope and level."""

import jax.numpy as jnp
import numpy as np
import pytest

import laws
import physrank as pr
from burgers_flows import NU, cole_hopf
from helpers import named_substeps, relative_error
from laws import slope
from physrank.equations import Burgers
from problems import burgers

wave = cole_hopf(1.05)


def burgers_error(points, substeps):
    times = np.linspace(0, 2.0, 4)
    problem = pr.equations.Burgers(lambda x: wave(0.0, x), NU, times, points=points, substeps=substeps)
    state, failed = pr.scorers.DirectSolve().solution(problem, (4, points))
    assert failed is None
    return np.abs(state - wave(times[:, None], problem.grid.axes[0])).max()


def test_burgers_time_order_is_four():
    substeps = np.array([32, 64])
    errors = [burgers_error(256, n) for n in substeps]
    assert abs(slope(1 / substeps, errors) - 4) < 0.1
    assert errors[0] < 5e-8


def test_burgers_space_is_spectral():
    assert burgers_error(192, 64) < 2e-8
    assert burgers_error(48, 64) > 1e-6  # under-resolved: the error is the grid's, and the test can see it


def test_burgers_forcing_against_a_manufactured_solution():
    """u = sin(x − t) solves the equation with f = u_t − ν u_xx + u u_x."""
    u = lambda t, x: np.sin(x - t)  # noqa: E731
    force = lambda t, x: -np.cos(x - t) + NU * np.sin(x - t) + np.sin(x - t) * np.cos(x - t)  # noqa: E731
    times = np.linspace(0, 1, 6)
    grid = np.arange(64) * 2 * np.pi / 64
    exact = u(times[:, None], grid)
    for forcing, level in ((force, 1e-8), (force(np.linspace(0, 1, 6)[:, None], grid), 1e-3)):
        problem = pr.equations.Burgers(lambda x: u(0, x), NU, times, forcing, points=64, substeps=20)
        state, _ = pr.scorers.DirectSolve().solution(problem, (6, 64))
        assert np.abs(state - exact).max() < level
    constant = pr.equations.Burgers(np.zeros(64), NU, times, np.ones(16), points=64)
    state, _ = pr.scorers.DirectSolve().solution(constant, (6, 64))
    np.testing.assert_allclose(state, np.broadcast_to(times[:, None], (6, 64)), atol=1e-12)


def forced_errors(sample):
    """Errors for u = sin(x − t), forced by `sample(exact force, t, x, substep)`, over refinements in time."""
    force = lambda t, x: -np.cos(x - t) + NU * np.sin(x - t) + np.sin(x - t) * np.cos(x - t)  # noqa: E731
    errors, substeps = [], np.array([4, 16])
    for n in substeps:
        problem = pr.equations.Burgers(
            lambda x: np.sin(x), NU, [0.0, 1.0], lambda t, x, n=n: sample(force, t, x, 1 / n), points=32, substeps=n
        )
        state, _ = pr.scorers.DirectSolve().solution(problem, (2, 32))
        errors.append(np.abs(state[-1] - np.sin(problem.grid.axes[0] - 1)).max())
    return substeps, errors


def test_burgers_forced_order_is_four_and_a_held_force_loses_it():
    substeps, errors = forced_errors(lambda force, t, x, dt: force(t, x))
    assert abs(slope(1 / substeps, errors) - 4) < 0.2
    substeps, errors = forced_errors(lambda force, t, x, dt: force(np.floor(t / dt + 1e-9) * dt, x))
    assert slope(1 / substeps, errors) < 1.5


def test_burgers_length_is_respected():
    """Rescaling x ↦ 2x, u ↦ 2u, ν ↦ 4ν keeps the equation."""
    times = np.linspace(0, 1, 3)
    short = pr.equations.Burgers(lambda x: np.sin(x), 0.1, times, points=64)
    long = pr.equations.Burgers(lambda x: 2 * np.sin(x / 2), 0.4, times, points=64, length=4 * np.pi)
    a, b = (pr.scorers.DirectSolve().solution(p, (3, 64))[0] for p in (short, long))
    np.testing.assert_allclose(b, 2 * a, rtol=1e-9, atol=1e-12)


def test_burgers_row_defect_is_the_pde_defect():
    """(w_{n+1} − Φ(w_n)) / Δt tends to w_t − ν w_xx + w w_x − f as the rows get closer."""
    w = lambda t, x: np.sin(x) * np.exp(t)  # noqa: E731
    errors, steps = [], np.array([0.02, 0.01, 0.005])
    for dt in steps:
        problem = pr.equations.Burgers(np.zeros(32), NU, [0.5, 0.5 + dt], points=32)
        x = problem.grid.axes[0]
        rows = np.stack([w(0.5, x), w(0.5 + dt, x)])
        found = np.asarray(laws._defect(problem, jnp.asarray(rows)))[1] / dt
        middle = 0.5 + dt / 2
        exact = w(middle, x) + NU * w(middle, x) + w(middle, x) * np.cos(x) * np.exp(middle)
        errors.append(np.abs(found - exact).max())
    assert abs(slope(steps, errors) - 1) < 0.15
    assert errors[-1] < 0.02


def test_burgers_products_are_not_aliased():
    """On 96 points, 43 + 43 = 86 would fold onto mode 10; modes above the cut-off must not reach resolved ones."""
    problem = pr.equations.Burgers(np.zeros(96), 1e-9, [0.0, 1e-3], points=96, substeps=1)
    x = problem.grid.axes[0]
    rate = np.asarray(laws._defect(problem, jnp.asarray(np.stack([np.cos(43 * x)] * 2))))[1] / 1e-3
    assert abs(np.fft.rfft(rate)[10]) < 1e-6
    low = np.asarray(laws._defect(problem, jnp.asarray(np.stack([np.cos(5 * x)] * 2))))[1] / 1e-3
    assert abs(np.fft.rfft(low)[10] / 48) == pytest.approx(2.5, rel=1e-2)  # cos² 5x has its mode 10, with derivative


def test_burgers_names_substeps_that_work():
    build = lambda n: Burgers(lambda x: 2 * np.sin(x), 0.05, np.linspace(0, 1, 5), substeps=n)  # noqa: E731
    number = named_substeps(build)
    assert relative_error(build, number) < 1e-3
    assert number <= 30  # |u| k Δt = 2.8 with k = 128 and |u| = 2
    # A force speeds the flow up later; candidates that show it are named.
    forced = Burgers(lambda x: 0.1 * np.sin(x), 0.05, np.linspace(0, 1, 5), lambda t, x: 2 * np.cos(x) + 0 * t)
    faster = np.linspace(0.1, 2, 5)[:, None] * np.sin(forced.grid.axes[0])
    assert forced.concerns(faster) == ["its speeds need substeps=23: the flow is unstable around it"]
    assert forced.concerns(np.tile(faster[0], (5, 1))) == []


def test_coarsened_burgers_is_the_same_problem():
    fine = burgers(points=128)
    coarse = fine.coarsen(points=64)
    a, b = (pr.scorers.DirectSolve().solution(p, (6, p.points))[0] for p in (fine, coarse))
    np.testing.assert_allclose(pr.lifts.lift(b, (128,), "fourier"), a, atol=1e-5)


def test_an_infinite_number_of_substeps_is_refused_in_a_sentence():
    with pytest.raises(ValueError, match="unstable"):
        pr.equations.Burgers(np.full(8, 1e150), 1.0, [0.0, 1e200], points=8, substeps=4)
