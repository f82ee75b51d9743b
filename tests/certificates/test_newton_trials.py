"""No local enclosure is false: linear, quadratic and cubic systems up to the worst condition, zeros in many digits."""

from dataclasses import replace

import jax.numpy as jnp
import mpmath
import numpy as np

import physrank as pr
from digits import polished
from physrank.certificates import LocalNewton
from trials import Judged, Verdict, distance, judged, lane, mp, rivals, uneven

N = 4
PROBE = np.random.default_rng(0).standard_normal((3, N))


def system(x, data):
    linear, quadratic, cubic, f = data
    return linear @ x + jnp.einsum("ijk,j,k->i", quadratic, x, x) + cubic * x**3 - f


def sensors(x):
    return jnp.asarray(PROBE) @ x


TASKS = (pr.tasks.field(), pr.tasks.linear(sensors, name="sensors"))


def zero_in_many_digits(data, guess):
    linear, quadratic, cubic, _ = data
    many = [np.vectorize(mp, otypes=[object])(part.astype(float)) for part in data]
    bent = quadratic.any()

    def residual(x):
        x = np.array(x, dtype=object)
        found = many[0] @ x + many[2] * x**3 - many[3]
        return list(found + np.einsum("ijk,j,k->i", many[1], x, x, optimize=False) if bent else found)

    def jacobian(x):
        return (
            linear
            + np.einsum("ijk,k->ij", quadratic, x)
            + np.einsum("ijk,j->ik", quadratic, x)
            + np.diag(3 * cubic * x**2)
        )

    return polished(residual, jacobian, guess)


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
        return Verdict()
    problem = pr.Stationary(system, data, solver=pr.Dense())
    exact = np.array([float(z) for z in zero])
    base = exact + random.choice([0.0, 1e-12, 1e-6, 1e-2]) * random.standard_normal(N)
    state = exact + random.choice([0.0, 1e-14, 1e-9]) * random.standard_normal(N)
    # Along the direction that round-off hides best, too.
    state = state + random.choice([0.0, 1e-12, 1e-6]) * np.linalg.svd(linear)[2][-1]
    task = TASKS[random.integers(2)]
    matrix = np.eye(N) if task is TASKS[0] else PROBE
    truth = [mpmath.fsum(mp(float(m)) * z for m, z in zip(row, zero, strict=True)) for row in matrix]
    if (metric := uneven(random, (len(matrix),))) is not None:
        task = replace(task, metric=metric)
    ranking = Judged(problem, state, rivals(random, truth, task.outputs(state[None])[0]), task, base)
    certificate = pr.certify(problem, ranking, by=LocalNewton(degree=degree))
    assert certificate.kind == "theorem"
    if certificate.enclosure.zero is not None:  # the zero that it is about may be another one
        far = distance(zero, base)
        if far > certificate.enclosure.zero.within:
            return Verdict().claiming(far >= certificate.enclosure.zero.alone)
    found = judged(certificate, ranking.outputs, truth, np.ravel(ranking.space.weights))
    return found.claiming(certificate.enclosure.state_bound >= distance(zero, state))


def test_a_few_trials():
    found = lane(trial, 20, 1)
    assert found.false == 0
    assert found.decided > 30  # not for want of certificates
