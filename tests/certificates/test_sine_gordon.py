"""The certificate of Sine–Gordon: steps of its proof, and the continuum against exact solutions."""

import jax
import numpy as np
import pytest

import physrank as pr
from energy_cases import CONTINUUM, bound, closed, distance, library, off, refined, stated, waves
from exact import breather, kinks
from helpers import solve, with_state
from physrank.certificates import sine_gordon
from physrank.certificates.sine_gordon import SineGordonEnergy
from physrank.equations import SineGordon
from physrank.geometry.lifts import lift
from physrank.physics.levels import altered


def test_odd_grids():
    problem = waves(2, points=31)
    truth = solve(problem)
    state = off(problem, truth, 0.1, 0, rough=True)
    for target in ("grid", "continuum"):
        assert distance(problem, state, truth) <= bound(problem, state, SineGordonEnergy(target))


def test_verlet_map_is_lipschitz_as_stated():
    """‖Φ(a) − Φ(b)‖ ≤ growth ‖a − b‖ in every energy, for pairs of states near and far."""
    problem, random = waves(3, times=[0.0, 0.3]), np.random.default_rng(3)
    energies = sine_gordon.Energies.verlet(problem, 0.3 / problem.substeps)
    row = jax.tree.map(lambda leaf: leaf[0], problem.marching.forcing)
    flow = jax.jit(lambda w: problem.flow(w, problem.speed, row))
    mismatch, step = sine_gordon.slope_mismatch(-1.0, 1.0), 0.3 / problem.substeps
    worst = np.exp(2 * problem.substeps * np.arcsinh(step * mismatch / (4 * energies.floor)))
    tightest = 0.0
    for _ in range(50):
        a = random.uniform(0, 4) * random.standard_normal((2, 32)) + random.uniform(-4, 4)
        b = a + 10.0 ** random.uniform(-4, 1) * random.standard_normal((2, 32 if random.uniform() < 0.5 else 1))
        before, after = energies.norms(np.stack([a - b, np.asarray(flow(a)) - np.asarray(flow(b))]))
        assert np.all(after <= worst * before * (1 + 1e-9))
        tightest = max(tightest, np.max(after / before / worst))
    assert tightest > 0.5


def test_sup_norm_is_within_reach():
    problem = waves(0)
    for energies in (sine_gordon.Energies.verlet(problem, 0.01), sine_gordon.Energies.continuous(problem)):
        peak = np.zeros((1, 2, 32))  # the extremal function: a Fourier delta over ω²
        for k in range(len(energies.reach)):
            peak[0, 0] = np.fft.irfft(energies.frequencies[k] ** -2.0, n=32)
            ratio = np.abs(peak).max() / energies.norms(peak)[0, k]
            assert 0.85 * energies.reach[k] < ratio <= energies.reach[k] * (1 + 1e-12)


def soliton(exact, length, substeps, points=384):
    shift = lambda x: x - length / 2  # noqa: E731
    problem = SineGordon(
        lambda x: exact(0.0, shift(x))[0],
        lambda x: exact(0.0, shift(x))[1],
        np.linspace(0, 2.0, 5),
        length=length,
        points=points,
        substeps=substeps,
    )
    x = np.arange(8 * points) * length / (8 * points)
    return problem, np.stack(exact(2.0, shift(x)))


def function_distance(problem, state, exact):
    """The L² distance between the interpolant of the last row and a function, on a finer grid."""
    fine = exact.shape[-1]
    return np.sqrt(np.sum((lift(state[-1], (fine,), "fourier") - exact) ** 2) * problem.length / fine)


@pytest.mark.parametrize("exact, length", [(breather, 60.0), (kinks, 80.0)], ids=["breather", "kinks"])
def test_continuum_bound_against_exact_solutions(exact, length):
    """Within a factor of 8 of the distance to the exact solution, and second order with the time step."""
    bounds = []
    for substeps in (8, 16):
        problem, end = soliton(exact, length, substeps)
        state = solve(problem)
        true = function_distance(problem, state, end)
        bounds.append(bound(problem, state, CONTINUUM))
        assert true <= bounds[-1] <= 8 * true
        for size in (1e-3, 0.1):
            rough = off(problem, state, size, 1, rough=True)
            assert function_distance(problem, rough, end) <= bound(problem, rough, CONTINUUM) < np.inf
    assert abs(np.log2(bounds[0] / bounds[1]) - 2) < 0.1


