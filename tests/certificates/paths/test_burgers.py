"""Each part of the Burgers bound is needed: without it, the bound is exceeded."""

import itertools
from dataclasses import replace

import equinox as eqx
import jax.numpy as jnp
import mpmath
import numpy as np

import physrank as pr
from burgers_flows import GRID, NU, POINTS, TIMES, fine, norm, problem_of
from physrank.certificates.paths.burgers import measure, reconstruct


def test_without_growth_the_bound_is_wrong():
    """An error in a steepening front grows as e^{∫ ½ |u_x|}; a bound that forgets it is exceeded."""
    viscosity = 0.004
    front = lambda x: -1.2 * np.sin(x)  # noqa: E731
    bump = 1e-4 * np.exp(-((np.mod(GRID + np.pi, 2 * np.pi) - np.pi) ** 2) / 0.05)
    problem = problem_of(lambda t, x: front(x), viscosity=viscosity)
    perturbed = eqx.tree_at(lambda p: p.initial, problem, jnp.asarray(front(GRID) + bump))
    truth, state = (pr.scorers.DirectSolve().solution(p, p.state_shape)[0] for p in (problem, perturbed))
    measures = measure(reconstruct(problem, state))
    error = norm(state[-1] - truth[-1])
    assert error <= measures.radius() <= 2 * error
    assert replace(measures, growth=0 * measures.growth).radius() < 0.8 * error


def test_without_the_truncated_modes_the_bound_is_wrong():
    """A front that outgrows the band limit: the equation is solved among the modes kept, and not among the others."""
    front = lambda t, x: -1.5 * np.sin(x)  # noqa: E731
    coarse = problem_of(front, viscosity=0.02)
    dense = pr.equations.Burgers(lambda x: front(0, x), 0.02, TIMES, points=768, substeps=16)
    state, truth = (pr.scorers.DirectSolve().solution(p, p.state_shape)[0] for p in (coarse, dense))
    error, measures = norm(fine(state[-1]) - fine(truth[-1])), measure(reconstruct(coarse, state))
    assert error <= measures.radius() <= 2 * error
    assert replace(measures, truncation=0 * measures.truncation).radius() < 0.1 * error


def test_half_a_mismatch_is_not_enough():
    """Rows that drift by a constant: each jump is the whole error it causes."""
    state = np.broadcast_to(1e-3 * np.arange(9.0)[:, None], (9, POINTS))
    measures = measure(reconstruct(problem_of(lambda t, x: 0 * x), state))
    np.testing.assert_allclose(measures.radius(), norm(state[-1]), rtol=1e-12)
    assert replace(measures, jumps=measures.jumps / 2).radius() < 0.6 * norm(state[-1])


def test_half_a_residual_is_not_enough():
    """u = t⁵/5 under f = t⁴: the quintic of a substep errs by Simpson's rule, always to the same side.

    Its residual is then ε · 30 θ² (1 − θ)² / h, whose mean square exceeds its mean by √(10/7).
    """
    problem = pr.equations.Burgers(np.zeros(POINTS), NU, TIMES, lambda t, x: 1e3 * t**4 + 0 * x, points=POINTS)
    state, _ = pr.scorers.DirectSolve().solution(problem, problem.state_shape)
    error, measures = norm(state[-1] - 1e3 * TIMES[-1] ** 5 / 5), measure(reconstruct(problem, state))
    np.testing.assert_allclose(measures.radius(), np.sqrt(10 / 7) * error, rtol=1e-3)
    assert replace(measures, residual=measures.residual / 2).radius() < error


def test_the_round_off_of_a_residual_that_cancels():
    """A steady wave whose force is ν k² c, rounded: the computed residual vanishes, the exact one is that rounding."""
    times = np.array([0.0, 1.0])
    for viscosity, size in itertools.product((0.1, 0.3, 0.7), (1e-3, 3e-3, 7e-3)):
        problem = pr.equations.Burgers(np.zeros(4), viscosity, times, points=4, length=3.0, substeps=4)
        path = reconstruct(problem, np.zeros((2, 4)))
        pieces, force = (np.zeros(np.shape(x), complex) for x in (path.pieces, path.force))
        pieces[..., 1] = size
        force[..., 1] = (2 * np.pi / 3.0 * 1.0) ** 2 * viscosity * size
        path = eqx.tree_at(lambda p: (p.pieces, p.force), path, (pieces, force))
        with mpmath.workdps(40):
            wave = 2 * mpmath.pi / mpmath.mpf(3)
            left = mpmath.mpf(viscosity) * wave**2 * mpmath.mpf(size) - mpmath.mpf(float(force[0, 0, 1].real))
            exact = abs(left) * mpmath.sqrt(6) / 4  # √(2L), and h
        assert exact > 0
        assert np.all(measure(path).residual >= float(exact))
