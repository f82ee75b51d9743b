"""Law 8 for compressible flow: Riemann problem, waves, vortex, viscosity, admissibility and stable substeps."""

import re

import jax.numpy as jnp
import numpy as np
import pytest

import physrank as pr
from exact import sod
from helpers import named_substeps, relative_error, solve
from laws import slope
from physrank.equations import CompressibleFlow, conservative, primitive
from problems import flow, shock_tube


def test_flow_converges_to_the_exact_riemann_solution():
    cells, errors = (100, 400), []
    for n in cells:
        problem, x = shock_tube(n)
        found = primitive(solve(problem), 1.4)[-1]
        errors.append(np.abs(found - sod(x, 0.2)).mean(axis=1))
    errors = np.array(errors)
    for channel in range(3):  # first order, limited by the contact: about h^{2/3} in L¹
        assert 0.5 < slope([1 / n for n in cells], errors[:, channel]) < 1.1
    assert np.all(errors[-1] < 0.03)


def test_flow_is_first_order_on_smooth_flow():
    """A density wave carried along at constant speed and pressure, exact after any time."""
    errors, cells = [], np.array([64, 256])
    for n in cells:
        x = (np.arange(n) + 0.5) / n
        wave = lambda t, x=x: np.stack([1 + 0.2 * np.sin(2 * np.pi * (x - 0.5 * t)), 0 * x + 0.5, 0 * x + 1])  # noqa: E731
        problem = CompressibleFlow(
            conservative(wave(0.0), 1.4), [0.0, 0.1], "periodic", gamma=1.4, substeps=int(n // 2)
        )
        errors.append(np.abs(primitive(solve(problem), 1.4)[-1] - wave(0.1)).max())
    assert abs(slope(1 / cells, errors) - 1) < 0.1
    assert errors[-1] < 5e-3


def test_flow_2d_isentropic_vortex():
    """The vortex is steady in its own frame: what moves it is the flow, what smears it is the scheme, at first order."""
    gamma, length, strength = 1.4, 10.0, 2.0
    errors, cells = [], (32, 64)
    for n in cells:
        x = (np.arange(n) + 0.5) * length / n - length / 2
        grid = np.meshgrid(x, x, indexing="ij")

        def vortex(shift, grid=grid):
            dx, dy = ((c - shift + length / 2) % length - length / 2 for c in grid)
            bump = strength / (2 * np.pi) * np.exp((1 - dx**2 - dy**2) / 2)
            temperature = 1 - (gamma - 1) / (2 * gamma) * bump**2
            density = temperature ** (1 / (gamma - 1))
            return np.stack([density, 1 - bump * dy, 1 + bump * dx, density * temperature])

        problem = CompressibleFlow(
            conservative(vortex(0.0), gamma), [0.0, 0.5], "periodic", gamma=gamma, length=length, substeps=n // 2
        )
        errors.append(np.abs(primitive(solve(problem), gamma)[-1] - vortex(0.5)).mean())
    assert 1.6 < errors[0] / errors[1] < 2.2
    assert errors[1] < 0.01


def test_flow_viscosity_damps_a_shear_wave():
    """v_t = η v_xx for a transverse wave of small amplitude: momentum diffuses at the kinematic rate η."""
    n, eta = 32, 0.05
    x = (np.arange(n) + 0.5) / n
    shear = 1e-4 * np.sin(2 * np.pi * x)[:, None] * np.ones(n)
    start = np.stack([np.ones((n, n)), 0 * shear, shear, np.full((n, n), 1e-2)])  # slow sound: little Rusanov smearing
    inviscid, viscous = (
        CompressibleFlow(conservative(start, 5 / 3), [0.0, 0.2], "periodic", shear=e, substeps=80) for e in (0.0, eta)
    )
    ratio = (
        primitive(solve(viscous), 5 / 3)[-1, 2, :, 0]
        @ shear[:, 0]
        / (primitive(solve(inviscid), 5 / 3)[-1, 2, :, 0] @ shear[:, 0])
    )
    discrete = 4 * n**2 * np.sin(np.pi / n) ** 2
    assert ratio == pytest.approx(np.exp(-eta * discrete * 0.2), rel=1e-3)


def test_flow_conserves_on_periodic_grids():
    problem = flow(2, 6)
    state = solve(problem)
    np.testing.assert_allclose(state.sum(axis=(2, 3)), np.broadcast_to(state[0].sum(axis=(1, 2)), (3, 4)), rtol=1e-12)


def test_flow_transforms_round_trip():
    random = np.random.default_rng(0)
    for shape in ((5, 3, 8), (4, 6, 6)):
        fields = random.uniform(0.5, 2, shape)
        np.testing.assert_allclose(primitive(conservative(fields, 1.4), 1.4), fields, rtol=1e-12)
    with pytest.raises(ValueError, match="3 channels before one space axis or 4 before two"):
        conservative(np.ones((5, 5)), 1.4)


def test_flow_difference_action_approaches_the_derivative():
    problem, _ = shock_tube(50)
    rows = solve(problem)
    candidates = {"a": rows * 1.01, "b": rows * 0.97}
    exact = pr.rank(problem, candidates, effort="response").state
    for step, level in ((1e-4, 1e-3), (1e-6, 1e-5)):
        approximate = pr.rank(shock_tube(50, difference=step)[0], candidates, effort="response").state
        assert 0 < np.abs(approximate - exact).max() < level


def test_flow_backtracking_keeps_states_admissible():
    """A correction into negative pressure is refused at full length and damped by backtracking."""
    problem, _ = shock_tube(60)
    rows = solve(problem)
    far = np.broadcast_to(rows[0], rows.shape)  # frozen predictions around a moving shock
    candidates = {"frozen": far, "mixed": 0.6 * far + 0.4 * rows}
    damped = pr.rank(problem, candidates, corrections=pr.Correction(backtrack=(0, 0.25, 0.5, 0.75, 1)))
    assert damped.unresolved is None
    assert bool(problem.admissible(jnp.asarray(damped.state)))
    assert damped.defect_reduction <= 1


def test_flow_refusals_and_reports():
    problem, _ = shock_tube(40)
    rows = solve(problem)
    bad = rows.copy()
    bad[3, 2, 10] = 1e-9  # energy below the kinetic part
    assert any("bad: pressure down to" in note for note in pr.rank(problem, {"good": rows, "bad": bad}).notes)
    start = np.asarray(problem.initial).copy()
    start[0, 3] = -1
    with pytest.raises(ValueError, match="initial has density down to -1"):
        CompressibleFlow(start, [0, 0.1], "outflow")
    with pytest.raises(ValueError, match=r"largest stable substep is .* Use substeps=\d+ or more"):
        CompressibleFlow(np.asarray(problem.initial), [0, 0.2], "outflow", gamma=1.4, substeps=2)
    with pytest.raises(ValueError, match='boundary must be "periodic" or "outflow"'):
        CompressibleFlow(np.asarray(problem.initial), [0, 0.2], "wall")
    with pytest.raises(ValueError, match=r"shape \(3, n\) or \(4, n, n\)"):
        CompressibleFlow(np.ones((5, 8)), [0, 0.2], "outflow")


def tube(substeps, times=np.linspace(0, 0.2, 9), **options):  # noqa: B008 - never changed
    x = (np.arange(64) + 0.5) / 64
    start = np.stack([np.where(x < 0.5, 1.0, 0.125), 0 * x, np.where(x < 0.5, 1.0, 0.1)])
    return CompressibleFlow(conservative(start, 1.4), times, "outflow", gamma=1.4, substeps=substeps, **options)


def test_flow_names_substeps_that_work():
    number = named_substeps(tube)
    assert relative_error(tube, number) < 0.05
    assert number <= 6  # not by asking for far too many: two are unstable


@pytest.mark.parametrize("shear, bulk", [(0.05, 0.0), (0.5, 0.25), (0.0, 0.3)])
def test_viscous_flow_names_substeps_that_work(shear, bulk):
    """Also where the density jumps: a light cell next to a heavy one takes up momentum through a heavy face."""
    build = lambda n: tube(n, np.linspace(0, 0.05, 3), shear=shear, bulk=bulk)  # noqa: E731
    number = named_substeps(build)
    assert number > 5 * named_substeps(tube)
    assert relative_error(build, number) < 0.05


def test_the_viscous_limit_is_sharp_in_uniform_gas():
    """Diffusion alone: SSPRK2 is stable up to Δt = h² / (2ν), ν = 4η/3 + ζ, halved in two dimensions."""
    for dims in (1, 2):
        rest = np.stack([np.ones((16,) * dims), *[np.zeros((16,) * dims)] * dims, np.full((16,) * dims, 1e-8)])
        build = lambda n, rest=rest: CompressibleFlow(  # noqa: E731
            conservative(rest, 1.4), [0.0, 0.1], "periodic", gamma=1.4, shear=0.3, bulk=0.1, substeps=n
        )
        assert named_substeps(build) == int(np.ceil(0.1 * 2 * dims * 0.5 * 16**2 + 1e-2))


def test_candidates_with_faster_waves_are_noted():
    problem = tube(4)
    rows = solve(problem)
    fast = rows.copy()
    fast[4, 2] *= 9  # three times the speed of sound
    notes = pr.rank(problem, {"calm": rows, "fast": fast}, allow_unresolved=True).notes
    assert any(re.match(r"fast: its waves need substeps=\d+: the flow is unstable around it", note) for note in notes)
    assert not any(note.startswith(("calm", "all")) for note in notes)


def test_flow_refuses_other_shapes_and_lengths():
    start = np.stack([np.ones((4, 6)), np.zeros((4, 6)), np.zeros((4, 6)), np.ones((4, 6))])
    with pytest.raises(ValueError, match=r"as many cells along every axis, shape \(4, n, n\); got \(4, 4, 6\)"):
        CompressibleFlow(start, [0, 0.01], "periodic")
    for length in (0.0, -1.0):
        with pytest.raises(ValueError, match="length must be positive"):
            CompressibleFlow(start[:, :, :4], [0, 0.01], "periodic", length=length)


def test_viscous_stress_is_four_thirds_shear_and_bulk_along_the_axis_and_shear_across():
    """Velocities (1, 1) against rest over one cell, with density 2."""
    left, right = np.zeros((2, 4, 1, 1))
    left[0] = right[0] = 2.0
    right[1:3] = 2.0
    problem = flow(2, 5)
    for axis, along in ((1, 0), (2, 1)):
        found = np.asarray(problem._viscous(*map(jnp.asarray, (left, right)), axis, jnp.asarray(0.3), jnp.asarray(0.5)))
        expected = 2 * np.where(np.arange(2) == along, 0.3 * 4 / 3 + 0.5, 0.3) / problem.spacing
        np.testing.assert_allclose(found[1:3, 0, 0], expected, rtol=1e-14)
        np.testing.assert_allclose(found[3, 0, 0], expected.sum() / 2, rtol=1e-14)  # its work, at the mean velocity
        assert found[0, 0, 0] == 0


def test_states_are_admissible_with_positive_density_and_pressure():
    problem = flow(1)
    state = np.asarray(problem.initial)[None].repeat(2, axis=0)
    assert bool(problem.admissible(jnp.asarray(state)))
    for channel, value in ((0, -1.0), (2, 1e-6)):  # no density; less energy than the motion alone has
        broken = state.copy()
        broken[1, 1, 3], broken[1, channel, 3] = 1.0, value
        assert not bool(problem.admissible(jnp.asarray(broken)))
