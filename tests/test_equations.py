"""Law 8 for Sine–Gordon, diffusion–reaction, compressible flow and exponax: exact solutions, slope and level."""

import exponax as ex
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.linalg
from scipy.optimize import brentq

import laws
import physrank as pr
from laws import slope
from physrank.equations import CompressibleFlow, DiffusionReaction, ExponaxStepper, SineGordon, conservative, primitive
from problems import diffusion_reaction, flow


def solve(problem):
    state, failed = pr.scorers.DirectSolve().solution(problem, problem.state_shape)
    assert failed is None
    return state


# -- Sine–Gordon -------------------------------------------------------------------------------------------------------


def breather(t, x, omega=0.6):
    """The standing breather and its time derivative, on the line; its tails vanish on a long interval."""
    eta = np.sqrt(1 - omega**2)
    ratio = eta / omega * np.cos(omega * t) / np.cosh(eta * x)
    rate = -eta * np.sin(omega * t) / np.cosh(eta * x)
    return 4 * np.arctan(ratio), 4 * rate / (1 + ratio**2)


def kinks(t, x, speed=0.4):
    """A kink and an antikink far apart, moving together: periodic up to e^{-30}."""
    gamma = 1 / np.sqrt(1 - speed**2)

    def one(centre):
        z = np.exp(gamma * (x - centre - speed * t))
        return 4 * np.arctan(z), -4 * speed * gamma * z / (1 + z**2)

    (u1, v1), (u2, v2) = one(-20.0), one(20.0)
    return u1 - u2, v1 - v2


@pytest.mark.parametrize("exact, length", [(breather, 60.0), (kinks, 80.0)], ids=["breather", "kinks"])
def test_sine_gordon_order_is_two(exact, length):
    times, points = np.linspace(0, 2.0, 5), 512
    shift = lambda x: x - length / 2  # noqa: E731
    errors, substeps = [], np.array([12, 18, 27, 40])
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


# -- diffusion–reaction ------------------------------------------------------------------------------------------------


def test_diffusion_reaction_linear_modes():
    """Around the uniform steady state every cosine mode follows a 2 × 2 matrix exponential; trapezoid is second order."""
    n, diffusion, k = 16, (0.02, 0.05), 5e-3
    rest = -np.cbrt(k)
    spacing, mode = 2 / n, 3
    mu = 4 / spacing**2 * np.sin(np.pi * mode / (2 * n)) ** 2  # the discrete Laplacian's own eigenvalue
    matrix = np.array([[1 - 3 * rest**2 - diffusion[0] * mu, -1], [1, -1 - diffusion[1] * mu]])
    shape = np.cos(np.pi * mode * (np.arange(n) + 0.5) / n)[:, None] * np.ones(n)
    start = 1e-6 * np.array([1.0, 0.5])
    errors, steps = [], np.array([4, 8, 16])
    for count in steps:
        initial = rest + start[:, None, None] * shape
        problem = DiffusionReaction(initial, np.linspace(0, 1, count + 1), diffusion=diffusion, threshold=k)
        expected = rest + (scipy.linalg.expm(matrix) @ start)[:, None, None] * shape
        errors.append(np.abs(solve(problem)[-1] - expected).max() / 1e-6)
    assert abs(slope(1 / steps, errors) - 2) < 0.1
    assert errors[-1] < 1e-2


def test_diffusion_reaction_conserves_without_reaction():
    """Walls let nothing through: the sum of the Laplacian is zero, and the one-neighbour rows are the generator's."""
    problem = diffusion_reaction(5)
    field = np.random.default_rng(0).standard_normal((5, 5))
    still = jnp.asarray(np.stack([0 * field, field]))
    row = problem.trapezoid(still, still, (problem.diffusion, problem.threshold), jnp.asarray(0.1))
    laplacian = (np.asarray(row)[1] / -0.1 + field) / 0.05  # row = −Δt (D_v Δv − v)
    assert abs(laplacian.sum()) < 1e-10
    h2 = problem.spacing**2
    assert laplacian[0, 0] == pytest.approx((field[0, 1] + field[1, 0] - 2 * field[0, 0]) / h2)
    assert laplacian[0, 2] == pytest.approx((field[0, 1] + field[0, 3] + field[1, 2] - 3 * field[0, 2]) / h2)


