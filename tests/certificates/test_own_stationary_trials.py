"""No enclosed zero is false: systems with every elementary function up to the worst condition, zeros in many digits."""

import jax.numpy as jnp
import mpmath
import numpy as np
import pytest

import physrank as pr
from trials import SHARDS, Judged, false_claims, lane, mp, rivals, slow_trials

N = 4
PROBE = np.random.default_rng(0).integers(-8, 9, (3, N)).astype(float)


def system(x, data):
    linear, quadratic, bends, f = data
    bent = bends[0] * jnp.sin(x) + bends[1] * jnp.exp(x) * jnp.tanh(x) + bends[2] * jnp.log(2 + x**2)
    return linear @ x + jnp.einsum("ijk,j,k->i", quadratic, x, x) + bent + bends[3] * x**3 / jnp.sqrt(1 + x * x) - f


def sensors(x):
    return jnp.asarray(PROBE) @ x


def squares(x):
    return x**2


TASKS = {
    "field": (pr.tasks.field(), lambda z: z),
    "sensors": (
        pr.tasks.linear(sensors, name="sensors"),
        lambda z: [mpmath.fsum(mp(float(m)) * v for m, v in zip(row, z, strict=True)) for row in PROBE],
    ),
    "squares": (pr.tasks.nonlinear(squares, name="squares"), lambda z: [v**2 for v in z]),
}


def bends_and_slopes(x, bends):
    """The nonlinear part that is not quadratic, and its derivative."""
    root = mpmath.sqrt(1 + x * x)
    value = bends[0] * mpmath.sin(x) + bends[1] * mpmath.exp(x) * mpmath.tanh(x) + bends[2] * mpmath.log(2 + x**2)
    slope = bends[0] * mpmath.cos(x) + bends[1] * mpmath.exp(x) * (mpmath.tanh(x) + 1 - mpmath.tanh(x) ** 2)
    slope += bends[2] * 2 * x / (2 + x**2) + bends[3] * (3 * x**2 / root - x**4 / root**3)
    return value + bends[3] * x**3 / root, slope


def zero_in_many_digits(data, guess):
    linear, quadratic, bends, f = (np.vectorize(mp, otypes=[object])(part.astype(float)) for part in data)
    x = np.array([mp(float(v)) for v in guess], dtype=object)
    for _ in range(40):
        bent = [bends_and_slopes(v, bends) for v in x]
        residual = linear @ x + np.einsum("ijk,j,k->i", quadratic, x, x, optimize=False) - f
        residual = residual + np.array([b for b, _ in bent], dtype=object)
        matrix = linear + np.einsum("ijk,k->ij", quadratic, x) + np.einsum("ijk,j->ik", quadratic, x)
        matrix = matrix + np.diag([s for _, s in bent])
        step = mpmath.lu_solve(mpmath.matrix(matrix.tolist()), mpmath.matrix(residual.tolist()))
        x = x - np.array(list(step), dtype=object)
        if mpmath.norm(step) <= mp(10) ** -45 * (1 + max(abs(v) for v in x)):
            return list(x)
    return None


def trial(random):
    condition = 10.0 ** random.uniform(0, 15)
    left, right = (np.linalg.qr(random.standard_normal((N, N)))[0] for _ in range(2))
    strength = random.choice([0.0, 1e-12, 1e-3, 0.3])
    scale = 10.0 ** random.choice([-60.0, -5.0, 0.0, 5.0, 60.0]) if strength == 0 else 1.0
    linear = scale * left @ np.diag(np.geomspace(1, 1 / condition, N)) @ right
    quadratic, bends = strength * random.standard_normal((N, N, N)), strength * random.standard_normal(4)
    x = random.standard_normal(N)
    value = linear @ x + np.einsum("ijk,j,k->i", quadratic, x, x)
    f = value + np.array([float(bends_and_slopes(mp(float(v)), [mp(float(b)) for b in bends])[0]) for v in x])
    data = (linear, quadratic, bends, f)
    zero = zero_in_many_digits(data, x)
    if zero is None:
        return 0, 0
    problem = pr.Stationary(system, data, solver=pr.Dense())
    exact = np.array([float(z) for z in zero])
    state = exact + random.choice([0.0, 1e-14, 1e-9, 1e-4, 1e-2]) * random.standard_normal(N)
    state = state + random.choice([0.0, 1e-12, 1e-6]) * np.linalg.svd(linear)[2][-1]  # what round-off hides best
    task, seen = TASKS[random.choice(list(TASKS))]
    truth = seen(zero)
    ranking = Judged(problem, state, rivals(random, truth, task.outputs(state[None])[0]), task)
    certificate = pr.certify(problem, ranking)
    assert certificate.kind == "validated"
    if certificate.enclosure.zero is None:
        return 0, 0
    off = mpmath.sqrt(mpmath.fsum((z - mp(float(s))) ** 2 for z, s in zip(zero, state, strict=True)))
    if off > certificate.enclosure.state_bound:  # the zero that it is about may be another one
        return 0, int(off < certificate.enclosure.zero.alone)
    return false_claims(certificate, ranking.outputs, truth, np.ravel(ranking.space.weights))


def test_a_few_trials():
    decided, wrong = lane(trial, 40, 1)
    assert wrong == 0
    assert decided > 100  # not for want of certificates


@pytest.mark.slow
@pytest.mark.parametrize("shard", range(SHARDS))
def test_ten_thousand_trials(shard):
    assert lane(trial, slow_trials(), 100 + shard)[1] == 0