def test_continuum_bound_sees_a_coarse_grid():
    """On 12 points the same-grid solution is exact for the map, and far from the equation."""
    problem = waves(6, points=12, substeps=64)
    truth, end = solve(problem), solve(refined(problem))[-1]
    true = function_distance(problem, truth, end)
    assert bound(problem, truth, SineGordonEnergy()) < 1e-11
    assert 1e-4 < true <= bound(problem, truth, CONTINUUM) < 50 * true


def test_continuum_needs_an_even_metric():
    problem, truth = stated(waves, 1)
    ranking = pr.rank(problem, library(problem, truth, 1))
    weights = pr.metrics.weights(np.linspace(1, 2, 32))
    found = SineGordonEnergy("continuum")(problem, ranking.rescore(pr.tasks.terminal(weights)))
    closed(found, "weighs all points of a field alike")
    with pytest.raises(ValueError, match='target must be "grid" or "continuum"'):
        SineGordonEnergy("exact")  # pyright: ignore[reportArgumentType]


def test_excluded_candidates_stay_open():
    problem, truth = stated(waves, 2)
    candidates = library(problem, truth, 2) | {"broken": np.full_like(truth, np.nan)}
    found = SineGordonEnergy()(problem, pr.rank(problem, candidates, invalid="exclude"))
    assert np.all(found.gaps.signs[-1] == 0)
    assert np.any(found.gaps.signs != 0)


@pytest.mark.parametrize("target", ["grid", "continuum"])
def test_slopes_far_from_the_state_count(target):
    """A pendulum that goes round, judged by one at rest: between them the sine does not pull as it does at rest."""
    flat, times = np.ones(8), np.linspace(0, 4, 81)
    problem = SineGordon(0 * flat, 3 * flat, times, points=8, substeps=4)
    state, truth = np.zeros(problem.state_shape), solve(problem)
    true = distance(problem, state, truth)
    assert true > 3.5 * np.linalg.norm([3.0]) * np.sqrt(2 * np.pi) / 1.5
    assert true <= bound(problem, state, SineGordonEnergy(target)) < np.inf


def test_secant_slopes_are_within_half_the_distance():
    """σ between s and s − d is within |d|/2 of cos s, and not always within a third."""
    random, used = np.random.default_rng(7), 0.0
    for _ in range(2000):
        s, d = random.uniform(-4, 4), 10.0 ** random.uniform(-3, 1) * random.choice([-1, 1])
        slope = (np.sin(s) - np.sin(s - d)) / d
        found = sine_gordon.secant_mismatch(np.cos(s), np.cos(s), abs(d))
        assert np.all(np.abs(sine_gordon.MASSES**2 - slope) <= found + 1e-9)
        used = max(used, abs(slope - np.cos(s)) / abs(d))
    assert 0.45 < used <= 0.5


def test_the_linear_substep_preserves_every_energy():
    """Velocity Verlet for u_tt = c² u_xx − κ² u, one substep of a size at which its own frequencies are far from the true."""
    problem, step = waves(1), 0.08
    energies, row = sine_gordon.Energies.verlet(problem, step), np.random.default_rng(0).standard_normal((2, 32))
    for k, mass in enumerate(sine_gordon.MASSES):
        square = (float(problem.speed) * np.arange(17)) ** 2 + mass**2
        pull = lambda u, square=square: np.fft.irfft(-square * np.fft.rfft(u), n=32)  # noqa: E731
        half = row[1] + step / 2 * pull(row[0])
        ahead = row[0] + step * half
        before, after = energies.norms(np.stack([row, [ahead, half + step / 2 * pull(ahead)]]))[:, k]
        np.testing.assert_allclose(after, before, rtol=1e-9)
    assert step * float(problem.speed) * 16 / 2 > 0.4


