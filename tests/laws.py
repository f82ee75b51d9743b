"""The laws as checks that raise AssertionError, so that a sabotaged problem can be shown to break each one."""

from itertools import pairwise

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

import physrank as pr
from physrank.physics import Correction, capabilities, respond

_respond = eqx.filter_jit(respond)
_solve = eqx.filter_jit(lambda problem, guess: problem.solve(guess))
_defect = eqx.filter_jit(lambda problem, state: problem.defect(state))
_apply = eqx.filter_jit(lambda problem, at, h: problem.linearise(at)[1].apply(h))
_apply_adjoint = eqx.filter_jit(lambda problem, at, z: problem.linearise(at)[1].apply_adjoint(z))
_tangent_solve = eqx.filter_jit(lambda problem, at, r: problem.linearise(at)[1].solve(r))
_adjoint_solve = eqx.filter_jit(lambda problem, at, r: problem.linearise(at)[1].solve_adjoint(r))
_linearised_defect = eqx.filter_jit(lambda problem, at: problem.linearise(at)[0])
_jacobian = eqx.filter_jit(lambda problem, at: jax.jacfwd(problem.defect)(at))


@eqx.filter_jit
def _second_derivative(problem, at, h):
    return jax.jvp(lambda u: jax.jvp(problem.defect, (u,), (h,))[1], (at,), (h,))[1]


def slope(sizes, errors):
    return np.polyfit(np.log(sizes), np.log(errors), 1)[0]


def adjoint_identity(problem: pr.Problem, state, seed=0):
    """⟨L h, z⟩ = ⟨h, Lᵀ z⟩."""
    random = np.random.default_rng(seed)
    h, z = (jnp.asarray(random.standard_normal(state.shape)) for _ in range(2))
    pushed = _apply(problem, jnp.asarray(state), h)
    left, right = jnp.vdot(pushed, z), jnp.vdot(h, _apply_adjoint(problem, jnp.asarray(state), z))
    scale = jnp.linalg.norm(pushed) * jnp.linalg.norm(z)
    assert abs(left - right) <= 1e-13 * scale


def taylor_slope(problem: pr.Problem, state, seed=0, scale=1.0):
    """The remainder A(w + εh) − A(w) − ε L h is exactly second order: L is the derivative."""
    state = jnp.asarray(state)
    h = jnp.asarray(scale * np.random.default_rng(seed).standard_normal(state.shape))
    defect = _linearised_defect(problem, state)
    np.testing.assert_allclose(defect, _defect(problem, state), rtol=1e-12, atol=1e-13 * float(jnp.abs(defect).max()))
    push, sizes = _apply(problem, state, h), np.array([1e-1, 3e-2, 1e-2, 3e-3])
    errors = [float(jnp.linalg.norm(_defect(problem, state + e * h) - defect - e * push)) for e in sizes]
    assert abs(slope(sizes, errors) - 2) < 0.1, slope(sizes, errors)


def linear_is_exact(problem: pr.Problem, anchor):
    """A linear equation is solved by one response from any anchor."""
    truth = _solve(problem, jnp.zeros_like(anchor))
    assert bool(truth.converged)
    response = _respond(problem, jnp.asarray(anchor), Correction())
    assert bool(response.converged)
    np.testing.assert_allclose(response.state, truth.state, rtol=0, atol=1e-9 * float(jnp.abs(truth.state).max()))


def solution_is_fixed(problem: pr.Problem, like):
    """At the solution the response vanishes."""
    truth = _solve(problem, jnp.zeros_like(like))
    assert bool(truth.converged)
    response = _respond(problem, truth.state, Correction())
    assert bool(response.converged)
    assert float(jnp.abs(response.correction).max()) <= 1e-9 * float(jnp.abs(truth.state).max())


def quadratic_response(problem: pr.Problem, like, seed=0, order=2, correction=None, scale=1.0):
    """‖s − u_h‖ is of the stated order in ‖w − u_h‖; for order 2 its leading coefficient is that of theory."""
    correction = correction or Correction()
    truth = _solve(problem, jnp.zeros_like(like)).state
    direction = jnp.asarray(np.random.default_rng(seed).standard_normal(like.shape))
    direction = direction / jnp.linalg.norm(direction)
    sizes = scale * np.array([0.08, 0.04, 0.02, 0.01]) if order == 2 else np.array([0.2, 0.14, 0.1, 0.07])
    responses = [_respond(problem, truth - e * direction, correction) for e in sizes]
    assert all(bool(r.converged) for r in responses)
    errors = [float(jnp.linalg.norm(r.state - truth)) for r in responses]
    assert abs(slope(sizes, errors) - order) < 0.1, slope(sizes, errors)
    if order == 2:  # δ − e = L⁻¹ ½A''(e, e) + higher order
        leading = _tangent_solve(problem, truth, _second_derivative(problem, truth, direction) / 2).value
        assert abs(errors[-1] / (sizes[-1] ** 2 * float(jnp.linalg.norm(leading))) - 1) < 0.1


