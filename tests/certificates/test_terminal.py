"""Law 7 for the energy certificates: bounds hold and are not loose, pairs are never wrong, doubt closes them."""

from dataclasses import replace

import numpy as np
import pytest

import physrank as pr
from energy_cases import (
    CONTINUUM,
    both,
    bound,
    closed,
    corrected,
    diffusion,
    distance,
    library,
    off,
    refined,
    stated,
    truth_of,
    waves,
)
from helpers import solve, with_state
from physrank.certificates import Certificate, diffusion_reaction, sine_gordon
from physrank.certificates.diffusion_reaction import DiffusionReactionEnergy
from physrank.certificates.sine_gordon import SineGordonEnergy
from physrank.equations import DiffusionReaction, SineGordon
from physrank.geometry import gaps_of
from problems import burgers


@both
@pytest.mark.parametrize("seed", range(4))
def test_bound_holds_and_is_not_loose(make, energy, seed):
    """Within a factor of 8 of the true distance after one, two and three corrections, until round-off."""
    problem, truth = stated(make, seed)
    for count in (1, 2, 3):
        ranking = corrected(problem, library(problem, truth, seed), count)
        found, true = bound(problem, ranking.state, energy), distance(problem, ranking.state, truth)
        assert true <= found + 1e-13
        assert found <= 8 * true + 1e-11
        if count < 3:  # the third can stop at the solver's absolute tolerance, and then counts as unresolved
            enclosure = energy(problem, ranking)
            assert all(a.holds for a in enclosure.assumptions)
            assert enclosure.kind == "theorem"
            assert enclosure.state_bound == found


@both
@pytest.mark.parametrize("size", [0.01, 0.3, 3.0])
def test_bound_holds_for_rough_states(make, energy, size):
    """No smallness condition: white noise of three times the solution has a bound too."""
    for seed in range(5):
        problem, truth = stated(make, seed)
        state = off(problem, truth, size, seed, rough=True)
        assert distance(problem, state, truth) <= bound(problem, state, energy) < np.inf


@both
def test_bound_holds_for_uneven_rows(make, energy):
    times = np.cumsum([0.0, 0.05, 0.25, 0.05, 0.02, 0.25, 0.08, 0.2, 0.1, 0.1, 0.1])[: len(make().times)]
    for seed in range(5):
        problem = make(seed, times=times)
        truth = truth_of(problem)
        for size in (1e-6, 0.1, 1.0):
            state = off(problem, truth, size, seed, rough=True)
            assert distance(problem, state, truth) <= bound(problem, state, energy)


@both
def test_a_wrong_first_row_is_replaced(make, energy):
    """The initial state is known: a trajectory that starts elsewhere is judged by where it ends."""
    problem, truth = stated(make, 1)
    state = truth.copy()
    state[0] += 1.0
    assert bound(problem, state, energy) < 1e-10


def near_ties(truth, random, gap, weight):
    """Two candidates whose losses in the terminal row differ by ±gap, far from the truth and from each other."""
    d = random.standard_normal(truth[-1].shape)
    d *= 0.1 / np.sqrt(weight * np.sum(d**2))
    common = random.standard_normal(truth[-1].shape)
    common -= d * np.sum(common * d) / np.sum(d**2)
    common *= 0.1 / np.sqrt(weight * np.sum(common**2))
    shift = gap / (2 * weight * np.sum(d**2))
    pair = []
    for side in (0.5, -0.5):
        state = truth + np.linspace(0, 1, len(truth)).reshape(-1, *[1] * (truth.ndim - 1)) * (
            common + (side + shift) * d
        )
        pair.append(state)
    return pair


@pytest.mark.parametrize(
    "make, energy, rounds",
    [(diffusion, DiffusionReactionEnergy(), 12), (waves, SineGordonEnergy(), 12), (waves, CONTINUUM, 4)],
    ids=["diffusion-reaction", "sine-gordon", "continuum"],
)
def test_never_a_wrong_pair(make, energy, rounds):
    """Random libraries, near ties down to 1e-12 and all numbers of corrections: what is decided is right."""
    decided = total = close = 0
    for seed in range(rounds):
        (problem, truth), random = stated(make, seed), np.random.default_rng(seed)
        target, uncertain = truth, 1e-14
        if energy is CONTINUUM:  # a step 16 times smaller, and how far even that is from the equation
            fine = solve(refined(problem))
            target, uncertain = fine[..., ::2], bound(refined(problem), fine, CONTINUUM)
        weight = float(problem.metric().space(truth[-1].shape).weights.flat[0])
        for trial in range(9):
            gap = 10.0 ** random.integers(-12, -2) * random.choice([-1, 1])
            states = [*near_ties(target, random, gap, weight), *library(problem, truth, seed + trial).values()]
            ranking = corrected(problem, states, int(random.integers(1, 5)))
            signs = energy(problem, ranking).gaps.signs
            true = gaps_of(ranking.space, ranking.outputs, target[-1])
            sure = np.abs(true) > 2 * uncertain * ranking.space.distances(ranking.outputs)
            assert np.all((signs == 0) | (signs == np.sign(true)) | ~sure)
            decided, total = decided + np.sum(signs != 0), total + signs.size - len(signs)
            close += signs[0, 1] != 0
    assert decided > 0.8 * total
    assert energy is CONTINUUM or close > rounds


