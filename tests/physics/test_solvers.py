"""Linear solvers at their edges."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import physrank as pr
from physrank import compute
from physrank.physics.solvers import ROUGH, judged, norm, row_scales


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


def _roughly(power, rhs):
    """Two digits of a diagonal system, preconditioned by the entries of its inverse to some power, in places with a sign."""
    sizes = jnp.linspace(1, 9, rhs.size)
    solver, inverse = pr.Krylov("bicgstab"), jnp.sign(power) / sizes ** jnp.abs(power)
    return solver.solve_roughly(lambda x: sizes * x, rhs, jnp.zeros(()), lambda r: inverse * r, 3 * jnp.ones_like(rhs))


@pytest.mark.parametrize("power, steps", [(1.0001, 1), (1.005, 2), (0.3, None), (-1.5, None)])
def test_two_digits_are_a_step_or_two_with_a_good_preconditioner_and_an_iteration_with_any_other(power, steps):
    """What a step left is measured: a preconditioner that is far from an inverse, or leads away, is not believed."""
    rhs = np.random.default_rng(0).standard_normal(12)
    found = compute.run(_roughly, np.asarray(power), rhs)
    assert found.solved and (int(found.iterations) == steps if steps else int(found.iterations) > 2)
    assert np.linalg.norm(found.defect) <= ROUGH * np.linalg.norm(rhs)
    np.testing.assert_allclose(found.defect, np.linspace(1, 9, 12) * found.value - rhs, atol=1e-13)


def test_in_a_batch_each_has_its_two_digits():
    """Whom one step served keeps it, while others go on."""
    rhs = np.random.default_rng(1).standard_normal((2, 12))
    with compute.double():
        found = jax.vmap(_roughly)(jnp.asarray([1.0001, 0.3]), jnp.asarray(rhs))
    assert found.solved.all() and int(found.iterations[0]) == 1 and int(found.iterations[1]) > 2
