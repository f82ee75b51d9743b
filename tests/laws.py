"""The laws as checks that raise AssertionError, so that a sabotaged problem can be shown to break each one.

A problem is compiled in four programs, not in one for every question: compilation is what laws cost.
"""

from itertools import pairwise

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

import physrank as pr
from physrank import compute
from physrank.physics import Correction, capabilities, respond


def _defect_of(problem, state):
    return problem.defect(state)


def _energy_of(problem, defect):
    return problem.residual_energy(defect)


def _solution_of(problem, guess):
    return problem.solve(guess)


def _pushed(problem, at, h, z):
    """A(at), the same by linearising, L h, Lᵀ z and A''(h, h)."""
    defect, tangent = problem.linearise(at)
    if compute.on_host(problem):
        sides = (problem.linearise(at + sign * 1e-3 * h)[1].apply(h) for sign in (1, -1))
        second = np.subtract(*sides) / 2e-3
    else:
        second = jax.jvp(lambda u: jax.jvp(problem.defect, (u,), (h,))[1], (at,), (h,))[1]
    return problem.defect(at), defect, tangent.apply(h), tangent.apply_adjoint(z), second


def _solved(problem, at, rhs):
    """Solves with L and Lᵀ, the fused correction, and the Jacobian itself."""
    tangent = problem.linearise(at)[1]
    jacobian = _by_columns(problem, at) if compute.on_host(problem) else jax.jacfwd(problem.defect)(at)
    return tangent.solve(rhs), tangent.solve_adjoint(rhs), capabilities.correct(problem, at), jacobian


def _by_columns(problem, at):
    """The Jacobian from the defect alone: central differences, Richardson-extrapolated."""
    units = np.eye(at.size).reshape(-1, *at.shape)
    rates = [
        [np.ravel(problem.defect(at + e * u) - problem.defect(at - e * u)) / (2 * e) for u in units]
        for e in (2e-3, 1e-3)
    ]
    return ((4 * np.array(rates[1]) - np.array(rates[0])) / 3).T


def _defect(problem, state):
    return compute.run(_defect_of, problem, np.asarray(state))


def _solve(problem, guess):
    return compute.run(_solution_of, problem, np.asarray(guess))


def _respond(problem, anchor, correction):
    return compute.run(respond, problem, np.asarray(anchor), correction)


def slope(sizes, errors):
    return np.polyfit(np.log(sizes), np.log(errors), 1)[0]


def adjoint_identity(problem: pr.Problem, state, seed=0, accuracy=1e-13):
    """⟨L h, z⟩ = ⟨h, Lᵀ z⟩."""
    h, z = np.random.default_rng(seed).standard_normal((2, *state.shape))
    _, _, pushed, pulled, _ = compute.run(_pushed, problem, state, h, z)
    assert abs(np.vdot(pushed, z) - np.vdot(h, pulled)) <= accuracy * np.linalg.norm(pushed) * np.linalg.norm(z)


def taylor_slope(problem: pr.Problem, state, seed=0, scale=1.0):
    """The remainder A(w + εh) − A(w) − ε L h is exactly second order: L is the derivative."""
    h = scale * np.random.default_rng(seed).standard_normal(state.shape)
    plain, defect, push, _, _ = compute.run(_pushed, problem, state, h, h)
    np.testing.assert_allclose(defect, plain, rtol=1e-12, atol=1e-13 * np.abs(defect).max())
    sizes = np.array([1e-1, 3e-2, 1e-2, 3e-3])
    moved = [compute.run(_pushed, problem, state + e * h, h, h)[0] for e in sizes]
    errors = [np.linalg.norm(m - defect - e * push) for m, e in zip(moved, sizes, strict=True)]
    assert abs(slope(sizes, errors) - 2) < 0.1, slope(sizes, errors)


def linear_is_exact(problem: pr.Problem, anchor):
    """A linear equation is solved by one response from any anchor."""
    truth = _solve(problem, np.zeros_like(anchor))
    assert truth.converged
    response = _respond(problem, anchor, Correction())
    assert response.converged
    np.testing.assert_allclose(response.state, truth.state, rtol=0, atol=1e-9 * np.abs(truth.state).max())


def solution_is_fixed(problem: pr.Problem, like):
    """At the solution the response vanishes."""
    truth = _solve(problem, np.zeros_like(like))
    assert truth.converged
    response = _respond(problem, truth.state, Correction())
    assert response.converged
    assert np.abs(response.correction).max() <= 1e-9 * np.abs(truth.state).max()


