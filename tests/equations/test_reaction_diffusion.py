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
