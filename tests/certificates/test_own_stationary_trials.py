"""No enclosed zero is false: systems with every elementary function up to the worst condition, zeros in many digits."""

from dataclasses import replace

import jax.numpy as jnp
import mpmath
import numpy as np

import physrank as pr
from digits import polished
from trials import Judged, Verdict, distance, judged, lane, mp, rivals, uneven

N = 4
PROBE = np.random.default_rng(0).integers(-8, 9, (3, N)).astype(float)


def waves(x, data):
    linear, bends, f = data
    return linear @ x + bends[0] * jnp.sin(x) + bends[1] * x**3 / jnp.sqrt(1 + x * x) - f


def growth(x, data):
    linear, bends, f = data
    return linear @ x + bends[0] * jnp.exp(x) * jnp.tanh(x) + bends[1] * x * jnp.roll(x, 1) - f


def logarithms(x, data):
    linear, bends, f = data
    return linear @ x + bends[0] * jnp.log(2 + x**2) + bends[1] * jnp.cos(x) / (3 + x) - f


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


def _waves(x):
    root = mpmath.sqrt(1 + x * x)
    return (mpmath.sin(x), x**3 / root), (mpmath.cos(x), 3 * x**2 / root - x**4 / root**3)


def _growth(x):
    e, t = mpmath.exp(x), mpmath.tanh(x)
    return (e * t, 0), (e * (t + 1 - t**2), 0)


def _logarithms(x):
    c, d = mpmath.cos(x), 3 + x
    return (mpmath.log(2 + x**2), c / d), (2 * x / (2 + x**2), -mpmath.sin(x) / d - c / d**2)


SYSTEMS = (
    (waves, _waves),
    (growth, _growth),
    (logarithms, _logarithms),
)  # and what bends it, with slopes, in many digits


def bent(which, bends, x):
    """The nonlinear part, and its matrix in doubles."""
    parts, slopes = zip(*(SYSTEMS[which][1](v) for v in x), strict=True)
    value = [mpmath.fdot(bends, p) for p in parts]
    matrix = np.diag([float(mpmath.fdot(bends, p)) for p in slopes])
    if which == 1:  # x_i x_{i−1}
        value = [v + bends[1] * x[i] * x[i - 1] for i, v in enumerate(value)]
        near = np.array([float(v) for v in x])
        matrix += float(bends[1]) * (np.diag(np.roll(near, 1)) + np.roll(np.diag(near), -1, axis=1))
    return value, matrix


def zero_in_many_digits(which, data, guess):
    linear = data[0]
    many, strengths, force = ([mp(float(v)) for v in np.ravel(part)] for part in data)
    rows = [many[k * N : (k + 1) * N] for k in range(N)]

    def residual(x):
        extra = bent(which, strengths, x)[0]
        return [mpmath.fdot(row, x) + e - g for row, e, g in zip(rows, extra, force, strict=True)]

    return polished(residual, lambda x: linear + bent(which, strengths, [mp(float(v)) for v in x])[1], guess)


def trial(random):
    condition = 10.0 ** random.uniform(0, 15)
    left, right = (np.linalg.qr(random.standard_normal((N, N)))[0] for _ in range(2))
    strength = random.choice([0.0, 1e-12, 1e-3, 0.3])
    scale = 10.0 ** random.choice([-60.0, -5.0, 0.0, 5.0, 60.0]) if strength == 0 else 1.0
    linear = scale * left @ np.diag(np.geomspace(1, 1 / condition, N)) @ right
    which, bends = int(random.integers(len(SYSTEMS))), strength * random.standard_normal(2)
    x = random.standard_normal(N)
    strengths, places = ([mp(float(v)) for v in row] for row in (bends, x))
    f = linear @ x + np.array([float(v) for v in bent(which, strengths, places)[0]])
    data = (linear, bends, f)
    zero = zero_in_many_digits(which, data, x)
    if zero is None:
        return Verdict()
    problem = pr.Stationary(SYSTEMS[which][0], data, solver=pr.Dense())
    exact = np.array([float(z) for z in zero])
    state = exact + random.choice([0.0, 1e-14, 1e-9, 1e-4, 1e-2]) * random.standard_normal(N)
    state = state + random.choice([0.0, 1e-12, 1e-6]) * np.linalg.svd(linear)[2][-1]  # what round-off hides best
    task, seen = TASKS[random.choice(list(TASKS))]
    truth = seen(zero)
    if (metric := uneven(random, (len(truth),))) is not None:
        task = replace(task, metric=metric)
    ranking = Judged(problem, state, rivals(random, truth, task.outputs(state[None])[0]), task)
    certificate = pr.certify(problem, ranking)
    assert certificate.kind == "validated"
    off, about = distance(zero, state), certificate.enclosure.zero
    if about is not None and off > certificate.enclosure.state_bound:  # the zero that it is about may be another one
        return Verdict().claiming(off >= about.alone)
    return judged(certificate, ranking.outputs, truth, np.ravel(ranking.space.weights))


def test_a_few_trials():
    found = lane(trial, 20, 1)
    assert found.false == 0
    assert found.decided > 50  # not for want of certificates