def test_diffusion_reaction_preconditioner_keeps_iterations_few_at_working_size():
    random = np.random.default_rng(0)
    problem = DiffusionReaction(random.standard_normal((2, 64, 64)), np.linspace(0, 0.15, 4))
    states = {k: np.broadcast_to(np.asarray(problem.initial), (4, 2, 64, 64)) * f for k, f in (("a", 1.0), ("b", 0.9))}
    ranking = pr.rank(problem, states)
    assert ranking.unresolved is None
    assert int(ranking.response.iterations) <= 3 * 8


def test_diffusion_reaction_refusals():
    with pytest.raises(ValueError, match="two square fields"):
        DiffusionReaction(np.zeros((2, 4, 5)), [0, 1])
    with pytest.raises(ValueError, match="diffusion must be positive"):
        DiffusionReaction(np.zeros((2, 4, 4)), [0, 1], diffusion=(0.0, 1.0))


def test_implicit_newton_fails_closed():
    """A step without a solution is reported, not returned as an ordinary trajectory."""
    hopeless = pr.Marching(lambda after, now: after**2 + 1.0 + 0 * now, np.zeros(2), implicit=True)
    scores = pr.scorers.DirectSolve()(hopeless, {"a": np.zeros((3, 2)), "b": np.ones((3, 2))})
    assert "did not converge" in scores.unresolved


# -- compressible flow -------------------------------------------------------------------------------------------------


def sod(x, t, gamma=1.4):
    """The exact solution of Sod's problem (left 1, 0, 1; right 0.125, 0, 0.1; diaphragm at 0.5)."""
    rl, pl, rr, pr_ = 1.0, 1.0, 0.125, 0.1
    cl, cr, g = np.sqrt(gamma * pl / rl), np.sqrt(gamma * pr_ / rr), gamma

    def right(p):
        return (p - pr_) * np.sqrt(2 / ((g + 1) * rr) / (p + (g - 1) / (g + 1) * pr_))

    def left(p):
        return 2 * cl / (g - 1) * (1 - (p / pl) ** ((g - 1) / (2 * g)))

    p = brentq(lambda q: left(q) - right(q), 1e-6, 1.0)
    u = left(p)
    r1 = rl * (p / pl) ** (1 / g)
    r2 = rr * (p / pr_ + (g - 1) / (g + 1)) / ((g - 1) / (g + 1) * p / pr_ + 1)
    shock = cr * np.sqrt((g + 1) / (2 * g) * p / pr_ + (g - 1) / (2 * g))
    c1 = cl - (g - 1) / 2 * u
    s = (x - 0.5) / t
    fan_u = 2 / (g + 1) * (cl + s)
    fan_c = np.maximum(cl - (g - 1) / 2 * fan_u, 0.0)  # outside the fan it is not used
    pieces = [s < -cl, s < u - c1, s < u, s < shock]
    density = np.select(pieces, [rl, rl * (fan_c / cl) ** (2 / (g - 1)), r1, r2], rr)
    velocity = np.select(pieces, [0, fan_u, u, u], 0.0)
    pressure = np.select(pieces, [pl, pl * (fan_c / cl) ** (2 * g / (g - 1)), p, p], pr_)
    return np.stack([density, velocity, pressure])


def shock_tube(cells, **options):
    x = (np.arange(cells) + 0.5) / cells
    start = np.stack([np.where(x < 0.5, 1.0, 0.125), 0 * x, np.where(x < 0.5, 1.0, 0.1)])
    return CompressibleFlow(
        conservative(start, 1.4), np.linspace(0, 0.2, 11), "outflow", gamma=1.4, substeps=cells // 10, **options
    ), x


def test_flow_converges_to_the_exact_riemann_solution():
    cells, errors = (100, 200, 400), []
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
    errors, cells = [], np.array([64, 128, 256])
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
    exact = pr.rank(problem, candidates).state
    for step, level in ((1e-4, 1e-3), (1e-6, 1e-5)):
        approximate = pr.rank(shock_tube(50, difference=step)[0], candidates).state
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


