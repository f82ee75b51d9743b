"""No certificate by a metric is false: linear tasks with contrasts up to 1e12, and metrics that a user states."""

from dataclasses import dataclass, replace
from functools import partial

import jax.numpy as jnp
import mpmath
import numpy as np
import pytest

import physrank as pr
from certificates_line import POINTS, draw, zero_in_many_digits
from digits import polished
from trials import Judged, Verdict, judged, lane, mp, rivals, uneven

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
    if (metric := uneven(random, (len(matrix),))) is not None:
        task = replace(task, metric=metric)
    ranking = Judged(problem, state, rivals(random, truth, task.outputs(state[None])[0]), task)
    by = random.choice([None, pr.certificates.StronglyMonotone()])
    certificate = pr.certify(problem, ranking, by=by)
    assert certificate.kind == "theorem"
    return judged(certificate, ranking.outputs, truth, np.ravel(ranking.space.weights))


SIZE, CONDITIONS = 5, (0, 2, 4, 6, 8, 10, 12)  # powers of ten


@dataclass(frozen=True)
class Stated:
    """K u + γ u³ = f with K = 10ⁿ BᵀB + μ of whole numbers, so that μ bounds it from below without any rounding."""

    matrix: np.ndarray
    cubic: float
    least: float

    def defect(self, u, data):
        return jnp.asarray(self.matrix) @ u + self.cubic * u**3 - data

    def metric(self, s):
        return lambda z: jnp.asarray(self.matrix) @ z + 0.75 * self.cubic * s**2 * z

    def zero(self, f):
        """In many digits."""
        many, gamma = np.vectorize(mp, otypes=[object])(self.matrix), mp(self.cubic)

        def residual(x):
            x = np.array(x, dtype=object)
            return list(many @ x + gamma * x**3 - np.vectorize(mp, otypes=[object])(f))

        guess = np.linalg.solve(self.matrix, f)
        guess = np.sign(guess) * np.minimum(np.abs(guess), np.cbrt(np.abs(f).max() / self.cubic + 1))
        return polished(residual, lambda x: self.matrix + np.diag(3 * self.cubic * x**2), guess)


def _systems():
    """A few, since each is compiled: from the best to the worst condition."""
    random = np.random.default_rng(7)
    for power in CONDITIONS:
        b = random.integers(-3, 4, (SIZE - 1, SIZE)).astype(float)  # of rank 4: the least eigenvalue is μ itself
        yield Stated(10.0**power * b.T @ b + np.eye(SIZE), float(2 ** (power % 3)), 1.0)


SYSTEMS = tuple(_systems())
EACH = tuple(range(len(SYSTEMS)))
METHODS = [pr.certificates.StronglyMonotone(metric=s.metric, coercivity=s.least) for s in SYSTEMS]
DEFECTS = [s.defect for s in SYSTEMS]


def stated(random, among=EACH):
    """A problem and a metric of one's own: states that are solutions, or off along what round-off hides best."""
    k = int(random.choice(among))
    f = 10.0 ** random.uniform(-3, 6) * random.standard_normal(SIZE)
    zero = SYSTEMS[k].zero(f)
    if zero is None:
        return Verdict()
    problem, found = pr.Stationary(DEFECTS[k], f), Verdict()
    exact, hidden = np.array([float(z) for z in zero]), np.linalg.svd(SYSTEMS[k].matrix)[2][-1]
    for _ in range(2):
        size = np.abs(exact).max() * random.choice([0.0, 1e-15, 1e-10, 1e-3])
        state = exact + size * (random.standard_normal(SIZE) if random.random() < 0.5 else hidden)
        metric = uneven(random, (SIZE,))
        task = pr.tasks.field() if metric is None else pr.tasks.field(metric)
        ranking = Judged(problem, state, rivals(random, zero, state), task)
        certificate = pr.certify(problem, ranking, by=METHODS[k])
        assert certificate.kind == "theorem"
        weights = np.broadcast_to(ranking.space.weights, (SIZE,))
        found += judged(certificate, ranking.outputs, zero, weights)
    return found


@pytest.mark.parametrize("kind", [trial, partial(stated, among=(1, 3))])
def test_a_few_trials(kind):
    found = lane(kind, 20, 1)
    assert found.false == 0
    assert found.decided > 50  # not for want of certificates