def test_a_bound_in_an_energy_bounds_both_fields():
    """The slowest mode has the largest displacement for its energy, and a velocity alone has its own."""
    problem = waves(0)
    for energies in (sine_gordon.Energies.verlet(problem, 0.01), sine_gordon.Energies.continuous(problem)):
        rest, push = np.zeros((2, 2, 32)), np.array([3.0, 0.5])
        rest[0, 0], rest[1, 1] = push[0], push[1]
        for fields, size, share in zip(energies.norms(rest), push * np.sqrt(2 * np.pi), ((1, 0), (0, 1)), strict=True):
            for k in range(len(fields)):  # from any energy alone
                alone = np.where(np.arange(len(fields)) == k, fields, np.inf)
                assert size <= energies.in_metric(alone, *share) <= size * (1 + 1e-2)


def test_functions_count_the_last_mode_once():
    """cos(nx/2) has twice its square on the grid: as functions, another candidate is the better one."""
    points = 16
    x, rows = np.arange(points) * 2 * np.pi / points, np.zeros((3, 2, points))
    problem = SineGordon(0 * x, 0 * x, np.linspace(0, 0.1, 3), points=points)
    jagged, smooth = rows.copy(), rows.copy()
    jagged[-1, 0], smooth[-1, 0] = 0.6 * np.cos(8 * x), 0.7 * np.sin(x)
    ranking = pr.rank(problem, {"jagged": jagged, "smooth": smooth}, effort="response")
    found = SineGordonEnergy("continuum")(problem, ranking).gaps
    true = np.pi * (0.7**2 - 0.6**2)
    assert found.low[0, 1] <= true <= found.high[0, 1]
    assert found.high[0, 1] - found.low[0, 1] < 1e-6
    assert ranking.gaps[0, 1] < 0 < found.low[0, 1]


def test_a_force_that_changes_within_a_substep():
    """The equation's force is linear between samples; a path for another force misses the rows that follow this one."""
    coarse = np.linspace(0, 1, 9)
    samples = 4 * np.cos(3 * coarse)
    force = lambda t, x: np.interp(t, coarse, samples) + 0 * x  # noqa: E731
    still, times = np.zeros(8), np.linspace(0, 1, 3)
    problem, fine = (SineGordon(still, still, times, forcing=force, points=8, substeps=n) for n in (4, 256))
    state = solve(problem)
    true = distance(problem, state, solve(fine))
    assert 1e-3 < true <= bound(problem, state, CONTINUUM) <= 2 * true


def test_steps_beyond_stability_are_named():
    problem, truth = stated(waves, 2)
    ranking = pr.rank(problem, library(problem, truth, 2))
    step = float(np.diff(problem.times).max()) / problem.substeps
    number = step * np.hypot(16 * float(problem.speed), 1.0)
    for share, holds in ((0.99, True), (1.01, False)):
        slower = altered(problem, times=problem.times * 2 / number * share)
        found = SineGordonEnergy()(slower, ranking)
        assert [a.holds for a in found.assumptions if "every substep is stable" in a.statement] == [holds]
        assert holds or not np.any(found.gaps.signs)
    backwards = altered(problem, times=-problem.times)
    closed(SineGordonEnergy()(backwards, ranking), "time increases")


def test_the_largest_weight_of_a_point_counts():
    """An error where the metric weighs most: the radius is not below it."""
    problem, truth = stated(waves, 3)
    weights = np.full((2, 32), 0.01)
    weights[0, 7] = 4.0
    ranking = pr.rank(problem, library(problem, truth, 3), task=pr.tasks.terminal(pr.metrics.weights(weights)))
    state = truth.copy()
    state[-1, 0, 7] += 0.1
    found = SineGordonEnergy()(problem, with_state(ranking, state)).gaps
    radius = (found.high - found.low)[0, 1] / 4 / ranking.space.distances(ranking.outputs)[0, 1]
    assert 0.2 <= radius < 10


class Driven(SineGordon):
    """Derived: it may have any other defect."""


def test_a_derived_equation_has_no_theorem():
    problem, truth = stated(waves, 4)
    ranking = pr.rank(problem, library(problem, truth, 4))
    derived = Driven(np.zeros(32), np.zeros(32), np.linspace(0, 1, 9), points=32)
    closed(SineGordonEnergy()(derived, ranking), "the problem is SineGordon")
