"""No certificate by a metric is false where it compares something else than whole fields: contrasts up to 1e12."""

import jax.numpy as jnp
import mpmath
import numpy as np
import pytest

import physrank as pr
from certificates_line import POINTS, draw, zero_in_many_digits
from trials import SHARDS, Judged, false_claims, lane, mp, rivals, slow_trials

PROBE = np.random.default_rng(0).integers(-2, 3, (4, POINTS + 2)).astype(float)


def sensors(u):
    return jnp.asarray(PROBE) @ u


def inside(u):
    return u[1:-1]


TASKS = (
    (pr.tasks.linear(sensors, name="sensors"), PROBE),
    (pr.tasks.linear(inside, name="inside"), np.eye(POINTS + 2)[1:-1]),
)


def trial(random):
    problem = draw(random, contrast=10.0 ** random.uniform(0, 12))
    zero = zero_in_many_digits(problem, np.zeros(POINTS))
    exact = np.array([float(z) for z in zero])
    size = np.abs(exact).max() * random.choice([0.0, 0.0, 1e-15, 1e-10, 1e-3])
    state = exact + np.pad(size * random.standard_normal(POINTS), 1)
    task, matrix = TASKS[random.integers(2)]
    truth = [mpmath.fsum(mp(float(m)) * z for m, z in zip(row, zero, strict=True)) for row in matrix]
    ranking = Judged(problem, state, rivals(random, truth, task.outputs(state[None])[0]), task)
    by = random.choice([None, pr.certificates.StronglyMonotone()])
    certificate = pr.certify(problem, ranking, by=by)
    assert certificate.kind == "theorem"
    return false_claims(certificate, ranking.outputs, truth, np.ravel(ranking.space.weights))


def test_a_few_trials():
    decided, wrong = lane(trial, 60, 1)
    assert wrong == 0
    assert decided > 100  # not for want of certificates


@pytest.mark.slow
@pytest.mark.parametrize("shard", range(SHARDS))
def test_ten_thousand_trials(shard):
    assert lane(trial, slow_trials(), 100 + shard)[1] == 0
