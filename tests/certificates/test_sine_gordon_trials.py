"""No certificate of Sine–Gordon is false: growth, anchors that are the marched solution, near ties along the error."""

from functools import cache

import mpmath
import numpy as np
import pytest

import physrank as pr
from digits import BITS, fixed, unfixed
from helpers import solve
from pendula import verlet_in_many_digits
from physrank.certificates.sine_gordon import SineGordonEnergy
from physrank.equations import SineGordon
from trials import Verdict, distance, judged, lane, mp, rivals, terminal, uneven

POINTS = 4
SHAPES = ((3, 1), (8, 4), (12, 6))  # rows and substeps: few, since each is compiled


@cache
def pendulum_in_many_digits(u, v, force, end):
    """u″ = −sin u + f by Taylor series of degree 28 in steps of an eighth: (u, u′) at the end."""
    u, v, force, left = mp(u), mp(v), mp(force), mp(end)
    while left > 0:
        h = min(mp(1) / 8, left)
        # Coefficients of powers of (t/h), as whole multiples of 2^−BITS.
        a, s, c, square = [fixed(u), fixed(v * h)], [fixed(mpmath.sin(u))], [fixed(mpmath.cos(u))], fixed(h * h)
        for m in range(27):
            if m:
                s.append(sum(i * a[i] * c[m - i] for i in range(1, m + 1)) // m >> BITS)
                c.append(-sum(i * a[i] * s[m - i] for i in range(1, m + 1)) // m >> BITS)
            a.append(((fixed(force) if m == 0 else 0) - s[m]) * square // ((m + 1) * (m + 2)) >> BITS)
        u, v = unfixed(sum(a)), unfixed(sum(m * x for m, x in enumerate(a))) / h
        left -= h
    return u, v


def anchor_of(random, problem, noise):
    """The marched solution itself, or something around it."""
    state = solve(problem).copy()
    state[1:] += noise * random.standard_normal(state[1:].shape)
    return state


def weights_of(ranking):
    return np.ravel(ranking.space.weights)


def on_the_grid(random):
    """From gentle waves to the top of the sine for a long time."""
    rows, substeps = SHAPES[random.integers(len(SHAPES))]
    end = min(10.0 ** random.uniform(-1, 1.5), 0.9 * rows * substeps)
    top = random.choice([0.0, np.pi])
    initial = top + random.choice([0.0, 1e-200, 1e-6, 0.1, 1.0, 30.0, 1e4]) * random.standard_normal(POINTS)
    length = float(random.choice([8.0, 8.0, 0.5, 1e3]))
    forcing = random.choice([0.0, 1.0, 1e5]) * random.standard_normal(POINTS)
    velocity = random.choice([0.0, 1.0]) * random.standard_normal(POINTS)
    spaced = np.concatenate([[0.0], np.cumsum(random.uniform(0.5, 1, rows))])
    times = end * (spaced / spaced[-1] if random.random() < 0.5 else np.linspace(0, 1, rows + 1))
    try:
        problem = SineGordon(
            initial, velocity, times, random.uniform(0.2, 1), forcing, points=POINTS, substeps=substeps, length=length
        )
    except ValueError:  # an unstable step
        return Verdict()
    truth, found = verlet_in_many_digits(problem), Verdict()
    for noise in (0.0, random.choice([1e-15, 1e-10, 1e-4, 1.0])):
        state = anchor_of(random, problem, noise)
        outputs = rivals(random, truth, state[-1]).reshape(-1, 2, POINTS)
        ranking = terminal(problem, state, outputs, uneven(random, outputs.shape[1:]))
        certificate = pr.certify(problem, ranking, by=SineGordonEnergy())
        flat, off = ranking.outputs.reshape(-1, 2 * POINTS), distance(truth, state[-1])
        holds = certificate.enclosure.state_bound >= off * mpmath.sqrt(mp(length) / POINTS)
        found += judged(certificate, flat, truth, weights_of(ranking)).claiming(holds)
    return found


def in_the_continuum(random):
    """Fields without a slope: the equation is that of a pendulum."""
    u, v = random.choice([0.0, np.pi, 2.0]) + random.choice([0.0, 1e-9, 0.3]), random.choice([0.0, 0.5])
    force, end = random.choice([0.0, 0.3]), random.choice([0.5, 1.0, 2.0, 6.0])
    rows, substeps = ((1, 8), (2, 8), (3, 8), (4, 16))[random.integers(4)]
    flat = np.ones(POINTS)
    times = np.linspace(0, end, rows + 1)
    problem = SineGordon(u * flat, v * flat, times, 1.0, force * flat, points=POINTS, substeps=substeps)
    state = anchor_of(random, problem, random.choice([0.0, 0.0, 1e-15, 1e-10, 1e-4, 1.0]))
    at_end = pendulum_in_many_digits(float(u), float(v), float(force), float(end))
    truth = [x for x in at_end for _ in range(POINTS)]
    # Modes of the rivals: their last one counts half in L², as in what is certified.
    outputs = rivals(random, truth, state[-1]).reshape(-1, 2, POINTS)
    outputs -= np.mean(outputs * [1, -1, 1, -1], axis=-1, keepdims=True) * [1, -1, 1, -1]
    ranking = terminal(problem, state, outputs)
    certificate = pr.certify(problem, ranking, by=SineGordonEnergy("continuum"))
    flat_outputs = [[mp(float(x)) for x in y] for y in outputs.reshape(-1, 2 * POINTS)]
    return judged(certificate, _without_last_mode(flat_outputs), truth, weights_of(ranking))


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
    found = lane(LANES[target], 20, 1)
    assert found.false == 0
    assert found.decided > 30  # not for want of certificates
