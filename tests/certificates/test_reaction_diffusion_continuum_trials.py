"""No certificate against the equation itself is false: exact solutions, any state, near ties along the error."""

import mpmath
import numpy as np
import pytest

import physrank as pr
from manufactured import Manufactured
from physrank.certificates import ContinuumReactionDiffusion
from trials import SHARDS, Judged, false_claims, lane, mp, rivals, slow_trials


def cubic(linear, factor):
    return lambda u: linear * u + factor * (u * u * u)


def state_of(random, exact, noise):
    """The solution itself, something around it, or anything."""
    state = exact + noise * np.pad(random.standard_normal([n - 2 for n in exact.shape]), 1)
    return state * random.choice([0.0, 1.0, 1.0, 1.0])


def trial(random):
    dims = int(random.choice([1, 1, 1, 2]))
    linear, factor = float(random.choice([0, 1e-9, 1, 1e3])), float(random.choice([0, 0.5, 1e2]))
    case = Manufactured.draw(random, dims, cubic(linear, factor), steep=float(random.choice([0.25, 1, 4])))
    points = int(random.integers(4, 9))
    problem = pr.equations.ReactionDiffusion(
        case.diffusion, case.forcing, linear, factor, length=case.length, points=points, dims=dims
    )
    truth = case.solution(problem.state_shape)
    exact = np.array([float(t) for t in truth]).reshape(problem.state_shape)
    size = np.abs(exact).max()
    state = state_of(random, exact, size * float(random.choice([0, 1e-12, 1e-4, 1, 1e3])))
    outputs = rivals(random, truth, state.ravel()).reshape(-1, *problem.state_shape)
    ranking = Judged(problem, state, outputs, pr.tasks.field(problem.metric()))
    certificate = pr.certify(problem, ranking, by=ContinuumReactionDiffusion(case.diffusion, case.forcing))
    flat = outputs.reshape(len(outputs), -1)
    decided, wrong = false_claims(certificate, flat, truth, np.ravel(ranking.space.weights))
    off = max(abs(t - mp(float(s))) for t, s in zip(truth, np.ravel(state), strict=True))
    return decided, wrong + bool(certificate.enclosure.state_bound < off)


def test_a_few_trials():
    decided, wrong = lane(trial, 24, 1)
    assert wrong == 0
    assert decided > 80  # not for want of certificates


@pytest.mark.slow
@pytest.mark.parametrize("shard", range(SHARDS))
def test_ten_thousand_trials(shard):
    assert lane(trial, slow_trials(), 700 + shard)[1] == 0


def test_the_solutions_are_solutions():
    """In many digits, by differences: the lane would prove nothing about other equations."""
    random = np.random.default_rng(0)
    with mpmath.workdps(60):
        case = Manufactured.draw(random, 1, cubic(1.0, 0.5))
        p = [mp(c) for c in case.factors[0][::-1].tolist()]
        b, s, x = [mp(v) for v in case.parts], mp(case.growth[0]), mp("0.3") * mp(case.length)

        def flux(x):
            a = b[0] + b[1] * mpmath.exp(s * x) + b[2] * mpmath.cos(s * x) ** 2
            return a * mpmath.diff(lambda z: mpmath.polyval(p, z), x)

        u = mpmath.polyval(p, x)
        left = -mpmath.diff(flux, x) + u + u**3 / 2
        assert abs(left - mp(float(case.forcing(np.array([float(x)]))[0]))) <= 1e-13 * (1 + abs(left))
