"""No enclosed march is false: chaotic, growing, diffusive and turning maps, their trajectories in many digits."""

import jax.numpy as jnp
import mpmath
import numpy as np
import pytest

import physrank as pr
from trials import SHARDS, Judged, false_claims, lane, mp, rivals, slow_trials

M = 3


def step(u, data, force):
    matrix, bends = data
    return matrix @ u + bends[0] * jnp.sin(u) + bends[1] * u**2 + bends[2] * u / (1 + u * u) + force


def march_in_many_digits(start, data, forces):
    matrix, bends = ([[mp(float(v)) for v in row] for row in data[0]], [mp(float(b)) for b in data[1]])
    u = [mp(float(v)) for v in start]
    rows = [u]
    for force in forces:
        mixed = [mpmath.fsum(m * v for m, v in zip(row, u, strict=True)) for row in matrix]
        bent = [bends[0] * mpmath.sin(v) + bends[1] * v**2 + bends[2] * v / (1 + v * v) for v in u]
        u = [a + b + mp(float(f)) for a, b, f in zip(mixed, bent, force, strict=True)]
        rows.append(u)
        if max(abs(v) for v in u) > 1e30:
            return None  # sines of such numbers would take all day
    return rows


def trial(random):
    steps = int(random.choice([1, 4, 12, 30]))
    q = np.linalg.qr(random.standard_normal((M, M)))[0]
    kind, growth = random.integers(3), random.choice([0.3, 0.99, 1.0, 1.3, 3.0])
    matrix = growth * q if kind == 0 else q @ np.diag(growth * random.random(M)) @ q.T
    matrix = np.triu(matrix) * 2 if kind == 2 else matrix  # far from normal
    bends = random.choice([0.0, 1e-3, 0.5]) * random.standard_normal(3)
    start, forces = random.standard_normal(M), random.choice([0.0, 0.1]) * random.standard_normal((steps, M))
    exact = march_in_many_digits(start, (matrix, bends), forces)
    if exact is None:
        return 0, 0
    problem = pr.Marching(step, start, (matrix, bends), forcing=forces)
    rows = np.array([[float(v) for v in row] for row in exact])
    if random.random() < 0.5:  # the marched solution itself, whose defect repeats the arithmetic
        rows = pr.scorers.DirectSolve().solution(problem, rows.shape)[0]
    size = np.abs(rows).max()
    state = rows + random.choice([0.0, 0.0, 1e-14, 1e-9, 1e-4]) * size * random.standard_normal(rows.shape)
    task = random.choice([pr.tasks.field(), pr.tasks.terminal()])
    truth = exact[-1] if task.last else [v for row in exact for v in row]
    outputs = rivals(random, truth, state[-1] if task.last else state)
    ranking = Judged(problem, state, outputs.reshape(len(outputs), *(state[-1] if task.last else state).shape), task)
    certificate = pr.certify(problem, ranking)
    assert certificate.kind == "validated"
    weights = np.ravel(np.broadcast_to(ranking.space.weights, ranking.outputs.shape[1:]))
    decided, wrong = false_claims(certificate, outputs, truth, weights)
    off = [v - mp(float(s)) for row, line in zip(exact, state, strict=True) for v, s in zip(row, line, strict=True)]
    return decided, wrong + (certificate.enclosure.state_bound < mpmath.sqrt(mpmath.fsum(e**2 for e in off)))


def test_a_few_trials():
    decided, wrong = lane(trial, 25, 1)
    assert wrong == 0
    assert decided > 60  # not for want of certificates


@pytest.mark.slow
@pytest.mark.parametrize("shard", range(SHARDS))
def test_ten_thousand_trials(shard):
    assert lane(trial, slow_trials(), 100 + shard)[1] == 0