# -- exponax -----------------------------------------------------------------------------------------------------------


def _steppers():
    with pr.double():
        grid = np.asarray(ex.make_grid(1, 20.0, 64))
        plane = np.asarray(ex.make_grid(2, 2 * np.pi, 16))
        return {
            "KdV": (ex.stepper.KortewegDeVries(1, 20.0, 64, 0.005), np.exp(-((grid - 10) ** 2))),
            "Kuramoto–Sivashinsky": (ex.stepper.KuramotoSivashinsky(1, 20.0, 64, 0.05), np.cos(2 * np.pi * grid / 20)),
            "Navier–Stokes": (
                ex.stepper.NavierStokesVorticity(2, 2 * np.pi, 16, 0.02, diffusivity=0.05),
                np.sin(plane[:1]) * np.cos(2 * plane[1:]),
            ),
        }


@pytest.mark.parametrize("name", ["KdV", "Kuramoto–Sivashinsky", "Navier–Stokes"])
def test_any_exponax_stepper_is_a_physics(name):
    stepper, initial = _steppers()[name]
    problem = ExponaxStepper(stepper, initial)
    rows = [initial]
    for _ in range(6):
        rows.append(np.asarray(stepper(jnp.asarray(rows[-1]))))
    truth = np.stack(rows)  # by exponax itself
    ramp = np.linspace(0, 1, 7).reshape(-1, *[1] * initial.ndim)
    candidates = {
        "far": truth * (1 + 0.2 * ramp),
        "near": truth * (1 + 0.05 * ramp),
        "shifted": np.roll(truth, 1, -1) * ramp + truth * (1 - ramp),
    }
    ranking = pr.rank(problem, candidates)
    true = [ranking.space.norm(v[-1] - truth[-1]) for v in candidates.values()]
    assert ranking.order == [ranking.names[i] for i in np.argsort(true)]
    assert ranking.residual_floor(truth) < 1e-10
    np.testing.assert_allclose(laws._defect(problem, jnp.asarray(truth)), 0, atol=1e-12)


def test_exponax_door_refuses_other_things():
    stepper, initial = _steppers()["KdV"]
    with pytest.raises(ValueError, match="Expected an exponax stepper"):
        ExponaxStepper(lambda u: u, initial)
    with pytest.raises(ValueError, match=r"expects \(channels, \*space\) = \(1, 64\)"):
        ExponaxStepper(stepper, initial[0])


# -- resolution --------------------------------------------------------------------------------------------------------


def test_under_resolved_fields_warn_and_are_noted():
    zigzag = np.array([1.0, -1.0] * 16)
    for build in (
        lambda u: pr.equations.Burgers(u, 0.1, [0.0, 0.1], points=32),
        lambda u: SineGordon(u, np.zeros(32), [0.0, 0.1], points=32),
    ):
        with pytest.warns(pr.equations.UnderResolvedWarning, match="initial is under-resolved"):
            build(zigzag)
        smooth = build(np.sin(np.arange(32) * 2 * np.pi / 32))  # no warning: warnings are errors here
        rows = np.broadcast_to(np.asarray(smooth.initial), smooth.state_shape)
        ranking = pr.rank(smooth, {"rough": rows + 0.2 * zigzag, "smooth": rows})
        assert any(note == "rough: under-resolved on this grid" for note in ranking.notes)


# -- residual floors ---------------------------------------------------------------------------------------------------


def test_residual_floor_measures_operator_mismatch():
    """A reference by another discretisation does not solve ours: its defect, relative to the anchor's, is the floor."""
    problem, x = shock_tube(100)
    own = solve(problem)
    exact = np.stack([own[0], *(conservative(sod(x, t), 1.4) for t in np.linspace(0, 0.2, 11)[1:])])
    ranking = pr.rank(problem, {"a": own * 1.05, "b": np.broadcast_to(own[0], own.shape)}, allow_unresolved=True)
    assert ranking.residual_floor(own) < 1e-10
    assert 0.01 < ranking.residual_floor(exact) < 1
    assert pr.residual_floor(problem, exact) > pr.residual_floor(problem, own)
