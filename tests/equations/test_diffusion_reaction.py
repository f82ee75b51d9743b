"""Law 8 for diffusion–reaction: linear modes, conservation, few iterations, and what it refuses."""

import jax.numpy as jnp
import numpy as np
import pytest
import scipy.linalg

import physrank as pr
from helpers import solve
from laws import slope
from physrank import compute
from physrank.equations import DiffusionReaction
from problems import diffusion_reaction


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


def test_diffusion_reaction_refuses_long_steps_and_no_length():
    start = np.zeros((2, 4, 4))
    with pytest.raises(ValueError, match=r"times are up to 2\.5 apart; expected less than 2"):
        DiffusionReaction(start, [0.0, 0.1, 2.6])
    DiffusionReaction(start, [0.0, 1.9])
    with pytest.raises(ValueError, match="length must be positive"):
        DiffusionReaction(start, [0.0, 0.1], length=0)


def _further(problem, state):
    """The next correction to two digits a step, and to the end; with the defect that was met on the way."""
    defect, movement = problem.refine(state, state)
    return defect, movement, problem.correct(state)[1].value


@pytest.mark.parametrize("interval, diffusion, error", [(0.05, (1e-3, 5e-3), 0.02), (0.2, (2e-2, 1e-3), 0.1)])
def test_how_far_a_further_correction_would_move_it_is_known_to_two_digits(interval, diffusion, error):
    """Steps are solved to two digits each, and many of them must not add up to more: this is what doubts rely on."""
    random, rows = np.random.default_rng(0), 25
    problem = DiffusionReaction(random.standard_normal((2, 32, 32)), interval * np.arange(rows), diffusion=diffusion)
    state = solve(problem) * (1 + error * random.standard_normal((rows, 2, 32, 32)))
    defect, rough, whole = compute.run(_further, problem, state)
    np.testing.assert_allclose(defect, np.asarray(problem.defect(state)), atol=1e-12)
    assert np.linalg.norm(rough - whole) <= 1e-2 * np.linalg.norm(whole)
    assert np.linalg.norm(rough[-1] - whole[-1]) <= 1e-2 * np.linalg.norm(whole[-1])
