"""External reference data, written by others: see `helpers.EXTERNAL` for where they are looked for."""

import exponax as ex
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.io

import physrank as pr
from helpers import EXTERNAL
from physrank.lab.references import pdebench


@pytest.fixture
def promotion():
    return "standard"  # exponax itself mixes real and complex


pytestmark = pytest.mark.skipif(
    not EXTERNAL.exists(), reason="external check NOT RUN: set PHYSRANK_EXTERNAL_DATA to the data folder"
)


def path(name):
    return EXTERNAL / name


def solve(problem, shape=None):
    state, failed = pr.scorers.DirectSolve().solution(problem, shape or problem.state_shape)
    assert failed is None
    return state


@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.slow)])
def test_pdebench_diffusion_reaction(seed):
    """The trapezoidal map reproduces PDEBench's trajectories to 1e-4 (rms), what their RK45 and the frame spacing allow."""
    file = pr.read(path(f"pdebench_diffreact/diffreact_seed000{seed}.npz"))
    frames, times = file.state(), file.coordinates["t"]
    assert file.fields["data"].dims == ("t", "channel", "x", "y")
    assert file.grid()["length"] == pytest.approx((2.0, 2.0))
    problem = pr.equations.DiffusionReaction(frames[9], times[9:])
    found = solve(problem)
    assert np.sqrt(np.mean((found - frames[9:]) ** 2, axis=(1, 2, 3))).max() < 1e-4
    assert np.abs(found[-1] - frames[-1]).max() < 1e-3
    # Our own generator, with PDEBench's tolerances, is PDEBench's to float32 rounding.
    assert np.abs(pdebench.diffusion_reaction(frames[0], times) - frames).max() < 1e-5
    frozen = np.broadcast_to(frames[9], frames[9:].shape)
    assert pr.residual_floor(problem, frames[9:], frozen) < 0.1


def test_raissi_burgers_shock():
    """ν = 0.01/π, u₀ = −sin πx on [−1, 1]: a front about 0.006 wide, resolved on 2,048 points."""
    data = scipy.io.loadmat(path("raissi_pinns/burgers_shock.mat"))
    x, t, u = data["x"].ravel(), data["t"].ravel(), data["usol"].T
    problem = pr.equations.Burgers(
        lambda s: -np.sin(np.pi * (s - 1)), 0.01 / np.pi, t, length=2.0, points=2048, substeps=24
    )
    found = solve(problem)
    at = np.array([np.interp(x + 1, np.append(problem.grid.axes[0], 2.0), np.append(row, row[0])) for row in found])
    assert np.abs(at - u).max() < 2e-3  # linear interpolation across the front; elsewhere far below
    assert np.sqrt(np.mean((at - u) ** 2)) < 1e-4


def test_raissi_allen_cahn():
    """u_t = 1e-4 u_xx + 5u − 5u³, periodic: an exponax stepper against the stored solution."""
    data = scipy.io.loadmat(path("raissi_pinns/AC.mat"))
    u = data["uu"].T[:, :]
    dt = float(np.diff(data["tt"].ravel())[0])
    with pr.double():
        step = ex.RepeatedStepper(
            ex.stepper.reaction.AllenCahn(
                1,
                2.0,
                512,
                dt / 20,
                diffusivity=1e-4,
                first_order_coefficient=5.0,
                third_order_coefficient=-5.0,
                order=4,
            ),
            20,
        )
        problem = pr.equations.ExponaxStepper(step, u[:1])
        found = solve(problem, (41, 1, 512))
    assert np.abs(found[:, 0] - u[:41]).max() < 1e-3


def test_raissi_kdv_through_exponax():
    """u_t + u u_x + 0.0025 u_xxx = 0 on [−1, 1], through the exponax door."""
    data = scipy.io.loadmat(path("raissi_pinns/KdV.mat"))
    u, t = data["uu"].T, data["tt"].ravel()
    dt = float(np.diff(t)[0])
    with pr.double():
        one = ex.stepper.generic.GeneralConvectionStepper(
            1, 2.0, 512, dt / 200, linear_coefficients=(0.0, 0.0, 0.0, -0.0025), convection_scale=1.0, order=4
        )
        problem = pr.equations.ExponaxStepper(ex.RepeatedStepper(one, 200), u[:1])
        found = solve(problem, (41, 1, 512))
    assert np.abs(found[:, 0] - u[:41]).max() < 1e-4
    assert pr.residual_floor(problem, np.asarray(u[:41, None])) < 1e-3


def test_neuraloperator_burgers():
    """u_t + u u_x = 0.01 u_xx on [0, 1), 16 points: stored to about 1e-4."""
    file = pr.read(path("neuraloperator/burgers_test_16.pt"), dims={"x": "sample,x", "y": "sample,time,x"})
    initial, rows = np.asarray(file.fields["x"]), [file.state(k, "y") for k in range(3)]
    times = 0.06 * np.arange(17)
    for k in range(3):
        problem = pr.equations.Burgers(initial[k], file.numbers["visc"], times, length=1.0, points=256, substeps=40)
        found = solve(problem)[:, ::16]
        assert np.abs(found - rows[k]).max() < 2e-3
        candidates = {"stored": rows[k], "late": np.roll(rows[k], 1, axis=0), "flat": np.zeros((17, 16))}
        assert pr.rank(problem, candidates, corrections=2).best == "stored"


def test_jax_is_in_double():
    assert jnp.ones(1).dtype == jnp.float64
