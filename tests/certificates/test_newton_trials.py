"""No local enclosure is false: linear, quadratic and cubic systems up to the worst condition, zeros in many digits."""

import jax.numpy as jnp
import mpmath
import numpy as np
import pytest

import physrank as pr
from physrank.certificates import LocalNewton
from trials import SHARDS, Judged, false_claims, lane, mp, rivals, slow_trials

N = 4
PROBE = np.random.default_rng(0).standard_normal((3, N))


def system(x, data):
    linear, quadratic, cubic, f = data
    return linear @ x + jnp.einsum("ijk,j,k->i", quadratic, x, x) + cubic * x**3 - f


def sensors(x):
    return jnp.asarray(PROBE) @ x


TASKS = (pr.tasks.field(), pr.tasks.linear(sensors, name="sensors"))


def zero_in_many_digits(data, guess):
    linear, quadratic, cubic, f = (np.vectorize(mp, otypes=[object])(part.astype(float)) for part in data)
    x = np.array([mp(float(v)) for v in guess], dtype=object)
    for _ in range(30):
        residual = linear @ x + np.einsum("ijk,j,k->i", quadratic, x, x, optimize=False) + cubic * x**3 - f
        matrix = linear + np.einsum("ijk,k->ij", quadratic, x) + np.einsum("ijk,j->ik", quadratic, x)
        matrix = matrix + np.diag(3 * cubic * x**2)
        step = mpmath.lu_solve(mpmath.matrix(matrix.tolist()), mpmath.matrix(residual.tolist()))
        x = x - np.array(list(step), dtype=object)
        if mpmath.norm(step) <= mp(10) ** -45 * (1 + max(abs(v) for v in x)):
            return list(x)
    return None


def trial(random):
    degree, condition = int(random.integers(1, 4)), 10.0 ** random.uniform(0, 15)
    left, right = (np.linalg.qr(random.standard_normal((N, N)))[0] for _ in range(2))
    scale = 10.0 ** random.choice([-60.0, -5.0, 0.0, 5.0, 60.0]) if degree == 1 else 1.0
    linear = scale * left @ np.diag(np.geomspace(1, 1 / condition, N)) @ right
    strength = random.choice([1e-12, 1e-3, 0.1])
    quadratic = strength * random.standard_normal((N, N, N)) * (degree > 1)
    cubic = strength * random.standard_normal(N) * (degree > 2)
    x = random.standard_normal(N)
    f = linear @ x + np.einsum("ijk,j,k->i", quadratic, x, x) + cubic * x**3
    data = (linear, quadratic, cubic, f)
    zero = zero_in_many_digits(data, x)
    if zero is None:
        return 0, 0
    problem = pr.Stationary(system, data, solver=pr.Dense())
    exact = np.array([float(z) for z in zero])
    base = exact + random.choice([0.0, 1e-12, 1e-6, 1e-2]) * random.standard_normal(N)
    state = exact + random.choice([0.0, 1e-14, 1e-9]) * random.standard_normal(N)
    # Along the direction that round-off hides best, too.
    state = state + random.choice([0.0, 1e-12, 1e-6]) * np.linalg.svd(linear)[2][-1]
    task = TASKS[random.integers(2)]
    matrix = np.eye(N) if task is TASKS[0] else PROBE
    truth = [mpmath.fsum(mp(float(m)) * z for m, z in zip(row, zero, strict=True)) for row in matrix]
    ranking = Judged(problem, state, rivals(random, truth, task.outputs(state[None])[0]), task, base)
    certificate = pr.certify(problem, ranking, by=LocalNewton(degree=degree))
    assert certificate.kind == "theorem"
    if certificate.enclosure.zero is not None:  # the zero that it is about may be another one
        far = mpmath.sqrt(mpmath.fsum((z - mp(float(b))) ** 2 for z, b in zip(zero, base, strict=True)))
        if far > certificate.enclosure.zero.within:
            return 0, int(far < certificate.enclosure.zero.alone)
    decided, wrong = false_claims(certificate, ranking.outputs, truth, np.ravel(ranking.space.weights))
    off = mpmath.sqrt(mpmath.fsum((z - mp(float(s))) ** 2 for z, s in zip(zero, state, strict=True)))
    return decided, wrong + (certificate.enclosure.state_bound < off)


def test_a_few_trials():
    decided, wrong = lane(trial, 60, 1)
    assert wrong == 0
    assert decided > 100  # not for want of certificates


@pytest.mark.slow
@pytest.mark.parametrize("shard", range(SHARDS))
def test_ten_thousand_trials(shard):
    assert lane(trial, slow_trials(), 100 + shard)[1] == 0
