"""No certificate of diffusion–reaction is false: two cells by two, the trapezoidal solution in many digits."""

import itertools

import mpmath
import numpy as np
import pytest

import physrank as pr
from physrank.equations import DiffusionReaction
from trials import SHARDS, false_claims, lane, mp, rivals, slow_trials, terminal

CELLS, ROWS = 2, 8


def rates(w, problem):
    """F(w), and its matrix, for w = (u_0 … u_3, v_0 … v_3)."""
    spread = [mp(float(d)) * (mp(CELLS) / mp(problem.length)) ** 2 for d in np.asarray(problem.diffusion)]
    k, n = mp(float(problem.threshold)), CELLS**2
    beside = [[1, 2], [0, 3], [3, 0], [2, 1]]
    value, matrix = mpmath.matrix(2 * n, 1), mpmath.matrix(2 * n, 2 * n)
    for c in range(n):
        for field in (0, 1):
            row = c + n * field
            for other in beside[c]:
                value[row] += spread[field] * (w[other + n * field] - w[row])
                matrix[row, other + n * field] += spread[field]
                matrix[row, row] -= spread[field]
        u, v = w[c], w[c + n]
        value[c] += u - u**3 - k - v
        value[c + n] += u - v
        matrix[c, c] += 1 - 3 * u**2
        matrix[c, c + n] -= 1
        matrix[c + n, c] += 1
        matrix[c + n, c + n] -= 1
    return value, matrix


def trapezoid_in_many_digits(problem):
    """All rows of the map's own solution: Newton's method in every step."""
    times = [mp(float(t)) for t in np.asarray(problem.times)]
    w = mpmath.matrix([mp(float(x)) for x in np.ravel(problem.initial)])
    rows, one = [w], mpmath.eye(len(w))
    for before, after in itertools.pairwise(times):
        half = (after - before) / 2
        known = w + half * rates(w, problem)[0]
        for _ in range(40):
            value, matrix = rates(w, problem)
            step = mpmath.lu_solve(one - half * matrix, known + half * value - w)
            w = w + step
            if mpmath.norm(step) < mp(10) ** -45:
                break
        else:
            raise AssertionError("Newton's method in many digits did not converge.")
        rows.append(w)
    return rows


def trial(random):
    """Around rest, where the reaction is nilpotent, and far from it; the solution itself, rounded, as the anchor."""
    initial = random.choice([1e-12, 0.1, 1.0, 3.0]) * random.standard_normal((2, CELLS, CELLS))
    times = 10.0 ** random.uniform(-1, 1) * np.concatenate([[0.0], np.cumsum(random.uniform(0.2, 1, ROWS))]) / ROWS
    problem = DiffusionReaction(
        initial,
        times,
        diffusion=tuple(10.0 ** random.uniform(-4, 2, 2)),
        threshold=random.choice([0.0, 5e-3]),
        length=10.0 ** random.uniform(-1, 1),
    )
    rows = trapezoid_in_many_digits(problem)
    state = np.array([[float(x) for x in row] for row in rows]).reshape(ROWS + 1, 2, CELLS, CELLS)
    state[1:] += random.choice([0.0, 0.0, 1e-14, 1e-8, 1e-2]) * random.standard_normal(state[1:].shape)
    truth = list(rows[-1])
    ranking = terminal(problem, state, rivals(random, truth, state[-1]).reshape(-1, 2, CELLS, CELLS))
    certificate = pr.certify(problem, ranking)
    decided, wrong = false_claims(
        certificate, ranking.outputs.reshape(-1, 2 * CELLS**2), truth, np.ravel(ranking.space.weights)
    )
    off = mpmath.fsum((t - mp(float(s))) ** 2 for t, s in zip(truth, np.ravel(state[-1]), strict=True))
    area = (mp(problem.length) / CELLS) ** 2
    return decided, wrong + (certificate.enclosure.state_bound < mpmath.sqrt(off * area))


def test_a_few_trials():
    decided, wrong = lane(trial, 30, 1)
    assert wrong == 0
    assert decided > 100  # not for want of certificates


@pytest.mark.slow
@pytest.mark.parametrize("shard", range(SHARDS))
def test_ten_thousand_trials(shard):
    assert lane(trial, slow_trials(), 100 + shard)[1] == 0
