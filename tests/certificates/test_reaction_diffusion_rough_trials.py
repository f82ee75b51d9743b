"""No certificate for data that jump is false: exact solutions in layers, any state, near ties along the error."""

from itertools import pairwise

import mpmath
import numpy as np
import pytest

import physrank as pr
from layered import Layered
from physrank.certificates import RoughReactionDiffusion
from reactions import cubic, sinh, unused
from trials import Judged, judged, lane, mp, rivals, uneven


def trial(random, own=False):
    """One in five in two dimensions; lines on nodes and between them, contrasts up to 2²⁰."""
    dims, points = 1 + (random.random() < 0.2), int(random.integers(4, 9))
    linear, factor = float(random.choice([0, 1e-9, 1, 1e3])), float(random.choice([0, 0.5, 1e2]))
    reaction = sinh(min(factor, 1.0)) if own else cubic(linear, factor)
    case = Layered.draw(random, dims, reaction, int(random.choice([0, 3, 10])), bent=bool(random.random() < 0.3))
    if own:
        grid = pr.Grid.nodes((points + 2,) * dims, (case.length,) * dims)
        problem = pr.Stationary(unused, grid=grid)
    else:
        problem = pr.equations.ReactionDiffusion(
            case.diffusion, case.forcing, linear, factor, length=case.length, points=points, dims=dims
        )
        grid = problem.grid
    nodes = [[*x[:-1].tolist(), case.length] for x in grid.axes]
    truth = case.averages(nodes)
    exact = np.array([float(t) for t in truth]).reshape(grid.shape)
    noise = np.abs(exact).max() * float(random.choice([0, 1e-12, 1e-4, 1, 1e3]))
    state = random.choice([0.0, 1.0, 1.0, 1.0]) * (exact + noise * random.standard_normal(grid.shape))
    outputs = rivals(random, truth, state.ravel()).reshape(-1, *grid.shape)
    metric = uneven(random, grid.shape) or grid.metric()
    ranking = Judged(problem, state, outputs, pr.tasks.field(metric))
    cells = int(random.choice([16, 64, 512]))
    by = RoughReactionDiffusion(case.diffusion, case.forcing, reaction if own else None, cells)
    certificate = pr.certify(problem, ranking, by=by)
    flat = outputs.reshape(len(outputs), -1)
    found = judged(certificate, flat, truth, np.ravel(ranking.space.weights))
    return found.claiming(certificate.enclosure.state_bound >= case.distance(state, nodes))


def own(random):
    """A problem of one's own: −∇·(a∇u) + c sinh u + u = f."""
    return trial(random, own=True)


@pytest.mark.parametrize("kind", [trial, own])
def test_a_few_trials(kind):
    found = lane(kind, 12, 1)
    assert found.false == 0
    assert found.decided > 30  # not for want of certificates


def test_the_solutions_are_solutions():
    """In many digits, by differences, and of continuous flux: the lane would prove nothing about other equations."""
    with mpmath.workdps(60):
        case = Layered.draw(np.random.default_rng(4), 1, cubic(1.0, 0.5), contrast=3, bent=True)
        (axis,) = case.axes
        assert len(axis.rates) > 1 and any(c1 for _, c1 in axis.rates)

        def u(layer):
            p = axis.in_digits(layer)
            return lambda x: mp(case.size) * mpmath.polyval(p[::-1], x - mp(axis.ends[layer]))

        def flux(layer):
            return lambda x: mpmath.diff(u(layer), x) / mp(axis.rate(layer, float(x)))

        for layer, end in enumerate(axis.ends[1:-1]):
            assert abs(u(layer)(mp(end)) - u(layer + 1)(mp(end))) <= mp(10) ** -40
            assert abs(flux(layer)(mp(end)) - flux(layer + 1)(mp(end))) <= mp(10) ** -15 * (
                1 + abs(flux(layer)(mp(end)))
            )
        for layer, (a, b) in enumerate(pairwise(axis.ends)):
            x, rates = (3 * mp(a) + 2 * mp(b)) / 5, [mp(c) for c in axis.rates[layer]]

            def through(z, layer=layer, rates=rates, begin=a):
                return mpmath.diff(u(layer), z) / (rates[0] + 2 * rates[1] * (z - mp(begin)))

            left = -mpmath.diff(through, x) + u(layer)(x) + u(layer)(x) ** 3 / 2
            stated = float(case.forcing.values[layer](np.array([float(x)]))[0])
            assert abs(left - mp(stated)) <= 1e-12 * (1 + abs(left))
