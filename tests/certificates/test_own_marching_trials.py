"""No enclosed march is false: chaotic, growing, diffusive and turning maps, their trajectories in many digits."""

import jax.numpy as jnp
import mpmath
import numpy as np

import physrank as pr
from trials import Judged, Verdict, distance, judged, lane, mp, rivals

M = 3


def waving(u, data, force):
    return data[0] @ u + data[1] * jnp.sin(u) + force


def squared(u, data, force):
    return data[0] @ u + data[1] * u**2 + force


def saturated(u, data, force):
    return data[0] @ u + data[1] * u / (1 + u * u) + force


STEPS = ((waving, mpmath.sin), (squared, lambda v: v**2), (saturated, lambda v: v / (1 + v * v)))


def march_in_many_digits(bend, start, data, forces):
    matrix, strength = [[mp(float(v)) for v in row] for row in data[0]], mp(float(data[1]))
    u = [mp(float(v)) for v in start]
    rows = [u]
    for force in forces:
        mixed = [mpmath.fsum(m * v for m, v in zip(row, u, strict=True)) for row in matrix]
        bent = [strength * bend(v) for v in u]
        u = [a + b + mp(float(f)) for a, b, f in zip(mixed, bent, force, strict=True)]
        rows.append(u)
        if max(abs(v) for v in u) > 1e30:
            return None  # sines of such numbers would take all day
    return rows


def trial(random):
    steps = int(random.choice([1, 2, 4, 8, 30], p=[0.2, 0.4, 0.25, 0.14, 0.01]))
    q = np.linalg.qr(random.standard_normal((M, M)))[0]
    kind, growth = random.integers(3), random.choice([0.3, 0.99, 1.0, 1.3, 3.0])
    matrix = growth * q if kind == 0 else q @ np.diag(growth * random.random(M)) @ q.T
    matrix = np.triu(matrix) * 2 if kind == 2 else matrix  # far from normal
    strength, (step, bend) = random.choice([0.0, 1e-3, 0.5]) * random.standard_normal(), STEPS[random.integers(3)]
    start, forces = random.standard_normal(M), random.choice([0.0, 0.1]) * random.standard_normal((steps, M))
    exact = march_in_many_digits(bend, start, (matrix, strength), forces)
    if exact is None:
        return Verdict()
    problem = pr.Marching(step, start, (matrix, np.array(strength)), forcing=forces)
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
    off = distance([v for row in exact for v in row], state)
    return judged(certificate, outputs, truth, weights).claiming(certificate.enclosure.state_bound >= off)


def test_a_few_trials():
    found = lane(trial, 12, 1)
    assert found.false == 0
    assert found.decided > 30  # not for want of certificates
