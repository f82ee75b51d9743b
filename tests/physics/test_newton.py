"""Damped Newton: what it says of itself, on equations of one unknown whose every step is known."""

import jax.numpy as jnp
import numpy as np
import pytest

import physrank as pr
from physrank.physics.newton import damped_newton


def solved(residual, guess, **options):
    problem = pr.Stationary(residual, solver=pr.Dense())
    return damped_newton(problem.linearise, problem.defect, jnp.asarray([guess]), **options)


@pytest.mark.parametrize("off, digits", [(1e-2, 4), (1e-3, 6), (1e-4, 8)])
def test_a_solve_that_was_cut_short_does_not_count(off, digits):
    """x² = 2 from √2 + e: a step leaves a defect of about e², far above round-off, and no rule but that says enough."""
    square = lambda x: x**2 - 2  # noqa: E731
    short = solved(square, np.sqrt(2) + off, max_steps=1)
    assert 0.1 * 10.0**-digits < abs(float(square(short.state)[0])) < 10 * 10.0**-digits
    assert not bool(short.converged)
    whole = solved(square, np.sqrt(2) + off)
    assert bool(whole.converged)
    np.testing.assert_allclose(whole.state, np.sqrt(2), rtol=1e-15)


def test_a_guess_at_the_solution_counts_whatever_round_off_left():
    assert bool(solved(lambda x: x**2 - 2, np.sqrt(2)).converged)


def test_steps_that_are_too_long_are_halved():
    """arctan x = 0 from 3: whole steps swing out ever farther."""
    found = solved(jnp.arctan, 3.0)
    assert bool(found.converged)
    assert abs(float(found.state[0])) < 1e-10


def test_where_nothing_improves_it_stays_and_says_so():
    """x² + 1 has no zero, and from nearly its minimum no step makes it smaller."""
    found = solved(lambda x: x**2 + 1, 1e-3)
    assert float(found.state[0]) == 1e-3
    assert int(found.iterations) == 1
    assert not bool(found.converged)


def test_a_defect_that_is_no_number_is_not_small():
    assert not bool(solved(lambda x: 1 / x, 0.0).converged)
    assert not bool(solved(jnp.sqrt, -1.0).converged)