def quadratic_response(problem: pr.Problem, like, seed=0, order=2, correction=None, scale=1.0):
    """‖s − u_h‖ is of the stated order in ‖w − u_h‖; for order 2 its leading coefficient is that of theory."""
    correction = correction or Correction()
    truth = _solve(problem, np.zeros_like(like)).state
    direction = np.random.default_rng(seed).standard_normal(like.shape)
    direction = direction / np.linalg.norm(direction)
    sizes = scale * np.array([0.08, 0.04, 0.02, 0.01]) if order == 2 else np.array([0.2, 0.14, 0.1, 0.07])
    responses = [_respond(problem, truth - e * direction, correction) for e in sizes]
    assert all(r.converged for r in responses)
    errors = [np.linalg.norm(r.state - truth) for r in responses]
    assert abs(slope(sizes, errors) - order) < 0.1, slope(sizes, errors)
    if order == 2:  # δ − e = L⁻¹ ½A''(e, e) + higher order
        second = compute.run(_pushed, problem, truth, direction, direction)[4]
        leading = compute.run(_solved, problem, truth, second / 2)[0].value
        assert abs(errors[-1] / (sizes[-1] ** 2 * np.linalg.norm(leading)) - 1) < 0.1


def response_error_is_exact(problem: pr.Problem, like, seed=0, scale=1.0, accuracy=1e-7):
    """δ − e = L⁻¹[ℓ + R(e)] for finite e and a response solved badly on purpose: an identity, no expansion."""
    truth = _solve(problem, np.zeros_like(like)).state
    random = np.random.default_rng(seed)
    error, noise = (0.1 * scale * h / np.abs(h).max() for h in random.standard_normal((2, *like.shape)))
    anchor = truth - error
    correction = _respond(problem, anchor, Correction()).correction + 0.1 * noise
    plain, _, of_error, *_ = compute.run(_pushed, problem, anchor, error, error)
    of_response = compute.run(_pushed, problem, anchor, correction, correction)[2]
    zero = compute.run(_pushed, problem, truth, error, error)[0]
    algebraic, beyond = of_response + plain, zero - plain - of_error
    expected = compute.run(_solved, problem, anchor, algebraic + beyond)[0].value
    off = np.linalg.norm(correction - error - expected)
    assert off <= accuracy * np.linalg.norm(correction - error), off / np.linalg.norm(correction - error)


def fused_equals_plain(problem: pr.Problem, state, accuracy=1e-9):
    """`correct` gives the defect and the solve that linearising first and solving then give."""
    plain = compute.run(_pushed, problem, state, state, state)[1]
    solve, _, (defect, fused), _ = compute.run(_solved, problem, state, -plain)
    np.testing.assert_allclose(defect, plain, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(fused.value, solve.value, rtol=accuracy, atol=accuracy / 10)


def matches_dense(problem: pr.Problem, state, seed=0, accuracy=1e-13):
    """Solves with L and Lᵀ agree with a dense factorisation of the true Jacobian; ℓ is the true L δ + A(w)."""
    rhs = np.random.default_rng(seed).standard_normal(state.shape)
    *solves, _, jacobian = compute.run(_solved, problem, state, rhs)
    jacobian = jacobian.reshape(state.size, state.size)
    for result, matrix in zip(solves, (jacobian, jacobian.T), strict=True):
        expected = np.linalg.solve(matrix, rhs.ravel())
        np.testing.assert_allclose(
            result.value.ravel(), expected, rtol=0, atol=max(1e-8, accuracy) * np.abs(expected).max()
        )
        true_defect = matrix @ result.value.ravel() - rhs.ravel()
        scale = np.abs(matrix).sum(axis=1).max() * np.abs(expected).max()
        np.testing.assert_allclose(result.defect.ravel(), true_defect, rtol=0, atol=accuracy * scale)
    response = _respond(problem, state, Correction())
    defect = compute.run(_pushed, problem, state, rhs, rhs)[0]
    true_ell = jacobian @ response.correction.ravel() + defect.ravel()
    scale = np.abs(jacobian).sum(axis=1).max() * np.abs(response.correction).max()
    np.testing.assert_allclose(response.algebraic_defect.ravel(), true_ell, rtol=0, atol=accuracy * scale)
    energy = compute.run(_energy_of, problem, response.algebraic_defect)
    np.testing.assert_allclose(response.algebraic_norm, np.sqrt(energy), rtol=1e-12)


_coarser = eqx.filter_jit(lambda problem, level: capabilities.coarser(problem, level))


def _lifted(problem, level, shape):
    """The solution `level` halvings down, on the problem's grid; coarsened, solved and lifted in one compiled program."""
    coarse = capabilities.coarser(problem, level)
    guess = jnp.zeros([n if n is not None else m for n, m in zip(coarse.state_shape, shape, strict=True)])
    return capabilities.raised(problem, coarse.solve(guess).state, shape)


def coarse_solutions_converge(problem: pr.Problem, shape, order, window=0.3):
    """‖u_2 − u_0‖ / ‖u_1 − u_0‖ = (4^p − 1) / (2^p − 1) = 2^p + 1 for a scheme of order p; a spectral one does better."""
    lifted = eqx.filter_jit(_lifted)
    fine = eqx.filter_jit(lambda p: p.solve(jnp.zeros(shape)))(problem).state
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
