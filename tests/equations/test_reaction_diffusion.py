"""Law 8 for reaction–diffusion: manufactured solutions, slope and level; coarser grids of the same box."""

from functools import cache

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import physrank as pr
from laws import slope
from physrank import scorers


@cache
def manufactured():
    """u = Π sin(πx), a = 1 + ½ cos(Σx); f by automatic differentiation of the strong form."""
    u = lambda x: jnp.prod(jnp.sin(jnp.pi * x)) * (1 + x[0])  # noqa: E731
    a = lambda x: 1 + 0.5 * jnp.cos(jnp.sum(x))  # noqa: E731
    linear, cubic = 0.9, 0.7

    def force(x):
        flux = lambda y: a(y) * jax.grad(u)(y)  # noqa: E731
        return -jnp.trace(jax.jacfwd(flux)(x)) + linear * u(x) + cubic * u(x) ** 3

    def on_nodes(function):
        at_points = jax.jit(jax.vmap(function))

        def evaluate(*grid):
            points = np.stack([np.ravel(g) for g in grid], axis=1)
            return np.asarray(at_points(points)).reshape(np.shape(grid[0]))

        return evaluate

    return on_nodes(u), on_nodes(a), on_nodes(force), linear, cubic


def rd_error(dims, points, faulty=False):
    exact, a, force, linear, cubic = manufactured()
    shifted = (lambda *x: a(*(c + 0.5 / (points + 1) for c in x))) if faulty else a
    problem = pr.equations.ReactionDiffusion(shifted, force, linear, cubic, points=points, dims=dims)
    state, failed = pr.scorers.DirectSolve().solution(problem, (points + 2,) * dims)
    assert failed is None
    nodes = np.meshgrid(*[np.linspace(0, 1, points + 2)] * dims, indexing="ij")
    return np.abs(state - exact(*nodes)).max()


@pytest.mark.parametrize("dims, points", [(1, (15, 63)), (2, (11, 31)), (3, (7, 15))])
def test_reaction_diffusion_order_is_two(dims, points):
    errors = [rd_error(dims, n) for n in points]
    assert abs(slope([1 / (n + 1) for n in points], errors) - 2) < 0.1
    assert errors[0] < {1: 1e-2, 2: 2e-2, 3: 3e-2}[dims]


def test_misplaced_coefficients_lose_the_order():
    points = (11, 31)
    errors = [rd_error(2, n, faulty=True) for n in points]
    assert slope([1 / (n + 1) for n in points], errors) < 1.5


def test_coarsening_keeps_the_box():
    """A 1 × 2 box stays a 1 × 2 box; a grid that cannot is refused."""
    box = pr.equations.ReactionDiffusion(np.ones((34, 67)), np.ones((34, 67)), 0.5, 0.0)
    fine, coarse = (scorers.DirectSolve(points=p).solution(box, (34, 67))[0] for p in (None, 10))
    assert box.coarsen(points=10).state_shape == (12, 23)
    assert np.abs(fine - coarse).max() < 0.02 * np.abs(fine).max()
    with pytest.raises(ValueError, match="expected whole numbers"):
        pr.equations.ReactionDiffusion(np.ones((9, 12)), np.ones((9, 12)), 0.5, 0.0).coarsen(points=4)


def test_a_jump_on_a_node_is_of_first_order_and_settles_nothing_wrong():
    """A layered rod, exact: where the jump lies is known to half a spacing, and pairs closer than that are left open."""
    rod, line, points = pr.certificates.Pieces(((0.5,),), (1.0, 50.0)), 0.5, 31
    problem = pr.equations.ReactionDiffusion(rod, lambda x: 3 + 0 * x, 0.0, 0.0, points=points, dims=1)
    x = problem.grid.axes[0]
    flux = 1.5 * (line**2 + (1 - line**2) / 50) / (line + (1 - line) / 50)
    left = lambda z: flux * z - 1.5 * z**2  # noqa: E731
    exact = np.where(x <= line, left(x), left(line) + (flux * (x - line) - 1.5 * (x**2 - line**2)) / 50)
    settled = 0
    for seed in (1, 2, 3, 4):
        random = np.random.default_rng(seed)
        waves = [sum(random.normal() * np.sin(np.pi * k * x) / k for k in range(1, 5)) for _ in range(8)]
        candidates = {f"m{k}": exact + 0.004 * (1 + 0.2 * k) * wave for k, wave in enumerate(waves)}
        ranking = pr.rank(problem, candidates)
        losses = np.array([np.sum((v - exact) ** 2) for v in candidates.values()])
        wrong = np.sign(np.subtract.outer(ranking.scores, ranking.scores)) != np.sign(np.subtract.outer(losses, losses))
        assert not np.any(wrong & ranking.settled_pairs)
        settled += int(np.triu(ranking.settled_pairs, 1).sum())
    assert settled > 30
    assert problem.order == 1


@pytest.mark.parametrize("field", ["diffusion", "forcing"])
def test_the_order_is_two_but_where_data_jump(field):
    smooth = {"diffusion": lambda x, y: 2 + np.sin(3 * x) * y, "forcing": lambda x, y: np.sin(9 * x) * np.cos(5 * y)}
    made = lambda data: pr.equations.ReactionDiffusion(**data, linear=0.5, cubic=0.8, points=63)  # noqa: E731
    assert made(smooth).order == made(smooth | {field: lambda x, y: 3 + 0 * x}).order == 2
    assert made(smooth | {field: lambda x, y: 3 + (np.abs(y - 0.5) < 0.2) * (x > 0.4)}).order == 1