def matches_dense(problem: pr.Problem, state, seed=0):
    """Solves with L and Lᵀ agree with a dense factorisation of the true Jacobian; ℓ is the true L δ + A(w)."""
    state = jnp.asarray(state)
    jacobian = np.asarray(_jacobian(problem, state)).reshape(state.size, state.size)
    rhs = np.random.default_rng(seed).standard_normal(state.shape)
    for solve, matrix in ((_tangent_solve, jacobian), (_adjoint_solve, jacobian.T)):
        result = solve(problem, state, jnp.asarray(rhs))
        expected = np.linalg.solve(matrix, rhs.ravel())
        np.testing.assert_allclose(np.ravel(result.value), expected, rtol=0, atol=1e-8 * np.abs(expected).max())
        true_defect = matrix @ np.ravel(result.value) - rhs.ravel()
        scale = np.abs(matrix).sum(axis=1).max() * np.abs(expected).max()
        np.testing.assert_allclose(np.ravel(result.defect), true_defect, rtol=0, atol=1e-13 * scale)
    response = _respond(problem, state, Correction())
    true_ell = jacobian @ np.ravel(response.correction) + np.ravel(_defect(problem, state))
    scale = np.abs(jacobian).sum(axis=1).max() * np.abs(response.correction).max()
    np.testing.assert_allclose(np.ravel(response.algebraic_defect), true_ell, rtol=0, atol=1e-13 * scale)
    np.testing.assert_allclose(
        response.algebraic_norm, np.sqrt(problem.residual_energy(response.algebraic_defect)), rtol=1e-12
    )


_coarser = eqx.filter_jit(lambda problem, level: capabilities.coarser(problem, level))


def _lifted(problem, level, shape):
    """The solution `level` halvings down, on the problem's grid; coarsened, solved and lifted in one compiled program."""
    coarse = capabilities.coarser(problem, level)
    guess = jnp.zeros([n if n is not None else m for n, m in zip(coarse.state_shape, shape, strict=True)])
    return capabilities.raised(problem, coarse.solve(guess).state, shape)


def coarse_solutions_converge(problem: pr.Problem, shape, order, window=0.3):
    """‖u_2 − u_0‖ / ‖u_1 − u_0‖ = (4^p − 1) / (2^p − 1) = 2^p + 1 for a scheme of order p; a spectral one does better."""
    lifted = eqx.filter_jit(_lifted)
    fine = _solve(problem, jnp.zeros(shape)).state
    one, two = (float(jnp.linalg.norm(lifted(problem, level, shape) - fine)) for level in (1, 2))
    assert one <= 0.1 * float(jnp.linalg.norm(fine))
    if order is None:
        assert one <= 1e-8 * float(jnp.linalg.norm(fine)) or two / one > 2**4
    else:
        assert two > one and abs(np.log2(two / one - 1) - order) < window, np.log2(two / one - 1)


def levels_end(problem: pr.Problem):
    """Level 0 is the problem itself, grids shrink from level to level, and some level is the last."""
    assert capabilities.coarser(problem, 0) is problem
    shapes = []
    for level in range(1, 12):
        coarse = capabilities.coarser(problem, level)
        if coarse is None:
            break
        shapes.append(capabilities.grid(coarse).shape)
    assert shapes and coarse is None
    assert all(max(after) < min(before) for before, after in pairwise(shapes))
    assert min(min(shape) for shape in shapes) >= 8


def coarsening_can_be_compiled(problem: pr.Problem, level=1):
    """Coarsened inside a compiled program it is the same problem: numbers to round-off, everything else exactly."""
    traced, plain = _coarser(problem, level), capabilities.coarser(problem, level)
    arrays, fixed = zip(*(eqx.partition(p, eqx.is_array) for p in (traced, plain)), strict=True)
    assert eqx.tree_equal(*fixed)
    for a, b in zip(*(jax.tree.leaves(tree) for tree in arrays), strict=True):
        assert a.dtype == b.dtype and a.shape == b.shape
        np.testing.assert_allclose(a, b, rtol=0, atol=1e-13 * max(float(jnp.abs(b).max()), 1.0))
