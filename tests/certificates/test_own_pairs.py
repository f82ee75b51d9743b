"""What certificates of own problems share: derivatives over a box, gaps of any task, and what is refused beforehand."""

import equinox as eqx
import jax.numpy as jnp
import numpy as np
import pytest

import physrank as pr
from physrank.certificates import EnclosedZero
from physrank.certificates.enclosures.rounding import Interval
from physrank.certificates.own_pairs import Derivative, Pairs
from trials import Judged


def cubic(x, data):
    return x + data * x**3


def test_a_derivative_takes_data_as_stored_and_further_arguments():
    problem = pr.Stationary(cubic, np.array([1.0, 2.0]), solver=pr.Dense())
    found = Derivative(lambda p, x, more: p.defect(x) * more, problem, np.ones(2), 3.0)
    np.testing.assert_allclose(found.value(Interval.of(np.ones(2)), 3.0).middle, [6.0, 9.0])
    over = found.jacobian(Interval(np.zeros(2), np.ones(2)), 3.0)
    np.testing.assert_allclose(np.diag(over.low), [3, 3], atol=1e-12)
    np.testing.assert_allclose(np.diag(over.high), [12, 21], rtol=1e-12)
    assert over.low[0, 1] == over.high[0, 1] == 0  # what is zero stays zero


def square(x):
    return x**2


def test_gaps_of_a_nonlinear_task_hold_all_over_the_box():
    random = np.random.default_rng(0)
    problem = pr.Stationary(cubic, np.ones(3))
    state, outputs = random.standard_normal(3), random.standard_normal((3, 3))
    pairs = Pairs(Judged(problem, state, outputs, pr.tasks.nonlinear(square)))
    within = np.full(3, 0.1)
    c = pairs.covectors(Interval(state - within, state + within))
    reach = np.sum(c.magnitude * within, axis=1)
    gaps = pairs.gaps(Interval(-reach, reach))
    for _ in range(200):
        t = (state + random.uniform(-1, 1, 3) * within) ** 2
        losses = np.mean((outputs - t) ** 2, axis=1)
        true = losses[None] - losses[:, None]
        assert np.all(gaps.low <= true + 1e-14) and np.all(true <= gaps.high + 1e-14)
    assert np.all(gaps.high - gaps.low < 4)


@pytest.mark.parametrize(
    ("problem", "state", "said"),
    [
        (pr.Stationary(lambda x: x - 1, host=True), np.ones(2), "a black box"),
        (pr.Stationary(lambda x: x - 1j), np.ones(2) + 1j, "are real"),
        (pr.Stationary(lambda x: x - 1.0, shape=(3,)), np.ones(2), "problem's shape"),
    ],
)
def test_what_is_refused_beforehand(problem, state, said):
    ranking = Judged(problem, np.real(state), np.ones((2, 2)), pr.tasks.field())
    ranking.state = state
    found = EnclosedZero()(problem, ranking)
    assert any(said in str(a) for a in found.assumptions if not a.holds)
    assert not found.gaps.signs.any()


def test_arrays_of_a_callable_residual_are_data():
    class Scaled(eqx.Module):
        factor: jnp.ndarray

        def __call__(self, x):
            return self.factor * x - 1.0

    with pr.double():
        problem = pr.Stationary(Scaled(jnp.asarray(0.1)), solver=pr.Dense())
    library = {"a": np.array([10.0]), "b": np.array([10.5])}
    assert pr.certify(problem, pr.rank(problem, library)).best == "a"
