"""Linear solvers at their edges."""

import jax.numpy as jnp
import numpy as np
import pytest

import physrank as pr
from physrank import compute
from physrank.physics.solvers import judged, norm, row_scales


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


@pytest.mark.parametrize("left, solved", [(1e-9, True), (1e-7, False), (0.1, False)])
def test_a_system_counts_as_solved_to_eight_digits(left, solved):
    rhs = np.array([3.0, -4.0])
    assert bool(judged(np.ones(2), left * rhs, rhs, 1, np.zeros(())).solved) is solved
    assert bool(judged(np.ones(2), left * rhs, rhs, 1, np.asarray(1.0)).solved)  # or if it is all round-off


def test_rows_are_judged_alike_and_numbers_must_be_finite():
    """A row of a million hides that a row of one is not solved at all, unless rows are scaled."""
    rhs, defect = np.array([1e9, 1.0]), np.array([0.0, 1.0])
    assert bool(judged(np.ones(2), defect, rhs, 1, np.zeros(())).solved)
    assert not bool(judged(np.ones(2), defect, rhs, 1, np.zeros(()), np.array([1e-9, 1.0])).solved)
    assert not bool(judged(np.array([np.inf, 1.0]), 0 * defect, rhs, 1, np.zeros(())).solved)


def test_rows_of_very_different_size_are_scaled_and_others_are_not():
    sizes = jnp.asarray([1.0, 2.0, 1e5])
    np.testing.assert_allclose(row_scales(lambda x: sizes * x, jnp.zeros(3)), 1 / sizes, rtol=1e-12)
    np.testing.assert_array_equal(row_scales(lambda x: sizes[:2] * x, jnp.zeros(2)), 1.0)


def test_norms_of_very_small_and_very_large_numbers():
    for size in (1e-300, 1.0, 1e300):
        assert float(norm(np.full(4, size))) == pytest.approx(2 * size, rel=1e-15)
    assert float(norm(np.zeros(4))) == 0


@pytest.mark.parametrize("method", ["cg", "gmres", "bicgstab"])
def test_iterations_go_on_until_the_stated_tolerance(method):
    """What is left is below it; a thousand times as much would be noticed."""
    diagonal = jnp.linspace(1.0, 30.0, 40)
    solver = pr.Krylov(method, rtol=1e-7, restart=40)
    found = solver.solve(lambda x: diagonal * x, jnp.ones(40), jnp.zeros(()))
    assert float(norm(found.defect)) <= 2e-7 * float(norm(jnp.ones(40)))
