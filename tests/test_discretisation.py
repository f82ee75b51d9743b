"""Law 8: the built-in equations against exact solutions they were not derived from; slope and level."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import physrank as pr
from laws import slope
from physrank.lab.inputs import ReactionDiffusionInput
from physrank.lab.references import chebyshev

NU, C = 0.1, 1.05


def cole_hopf(t, x):
    """u = −2ν φ_x / φ with φ = C + e^{−νt} cos x, an exact solution of u_t + u u_x = ν u_xx."""
    decay = np.exp(-NU * t)
    return 2 * NU * decay * np.sin(x) / (C + decay * np.cos(x))


def burgers_error(points, substeps):
    times = np.linspace(0, 2.0, 4)
    problem = pr.equations.Burgers(lambda x: cole_hopf(0.0, x), NU, times, points=points, substeps=substeps)
    state, failed = pr.scorers.DirectSolve().solution(problem, (4, points))
    assert failed is None
    return np.abs(state - cole_hopf(times[:, None], problem.grid.axes[0])).max()


def test_burgers_time_order_is_four():
    substeps = np.array([32, 48, 64, 96])
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
    errors, substeps = [], np.array([4, 8, 16])
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


# -- reaction–diffusion ------------------------------------------------------------------------------------------------


def manufactured(dims):
    """u = Π sin(πx), a = 1 + ½ cos(Σx); f by automatic differentiation of the strong form."""
    u = lambda x: jnp.prod(jnp.sin(jnp.pi * x)) * (1 + x[0])  # noqa: E731
    a = lambda x: 1 + 0.5 * jnp.cos(jnp.sum(x))  # noqa: E731
    linear, cubic = 0.9, 0.7

    def force(x):
        flux = lambda y: a(y) * jax.grad(u)(y)  # noqa: E731
        return -jnp.trace(jax.jacfwd(flux)(x)) + linear * u(x) + cubic * u(x) ** 3

    def on_nodes(function):
        def evaluate(*grid):
            points = jnp.stack([jnp.ravel(g) for g in grid], axis=1)
            return np.asarray(jax.vmap(function)(points)).reshape(np.shape(grid[0]))

        return evaluate

    return on_nodes(u), on_nodes(a), on_nodes(force), linear, cubic


def rd_error(dims, points, faulty=False):
    exact, a, force, linear, cubic = manufactured(dims)
    shifted = (lambda *x: a(*(c + 0.5 / (points + 1) for c in x))) if faulty else a
    problem = pr.equations.ReactionDiffusion(shifted, force, linear, cubic, points=points, dims=dims)
    state, failed = pr.scorers.DirectSolve().solution(problem, (points + 2,) * dims)
    assert failed is None
    nodes = np.meshgrid(*[np.linspace(0, 1, points + 2)] * dims, indexing="ij")
    return np.abs(state - exact(*nodes)).max()


@pytest.mark.parametrize("dims, points", [(1, (15, 31, 63)), (2, (11, 19, 31)), (3, (7, 11, 15))])
def test_reaction_diffusion_order_is_two(dims, points):
    errors = [rd_error(dims, n) for n in points]
    assert abs(slope([1 / (n + 1) for n in points], errors) - 2) < 0.1
    assert errors[0] < {1: 1e-2, 2: 2e-2, 3: 3e-2}[dims]


def test_misplaced_coefficients_lose_the_order():
    points = (11, 19, 31)
    errors = [rd_error(2, n, faulty=True) for n in points]
    assert slope([1 / (n + 1) for n in points], errors) < 1.5


def test_reaction_diffusion_agrees_with_an_independent_spectral_method():
    """The instrument's differences against Chebyshev collocation, on the inputs of the study."""
    for index, stratum in enumerate(("training", "frequency", "parameter", "combined")):
        case = ReactionDiffusionInput.sample("development", index, stratum)
        reference = chebyshev.solve(case, 28, rtol=1e-9)
        errors = []
        for points in (31, 63):
            problem = pr.equations.ReactionDiffusion(
                case.diffusion, case.forcing, case.linear, case.cubic, points=points
            )
            state, _ = pr.scorers.DirectSolve().solution(problem, (points + 2,) * 2)
            errors.append(np.abs(state - chebyshev.evaluate(reference, np.linspace(0, 1, points + 2))).max())
        assert 3.5 < errors[0] / errors[1] < 4.5
        assert errors[1] < 3e-3 * np.abs(reference).max()


