"""No certificate of Burgers is false: c + a sin x on four points, whose solution Cole and Hopf give in many digits."""

from functools import cache

import mpmath
import numpy as np
import pytest

import physrank as pr
from helpers import solve
from physrank.equations import Burgers
from trials import SHARDS, false_claims, lane, mp, rivals, slow_trials, terminal

LENGTH = 2 * np.pi
SAMPLES = 128


@cache
def circle():
    """Cosines and sines of the samples."""
    angles = [2 * mpmath.pi * j / SAMPLES for j in range(SAMPLES)]
    return [mpmath.cos(a) for a in angles], [mpmath.sin(a) for a in angles]


def modes_in_many_digits(mean, size, viscosity, end):
    """Mean, cosine and sine of the first mode, and cosine of the second, of u(T) for u₀ = mean + size · sin(kx).

    u = mean + v(T, x − mean · T), v = −2ν φ_x/φ, φ = I₀(α) + 2 Σ I_m(α) e^{−ν m²k²T} cos(m k x), α = size / 2νk.
    """
    k = 2 * mpmath.pi / mp(LENGTH)
    alpha = size / (2 * viscosity * k)
    series = [mpmath.besseli(m, alpha) * mpmath.exp(-viscosity * (m * k) ** 2 * end) for m in range(40)]

    cosine, sine = circle()

    def v(j):
        phi = series[0] + 2 * sum(s * cosine[m * j % SAMPLES] for m, s in enumerate(series) if m)
        return 4 * viscosity * k * sum(m * s * sine[m * j % SAMPLES] for m, s in enumerate(series)) / phi

    samples = range(1, SAMPLES // 2)  # v is odd: half of them are enough
    values = [v(j) for j in samples]
    first, second = (
        4 * sum(x * sine[m * j % SAMPLES] for x, j in zip(values, samples, strict=True)) / SAMPLES for m in (1, 2)
    )
    turn = k * mean * end
    return [mean, -first * mpmath.sin(turn), first * mpmath.cos(turn), -second * mpmath.sin(2 * turn)]


def modes(y):
    """The same four of an interpolant on four points."""
    a, b, c, d = (mp(float(x)) for x in y)
    return [(a + b + c + d) / 4, (a - c) / 2, (b - d) / 2, (a - b + c - d) / 4]


def values(mean, cosine, sine, last):
    return [mean + cosine + last, mean + sine - last, mean - cosine + last, mean - sine - last]


def trial(random, by=None):
    """Gentle and steep, at rest and carried along; sizes whose squares underflow; the computed solution as the anchor."""
    unit = 2.0 ** random.choice([-540, -500, -300, -30, 0, 0, 0, 0, 0, 0, 30])
    mean, size = (unit * float(random.integers(-64, 65)) / 64 for _ in range(2))
    size = size or unit
    speed = abs(mean) + abs(size)
    viscosity = (speed if random.random() < 0.8 else 1.0) * 2.0 ** random.uniform(-3, 3)
    end = 0.9 * float(2.0 ** random.uniform(-6, 2) / max(speed, viscosity))
    if abs(size) / viscosity > 10:
        return 0, 0
    initial = np.array([mean, mean + size, mean, mean - size])
    problem = Burgers(initial, viscosity, np.linspace(0, end, 5), points=4, length=LENGTH)
    last = mp(float(np.asarray(problem.times)[-1]))
    truth = modes_in_many_digits(mp(mean), mp(size), mp(float(viscosity)), last)
    state = solve(problem).copy()
    state[1:] += random.choice([0.0, 0.0, 1e-14, 1e-8, 1e-3]) * speed * random.standard_normal(state[1:].shape)
    ranking = terminal(problem, state, rivals(random, values(*truth), state[-1]))
    certificate = pr.certify(problem, ranking, by=by)
    weights = [mp(LENGTH), mp(LENGTH) / 2, mp(LENGTH) / 2, mp(LENGTH) / 2]
    return false_claims(certificate, [modes(y) for y in ranking.outputs], truth, weights)


def validated(random):
    return trial(random, pr.certificates.ValidatedBurgers())


@pytest.mark.parametrize("kind", [trial, validated])
def test_a_few_trials(kind):
    decided, wrong = lane(kind, 30, 1)
    assert wrong == 0
    assert decided > 30  # not for want of certificates


@pytest.mark.slow
@pytest.mark.parametrize("kind", [trial, validated])
@pytest.mark.parametrize("shard", range(SHARDS))
def test_ten_thousand_trials(shard, kind):
    assert lane(kind, slow_trials(), 100 + shard)[1] == 0
