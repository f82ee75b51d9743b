"""No certificate of Burgers is false: c + a sin x on four points, whose solution Cole and Hopf give in many digits."""

from functools import cache

import mpmath
import numpy as np
import pytest

import physrank as pr
from digits import BITS, fixed, unfixed
from helpers import solve
from physrank.equations import Burgers
from trials import Verdict, judged, lane, mp, rivals, terminal

LENGTH = 2 * np.pi
SAMPLES, TERMS = 128, 40


@cache
def circle():
    """Cosines and sines of half of the samples, for every mode: whole multiples of 2^−BITS."""
    turns = [[m * j % SAMPLES for m in range(TERMS)] for j in range(1, SAMPLES // 2)]
    angles = [2 * mpmath.pi * j / SAMPLES for j in range(SAMPLES)]
    cosine, sine = ([fixed(wave(a)) for a in angles] for wave in (mpmath.cos, mpmath.sin))
    return tuple(np.array([[wave[t] for t in row] for row in turns], dtype=object) for wave in (cosine, sine))


def modes_in_many_digits(mean, size, viscosity, end):
    """Mean, cosine and sine of the first mode, and cosine of the second, of u(T) for u₀ = mean + size · sin(kx).

    u = mean + v(T, x − mean · T), v = −2ν φ_x/φ, φ = I₀(α) + 2 Σ I_m(α) e^{−ν m²k²T} cos(m k x), α = size / 2νk. Summed are
    I_m / (I₀ α), of the order of one or less, so that no size of α costs digits.
    """
    k = 2 * mpmath.pi / mp(LENGTH)
    alpha = size / (2 * viscosity * k)
    few = TERMS if abs(alpha) > 1e-6 else 12
    first_of_all = mpmath.besseli(0, alpha)
    decay = [mpmath.besseli(m, alpha) / first_of_all * mpmath.exp(-viscosity * (m * k) ** 2 * end) for m in range(few)]
    cosine, sine = circle()
    scaled = np.array([0, *(fixed(d / alpha) for d in decay[1:])], dtype=object)  # exactly zero is left out: φ₀ is one
    phi = [1 + 2 * alpha * unfixed(x) / 2**BITS for x in cosine[:, :few] @ scaled]
    slopes = [unfixed(x) / 2**BITS for x in sine[:, :few] @ (scaled * np.arange(few))]
    values = [4 * viscosity * k * alpha * s / p for s, p in zip(slopes, phi, strict=True)]  # v is odd: half are enough
    first, second = (
        4 * mpmath.fsum(x * unfixed(s) for x, s in zip(values, sine[:, m], strict=True)) / SAMPLES for m in (1, 2)
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
        return Verdict()
    initial = np.array([mean, mean + size, mean, mean - size])
    problem = Burgers(initial, viscosity, np.linspace(0, end, 5), points=4, length=LENGTH)
    last = mp(float(np.asarray(problem.times)[-1]))
    truth = modes_in_many_digits(mp(mean), mp(size), mp(float(viscosity)), last)
    solution, found = solve(problem), Verdict()
    weights = [mp(LENGTH), mp(LENGTH) / 2, mp(LENGTH) / 2, mp(LENGTH) / 2]
    for noise in (0.0, random.choice([1e-14, 1e-8, 1e-3])):
        state = solution + np.r_[0.0, 1, 1, 1, 1][:, None] * noise * speed * random.standard_normal(solution.shape)
        ranking = terminal(problem, state, rivals(random, values(*truth), state[-1]))
        certificate = pr.certify(problem, ranking, by=by)
        found += judged(certificate, [modes(y) for y in ranking.outputs], truth, weights)
    return found


def validated(random):
    return trial(random, pr.certificates.ValidatedBurgers())


@pytest.mark.parametrize("kind", [trial, validated])
def test_a_few_trials(kind):
    found = lane(kind, 15, 1)
    assert found.false == 0
    assert found.decided > 15  # not for want of certificates