def test_chebyshev_reference_on_a_manufactured_solution():
    case = ReactionDiffusionInput(np.zeros(8), np.zeros(9), 0.9, 0.7, "training")  # a = 1.25, f replaced below
    exact = lambda x, y: np.sin(np.pi * x) * np.sin(2 * np.pi * y)  # noqa: E731
    object.__setattr__(case, "forcing", lambda x, y: (1.25 * 5 * np.pi**2 + 0.9) * exact(x, y) + 0.7 * exact(x, y) ** 3)
    solution = chebyshev.solve(case, 24)
    x = np.linspace(0, 1, 33)
    grid = np.meshgrid(x, x, indexing="ij")
    np.testing.assert_allclose(chebyshev.evaluate(solution, x), exact(*grid), atol=1e-9)


# -- the paper's raw product norms (S6), written out by hand ------------------------------------------------------------


def test_raw_norms_are_the_papers():
    random = np.random.default_rng(0)
    times = np.array([0.0, 0.1, 0.3])
    problem = pr.equations.Burgers(np.zeros(8), 0.1, times, points=8)
    map_defect = random.standard_normal((3, 8))
    dx = 2 * np.pi / 8
    pde_defect = [map_defect[1] / 0.1, map_defect[2] / 0.2]
    expected = dx * np.sum(map_defect[0] ** 2) + dx * (
        0.1 * np.sum(pde_defect[0] ** 2) + 0.2 * np.sum(pde_defect[1] ** 2)
    )
    np.testing.assert_allclose(problem.residual_energy(jnp.asarray(map_defect)), expected, rtol=1e-13)
    field = pr.equations.ReactionDiffusion(np.ones((5, 5)), np.ones((5, 5)), 1.0, 1.0)
    r = random.standard_normal((5, 5))
    inner = r[1:-1, 1:-1]
    boundary = np.sum(r**2) - np.sum(inner**2)
    np.testing.assert_allclose(
        field.residual_energy(jnp.asarray(r)), 0.25 * boundary + 0.25**2 * np.sum(inner**2), rtol=1e-13
    )
    march = pr.Marching(lambda u: u, np.zeros(4))
    r = random.standard_normal((3, 4))
    np.testing.assert_allclose(march.residual_energy(jnp.asarray(r)), np.sum(r**2) / 4, rtol=1e-13)


def test_burgers_row_defect_is_the_pde_defect():
    """(w_{n+1} − Φ(w_n)) / Δt tends to w_t − ν w_xx + w w_x − f as the rows get closer."""
    w = lambda t, x: np.sin(x) * np.exp(t)  # noqa: E731
    errors, steps = [], np.array([0.02, 0.01, 0.005])
    for dt in steps:
        problem = pr.equations.Burgers(np.zeros(32), NU, [0.5, 0.5 + dt], points=32)
        x = problem.grid.axes[0]
        rows = np.stack([w(0.5, x), w(0.5 + dt, x)])
        found = np.asarray(problem.defect(jnp.asarray(rows)))[1] / dt
        middle = 0.5 + dt / 2
        exact = w(middle, x) + NU * w(middle, x) + w(middle, x) * np.cos(x) * np.exp(middle)
        errors.append(np.abs(found - exact).max())
    assert abs(slope(steps, errors) - 1) < 0.15
    assert errors[-1] < 0.02


def test_burgers_products_are_not_aliased():
    """On 96 points, 43 + 43 = 86 would fold onto mode 10; modes above the cut-off must not reach resolved ones."""
    problem = pr.equations.Burgers(np.zeros(96), 1e-9, [0.0, 1e-3], points=96, substeps=1)
    x = problem.grid.axes[0]
    rate = np.asarray(problem.defect(jnp.asarray(np.stack([np.cos(43 * x)] * 2))))[1] / 1e-3
    assert abs(np.fft.rfft(rate)[10]) < 1e-6
    low = np.asarray(problem.defect(jnp.asarray(np.stack([np.cos(5 * x)] * 2))))[1] / 1e-3
    assert abs(np.fft.rfft(low)[10] / 48) == pytest.approx(2.5, rel=1e-2)  # cos² 5x has its mode 10, with derivative
