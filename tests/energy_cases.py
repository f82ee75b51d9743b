"""Trajectories, libraries and distances for the certificates of terminal states."""

from functools import cache

import numpy as np
import pytest

import physrank as pr
from physrank.certificates.diffusion_reaction import DiffusionReactionEnergy
from physrank.certificates.sine_gordon import SineGordonEnergy
from physrank.equations import DiffusionReaction, SineGordon


def diffusion(seed=0, cells=8, times=None, **options):
    initial = 0.7 * np.random.default_rng(seed).standard_normal((2, cells, cells))
    times = np.linspace(0, 2, 11) if times is None else times
    return DiffusionReaction(initial, times, **{"diffusion": (0.01, 0.05)} | options)


def waves(seed=0, points=32, times=None, amplitude=1.5, substeps=4):
    random = np.random.default_rng(seed)
    x = np.arange(points) * 2 * np.pi / points

    def series(size):
        a, b = random.standard_normal((2, 3)) * size / np.arange(1, 4) ** 1.5
        return sum(a[k] * np.cos((k + 1) * x) + b[k] * np.sin((k + 1) * x) for k in range(3))

    return SineGordon(
        series(amplitude),
        series(0.5 * amplitude),
        np.linspace(0, 1, 9) if times is None else times,
        random.uniform(0.7, 1.3),
        series(0.2),
        points=points,
        substeps=substeps,
    )


CONTINUUM = SineGordonEnergy("continuum")
CASES = {
    "diffusion-reaction": (diffusion, DiffusionReactionEnergy()),
    "sine-gordon": (waves, SineGordonEnergy()),
}
both = pytest.mark.parametrize("make, energy", CASES.values(), ids=list(CASES))


def truth_of(problem):
    """The same-grid solution to round-off: corrections until nothing moves."""
    state = np.broadcast_to(np.asarray(problem.initial), problem.state_shape)
    for _ in range(12):
        last, state = state, pr.rank(problem, {"it": state}, anchor=state).state
        if np.abs(state - last).max() < 1e-14:
            break
    assert np.abs(state - last).max() < 1e-9
    return state


@cache
def stated(make, seed):
    """A problem and its solution, found once for all tests of it."""
    problem = make(seed)
    return problem, truth_of(problem)


def corrected(problem, candidates, count):
    """`rank` with `count` corrections; each is a call of its own, so that one compilation serves all counts."""
    ranking = pr.rank(problem, candidates, effort="response")
    for _ in range(count - 1):
        ranking = pr.rank(problem, candidates, anchor=ranking.state)
    return ranking


def bound(problem, state, energy):
    """Of the distance of any trajectory to the target, in L²."""
    energies, bounds = energy.bounds(problem, state)
    if isinstance(energy, SineGordonEnergy):
        return energies.in_metric(bounds, 1.0, 1.0)
    return float(np.min(bounds * energies.factors((1.0, 0.0, 1.0))))


def off(problem, truth, size, seed, rough=False):
    """The truth with an error of relative size `size` that starts at the first row; smooth, or white noise."""
    random = np.random.default_rng(seed)
    error = random.standard_normal(truth.shape)
    if not rough:
        for axis in [*range(2, truth.ndim)] * 6:
            error = (error + np.roll(error, 1, axis)) / 2
        error = np.cumsum(error, axis=0)
    error[0] = 0
    return truth + size * np.linalg.norm(truth[-1]) / np.linalg.norm(error[-1]) * error


def library(problem, truth, seed, sizes=(0.02, 0.05, 0.1, 0.2)):
    return {f"c{k}": off(problem, truth, size, 10 * seed + k) for k, size in enumerate(sizes)}


def distance(problem, state, truth):
    return np.sqrt(problem.metric().space(truth[-1].shape).norm_squared(state[-1] - truth[-1]))


def refined(coarse):
    """The equation that a problem stands for, on a finer grid with small steps."""
    return SineGordon(
        np.asarray(coarse.initial[0]),
        np.asarray(coarse.initial[1]),
        np.asarray(coarse.times),
        float(coarse.speed),
        np.asarray(coarse.forcing[0, 0]),
        points=64,
        substeps=64,
    )


def closed(found, words):
    failed = [a.statement for a in found.assumptions if not a.holds]
    assert any(words in statement for statement in failed), failed
    assert np.all(found.gaps.signs == 0)
    assert np.all(np.isinf(found.gaps.low[~np.eye(len(found.gaps.low), dtype=bool)]))
    assert not np.isfinite(found.state_bound)
