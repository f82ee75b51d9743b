"""No certificate against the equation itself is false: exact solutions, any state, near ties along the error."""

import mpmath
import numpy as np
import pytest

import physrank as pr
from manufactured import Manufactured
from physrank.certificates import ContinuumReactionDiffusion
from reactions import cubic, sinh, unused
from trials import Judged, judged, lane, mp, rivals


def state_of(random, exact, noise):
    """The solution itself, something around it, or anything."""
    state = exact + noise * np.pad(random.standard_normal([n - 2 for n in exact.shape]), 1)
    return state * random.choice([0.0, 1.0, 1.0, 1.0])


def trial(random, own=False):
    """One in twenty-five in two dimensions, which cost ten times as much."""
    dims, points = 1 + (random.random() < 0.04), int(random.integers(4, 9))
    linear, factor = float(random.choice([0, 1e-9, 1, 1e3])), float(random.choice([0, 0.5, 1e2]))
    reaction = sinh(factor) if own else cubic(linear, factor)
    case = Manufactured.draw(random, dims, reaction, steep=float(random.choice([0.25, 1, 4])))
    if own:
        grid = pr.Grid.nodes((points + 2,) * dims, (case.length,) * dims)
        problem, metric, shape = pr.Stationary(unused, grid=grid), grid.metric(), grid.shape
    else:
        problem = pr.equations.ReactionDiffusion(
            case.diffusion, case.forcing, linear, factor, length=case.length, points=points, dims=dims
        )
        metric, shape = problem.metric(), problem.state_shape
    truth = case.solution(shape)
    exact = np.array([float(t) for t in truth]).reshape(shape)
    size = np.abs(exact).max()
    state = state_of(random, exact, size * float(random.choice([0, 1e-12, 1e-4, 1, 1e3])))
    outputs = rivals(random, truth, state.ravel()).reshape(-1, *shape)
    ranking = Judged(problem, state, outputs, pr.tasks.field(metric))
    by = ContinuumReactionDiffusion(case.diffusion, case.forcing, reaction if own else None)
    certificate = pr.certify(problem, ranking, by=by)
    flat = outputs.reshape(len(outputs), -1)
    off = max(abs(t - mp(float(s))) for t, s in zip(truth, np.ravel(state), strict=True))
    found = judged(certificate, flat, truth, np.ravel(ranking.space.weights))
    return found.claiming(certificate.enclosure.state_bound >= off)


def own(random):
    """A problem of one's own: −∇·(a∇u) + c sinh u + u = f."""
    return trial(random, own=True)


@pytest.mark.parametrize("kind", [trial, own])
def test_a_few_trials(kind):
    found = lane(kind, 12, 1)
    assert found.false == 0
    assert found.decided > 60  # not for want of certificates


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
