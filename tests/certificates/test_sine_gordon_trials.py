"""No certificate of Sine–Gordon is false: growth, anchors that are the marched solution, near ties along the error."""

import mpmath
import numpy as np
import pytest

import physrank as pr
from helpers import solve
from pendula import verlet_in_many_digits
from physrank.certificates.sine_gordon import SineGordonEnergy
from physrank.equations import SineGordon
from trials import SHARDS, false_claims, lane, mp, rivals, slow_trials, terminal

POINTS = 4
SHAPES = ((3, 1), (8, 4), (12, 6))  # rows and substeps: few, since each is compiled


def pendulum_in_many_digits(u, v, force, end):
    """u″ = −sin u + f by Taylor series of degree 28 in steps of an eighth: (u, u′) at the end."""
    left = mp(end)
    while left > 0:
        h = min(mp(1) / 8, left)
        a, s, c = [u, v], [mpmath.sin(u)], [mpmath.cos(u)]
        for m in range(27):
            if m:
                s.append(sum(i * a[i] * c[m - i] for i in range(1, m + 1)) / m)
                c.append(-sum(i * a[i] * s[m - i] for i in range(1, m + 1)) / m)
            a.append((-s[m] + (force if m == 0 else 0)) / ((m + 1) * (m + 2)))
        u = sum(x * h**m for m, x in enumerate(a))
        v = sum(m * x * h ** (m - 1) for m, x in enumerate(a) if m)
        left -= h
    return u, v


def anchor_of(random, problem):
    """The marched solution itself, or something around it."""
    state = solve(problem).copy()
    size = random.choice([0.0, 0.0, 1e-15, 1e-10, 1e-4, 1.0])
    state[1:] += size * random.standard_normal(state[1:].shape)
    return state


def weights_of(ranking):
    return np.ravel(ranking.space.weights)


def on_the_grid(random):
    """From gentle waves to the top of the sine for a long time."""
    rows, substeps = SHAPES[random.integers(len(SHAPES))]
    end = min(10.0 ** random.uniform(-1, 1.5), 0.9 * rows * substeps)
    top = random.choice([0.0, np.pi])
    initial = top + random.choice([0.0, 1e-6, 0.1, 1.0, 30.0]) * random.standard_normal(POINTS)
    forcing = random.choice([0.0, 1.0]) * random.standard_normal(POINTS)
    velocity = random.choice([0.0, 1.0]) * random.standard_normal(POINTS)
    uneven = np.concatenate([[0.0], np.cumsum(random.uniform(0.5, 1, rows))])
    times = end * (uneven / uneven[-1] if random.random() < 0.5 else np.linspace(0, 1, rows + 1))
    try:
        problem = SineGordon(
            initial, velocity, times, random.uniform(0.2, 1), forcing, points=POINTS, substeps=substeps, length=8.0
        )
    except ValueError:  # an unstable step
        return 0, 0
    truth, state = verlet_in_many_digits(problem), anchor_of(random, problem)
    ranking = terminal(problem, state, rivals(random, truth, state[-1]).reshape(-1, 2, POINTS))
    certificate = pr.certify(problem, ranking, by=SineGordonEnergy())
    decided, wrong = false_claims(certificate, ranking.outputs.reshape(-1, 2 * POINTS), truth, weights_of(ranking))
    off = mpmath.fsum((t - mp(float(s))) ** 2 for t, s in zip(truth, np.ravel(state[-1]), strict=True))
    return decided, wrong + (certificate.enclosure.state_bound < mpmath.sqrt(off * mp(8) / POINTS))


def in_the_continuum(random):
    """Fields without a slope: the equation is that of a pendulum."""
    u, v = random.choice([0.0, np.pi, 2.0]) + random.choice([0.0, 1e-9, 0.3]), random.choice([0.0, 0.5])
    force, end = random.choice([0.0, 0.3]), random.choice([0.5, 1.0, 2.0, 6.0])
    rows, substeps = 4, 32
    flat = np.ones(POINTS)
    times = np.linspace(0, end, rows + 1)
    problem = SineGordon(u * flat, v * flat, times, 1.0, force * flat, points=POINTS, substeps=substeps)
    state = anchor_of(random, problem)
    at_end = pendulum_in_many_digits(mp(float(u)), mp(float(v)), mp(float(force)), end)
    truth = [x for x in at_end for _ in range(POINTS)]
    # Modes of the rivals: their last one counts half in L², as in what is certified.
    outputs = rivals(random, truth, state[-1]).reshape(-1, 2, POINTS)
    outputs -= np.mean(outputs * [1, -1, 1, -1], axis=-1, keepdims=True) * [1, -1, 1, -1]
    ranking = terminal(problem, state, outputs)
    certificate = pr.certify(problem, ranking, by=SineGordonEnergy("continuum"))
    flat_outputs = [[mp(float(x)) for x in y] for y in outputs.reshape(-1, 2 * POINTS)]
    return false_claims(certificate, _without_last_mode(flat_outputs), truth, weights_of(ranking))


def _without_last_mode(outputs):
    """(y_0 … y_3) whose alternating part c counts half: y with c (1, −1, 1, −1) scaled by √½, in many digits."""
    found = []
    for y in outputs:
        row = []
        for field in (y[:POINTS], y[POINTS:]):
            last = (field[0] - field[1] + field[2] - field[3]) / 4
            row += [x + (mpmath.sqrt(mp(1) / 2) - 1) * last * (-1) ** k for k, x in enumerate(field)]
        found.append(row)
    return found


LANES = {"grid": on_the_grid, "continuum": in_the_continuum}


@pytest.mark.parametrize("target", LANES)
def test_a_few_trials(target):
    decided, wrong = lane(LANES[target], 40, 1)
    assert wrong == 0
    assert decided > 60  # not for want of certificates


@pytest.mark.slow
@pytest.mark.parametrize("shard", range(SHARDS))
@pytest.mark.parametrize("target", LANES)
def test_ten_thousand_trials(target, shard):
    assert lane(LANES[target], slow_trials(), 100 + shard)[1] == 0
