"""Linear solvers at their edges."""

import jax.numpy as jnp
import numpy as np
import pytest

import physrank as pr
from physrank import compute


def solve(solver, rhs):
    return solver.solve(lambda x: 2 * x + jnp.roll(x, 1), rhs, jnp.zeros(()), None, jnp.ones_like(rhs))


@pytest.mark.parametrize(
    "solver", [pr.Dense(), *(pr.Krylov(method) for method in ("cg", "gmres", "bicgstab"))], ids=str
)
def test_nothing_is_solved_by_nothing(solver):
    """Also from a guess that is something."""
    found = compute.run(solve, solver, np.zeros(6))
    assert found.solved and not found.value.any()


def test_uncertain_data_with_candidates_that_are_alike():
    """Their difference is zero, and so is what uncertain data can do to it."""
    rng = np.random.default_rng(0)
    problem = pr.equations.DiffusionReaction(rng.standard_normal((2, 6, 6)), 0.05 * np.arange(3))
    state = np.tile(np.asarray(problem.initial), (3, 1, 1, 1))
    doubt = pr.rank(problem, {"a": state, "same": state, "b": 1.1 * state}, uncertainty={"diffusion": 0.1}).uncertainty
    assert np.isfinite(doubt).all() and doubt[0, 2] > doubt[0, 1] >= 0
