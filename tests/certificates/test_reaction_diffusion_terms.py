"""What the certificate of reaction–diffusion is made of, piece by piece, against the problem's own formulas."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import physrank as pr
from fields import candidates_around, random_problem
from helpers import with_state
from physrank.certificates import StronglyMonotone
from physrank.certificates.reaction_diffusion import EnclosedOperator, ValidatedReactionDiffusion, residual
from physrank.certificates.reaction_diffusion_data import UncertainData, faces
from physrank.physics.levels import altered

CASES = pytest.mark.parametrize("dims, points", [(1, 9), (2, 4)])


def inside(interval, values, width=1e-9):
    """Enclosed up to the round-off of the values that it is compared with, and narrow."""
    slack = width * (1 + np.abs(values).max())
    assert np.all((interval.low - slack <= values) & (values <= interval.high + slack))
    assert np.all(interval.high - interval.low <= slack)


@CASES
def test_the_enclosed_operator_is_the_problems(dims, points):
    """M_s = K + λ + ¾γ s² and A(s), at a state that is nowhere near zero."""
    problem, random = random_problem(0, dims, points), np.random.default_rng(1)
    state = np.pad(random.uniform(1, 3, (points,) * dims), 1)
    found, metric = EnclosedOperator(problem, state), problem.secant_metric(jnp.asarray(state))
    rows = random.standard_normal((3, *(points,) * dims))
    inside(found.metric(rows), np.asarray(jax.vmap(metric.apply)(jnp.asarray(rows))))
    inside(residual(problem, state), np.asarray(metric.residual))
    np.testing.assert_allclose(found.coercivity, float(metric.coercivity), rtol=1e-9)


@CASES
def test_coercivity_is_the_least_eigenvalue_where_that_is_known(dims, points):
    """Constant coefficients at rest: a Σ 4/h² sin²(π h/2) + λ; never above it elsewhere."""
    shape = (points + 2,) * dims
    plain = pr.equations.ReactionDiffusion(np.full(shape, 2.0), np.zeros(shape), 0.5, 1.0)
    for problem, state, sharp in ((plain, np.zeros(shape), True), (random_problem(3, dims, points), None, False)):
        state = np.pad(np.random.default_rng(0).uniform(0.5, 2, (points,) * dims), 1) if state is None else state
        metric = problem.secant_metric(jnp.asarray(state))
        size = points**dims
        columns = jax.vmap(lambda e, m=metric: m.apply(e.reshape((points,) * dims)).ravel())(jnp.eye(size))
        least = np.linalg.eigvalsh(np.asarray(columns))[0]
        found = EnclosedOperator(problem, state).coercivity
        assert found <= least * (1 + 1e-12)
        assert not sharp or found >= least * (1 - 1e-9)


@CASES
def test_faces_are_the_problems(dims, points):
    problem = random_problem(5, dims, points)
    for axis, face in enumerate(problem.operator.faces):
        inside(faces(np.asarray(problem.diffusion), axis), np.asarray(face), 1e-12)


def test_what_uncertain_data_do_to_a_defect():
    """R = h_λ |s| + h_γ |s|³ + h_f on every node, for a state of either sign; the smallest coefficients are lower by h."""
    problem = random_problem(2, 1, 9)
    state = np.pad(np.linspace(-2, 3, 9), 1)
    half = {"linear": 0.01, "cubic": 0.02, "forcing": np.full(11, 0.03), "diffusion": np.full(11, 1e-3)}
    found = UncertainData.of(problem, half, state)
    expected = 0.01 * np.abs(state) + 0.02 * np.abs(state) ** 3 + 0.03
    assert np.all(found.reach >= expected) and np.allclose(found.reach, expected, rtol=1e-12)
    for name in ("linear", "cubic", "diffusion"):
        np.testing.assert_allclose(getattr(found.smallest, name), getattr(problem, name) - half[name], rtol=1e-12)


def holding(found, words):
    return [a.holds for a in found.assumptions if words in a.statement]


def test_hypotheses_are_named_one_by_one():
    """A state that is not zero on the boundary; a reaction so negative that nothing is coercive."""
    problem = random_problem(4, 1, 9)
    ranking = pr.rank(problem, candidates_around(problem, 4), effort="response")
    lifted = with_state(ranking, ranking.state + 0.1)
    with pr.double():
        negative = altered(problem, linear=jnp.asarray(-1e6))
    for by in (ValidatedReactionDiffusion(), StronglyMonotone()):
        assert holding(by(problem, ranking), "boundary rows") == [True]
        assert holding(by(problem, lifted), "boundary rows") == [False]
        assert holding(by(problem, ranking), "the metric is coercive") == [True]
        assert holding(by(negative, ranking), "the metric is coercive") == [False]
        assert not np.any(pr.certify(negative, ranking, by=by).signs)


def test_tasks_must_be_linear():
    problem = random_problem(4, 1, 9)
    ranking = pr.rank(problem, candidates_around(problem, 4), effort="response")
    for task, linear in ((pr.tasks.linear(lambda s: 2 * s), True), (pr.tasks.nonlinear(lambda s: s**2), False)):
        assert holding(StronglyMonotone()(problem, ranking.rescore(task)), "the task is linear") == [linear]