@both
def test_wider_defects_certify_less(make, energy):
    problem, truth = stated(make, 7)
    candidates, noise = library(problem, truth, 7), off(problem, truth, 1.0, 3, rough=True) - truth
    bounds, decided = [], []
    for size in (1e-8, 1e-4, 1e-3, 1e-2, 1e-1, 1.0):
        found = energy(problem, with_state(pr.rank(problem, candidates), truth + size * noise))
        bounds.append(found.state_bound)
        decided.append(int(np.sum(found.gaps.signs != 0)))
    assert np.all(np.diff(bounds) > 0)
    assert np.all(np.diff(decided) <= 0)
    assert decided[0] == 12
    assert decided[-1] == 0


@both
def test_metrics_of_the_terminal_task(make, energy):
    """Mean square and the problem's own metric differ by a constant, and so do their gaps; own weights work too."""
    problem, truth = stated(make, 8)
    ranking = pr.rank(problem, library(problem, truth, 8), effort="response")
    own, mean = (energy(problem, ranking.rescore(pr.tasks.terminal(m))) for m in (problem.metric(), None))
    scale = problem.metric().space(truth[-1].shape).weights.sum()
    np.testing.assert_allclose(own.gaps.low, scale * mean.gaps.low, rtol=1e-9, atol=1e-12)
    assert own.state_bound == pytest.approx(mean.state_bound)
    weights = np.random.default_rng(0).uniform(0.1, 2, truth[-1].shape)
    weighted = ranking.rescore(pr.tasks.terminal(pr.metrics.weights(weights)))
    found, true = energy(problem, weighted), gaps_of(weighted.space, weighted.outputs, truth[-1])
    assert np.all((found.gaps.low <= true) & (true <= found.gaps.high))
    assert np.all(np.isfinite(found.gaps.low))


def unstable_reaction():
    """Around u = v = 0 the reaction is nilpotent: a defect (1, −1) in the first row grows like 1 + 2t."""
    times, push = np.linspace(0, 3, 11), 1e-4 * np.array([1.0, -1.0])[:, None, None] * np.ones((8, 8))
    rest, pushed = (DiffusionReaction(start, times, threshold=0.0) for start in (0 * push, push))
    return rest, truth_of(pushed), np.zeros(rest.state_shape)


def unstable_pendulum():
    """Around u = π the sine pushes away: a defect grows like eᵗ."""
    times, rest = np.linspace(0, 2, 9), np.full(32, np.pi)
    problem = SineGordon(rest, np.zeros(32), times, points=32)
    pushed = SineGordon(rest + 1e-4, np.full(32, 1e-4), times, points=32)
    return problem, truth_of(pushed), np.broadcast_to(np.asarray(problem.initial), problem.state_shape)


@pytest.mark.parametrize(
    "make, energy, module, name, twin",
    [
        (unstable_reaction, DiffusionReactionEnergy(), diffusion_reaction, "growth", lambda r, a, b: np.ones_like(r)),
        (unstable_pendulum, SineGordonEnergy(), sine_gordon, "slope_mismatch", lambda a, b: 0 * sine_gordon.MASSES),
        (unstable_pendulum, CONTINUUM, sine_gordon, "slope_mismatch", lambda a, b: 0 * sine_gordon.MASSES),
    ],
    ids=["diffusion-reaction", "sine-gordon", "continuum"],
)
def test_sabotaged_growth_is_caught(make, energy, module, name, twin, monkeypatch):
    problem, state, truth = make()
    true = distance(problem, state, truth)
    assert true <= bound(problem, state, energy) <= 4 * true
    monkeypatch.setattr(module, name, twin)
    assert bound(problem, state, energy) < true / 2


@pytest.mark.parametrize("target", ["grid", "continuum", None])
def test_fails_closed(target):
    make, energy = (diffusion, DiffusionReactionEnergy()) if target is None else (waves, SineGordonEnergy(target))
    problem, truth = stated(make, 9)
    ranking = pr.rank(problem, library(problem, truth, 9))
    assert not [a for a in energy(problem, ranking).assumptions if not a.holds]
    for task in (pr.tasks.field(), pr.tasks.linear(lambda state: state[-1]), pr.tasks.nonlinear(lambda s: s[-1] ** 2)):
        closed(energy(problem, ranking.rescore(task)), "the task is the terminal state")
    closed(energy(burgers(), ranking), "the problem is")
    closed(energy(make(9, times=[0.0, 0.1]), ranking), "shape")
    broken = np.where(np.arange(truth.size).reshape(truth.shape) == truth.size // 2, np.nan, truth)
    closed(energy(problem, with_state(ranking, broken)), "finite")
    rescored = replace(ranking, rung=replace(ranking.rung, failed="it stopped")).rescore(ranking.task)
    closed(energy(problem, rescored), "the response converged")
    certificate = Certificate(rescored.names, rescored.gaps, energy(problem, rescored), 0.0)
    assert certificate.best is None
    assert "Nothing is certified" in str(certificate)
    for size in (1e30, 1e200):
        assert np.all(energy(problem, with_state(ranking, np.full_like(truth, size))).gaps.signs == 0)
