"""The energy certificate of Burgers against known solutions: never wrong, seldom far too wide, closed on failure."""

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import physrank as pr
from burgers_flows import FINE, GRID, NU, POINTS, TIMES, T, cole_hopf, fine, holds, library_of, norm, problem_of
from helpers import with_state
from physrank.certificates import BurgersEnergy, Certificate
from physrank.geometry import FiniteSet

AS_IT_IS = pr.Correction(step=0.0)  # the anchor itself becomes the state that is certified


def travelling(t, x):
    return jnp.sin(x - 3 * t)


def modulated(t, x):
    return (1 + 0.3 * jnp.sin(20 * t)) * jnp.sin(x) + 0.2 * jnp.cos(25 * t) * jnp.cos(2 * x)


def force_of(u):
    """f = u_t − ν u_xx + u u_x."""
    u_t, u_x = jax.grad(u, 0), jax.grad(u, 1)
    u_xx = jax.grad(u_x, 1)
    force = jax.jit(jnp.vectorize(lambda t, x: u_t(t, x) - NU * u_xx(t, x) + u(t, x) * u_x(t, x)))
    return lambda t, x: np.asarray(force(jnp.asarray(t), jnp.asarray(x)))


def certify(problem, state):
    """Any trajectory as it is, with a rival to compare it with."""
    ranking = pr.rank(
        problem, {"itself": state, "rival": 0.9 * state, "third": 1.2 * state}, anchor=state, corrections=AS_IT_IS
    )
    return BurgersEnergy()(problem, ranking), ranking


@pytest.mark.parametrize("corrections, least, factor", [(1, 1e-4, 2), (2, 1e-9, 2), (3, 0.0, 20)])
def test_cole_hopf(corrections, least, factor):
    """The bound holds, and is within a factor 2 of the error as long as the anchor causes it, 20 at the scheme's own."""
    u = cole_hopf(1.5)
    ranking = pr.rank(problem_of(u), library_of(u), corrections=corrections)
    enclosure = BurgersEnergy()(problem_of(u), ranking)
    error = holds(enclosure, ranking, u(TIMES[-1], FINE))
    assert error >= least
    assert enclosure.state_bound <= factor * error
    certificate = Certificate(ranking.names, ranking.gaps, enclosure, 0.0)
    assert certificate.settled
    assert certificate.best == ranking.best
    assert certificate.kind == "theorem"


@pytest.mark.parametrize("c", [1.2, 1.1, 1.05])
def test_cole_hopf_steeper_than_the_grid(c):
    """Unresolved modes are in the bound: it widens with them instead of missing them."""
    u = cole_hopf(c)
    ranking = pr.rank(problem_of(u), library_of(u), corrections=3)
    holds(BurgersEnergy()(problem_of(u), ranking), ranking, u(TIMES[-1], FINE))


@pytest.mark.parametrize("seed", range(6))
def test_any_state(seed):
    """Perturbed, rough and wrong trajectories, first rows included: nothing about the state is assumed."""
    random = np.random.default_rng(seed)
    u = cole_hopf(1.5)
    exact = u(TIMES[:, None], GRID)
    rough = random.standard_normal(exact.shape) * [1e-6, 1e-3, 0.1][seed % 3]
    smooth = np.cumsum(random.standard_normal((9, 1)), axis=0) * np.sin(GRID + random.uniform(0, 6)) * 0.1
    state = exact + (rough if seed < 3 else smooth)
    enclosure, ranking = certify(problem_of(u), state)
    holds(enclosure, ranking, u(TIMES[-1], FINE))


@pytest.mark.parametrize("u", [travelling, modulated])
@pytest.mark.parametrize("corrections", [1, 2, 3])
def test_forced(u, corrections):
    problem = problem_of(u, force_of(u))
    ranking = pr.rank(problem, library_of(u), corrections=corrections)
    error = holds(BurgersEnergy()(problem, ranking), ranking, u(TIMES[-1], FINE), slack=1e-9)
    assert BurgersEnergy()(problem, ranking).state_bound <= 40 * error


def test_a_force_between_its_samples_is_covered_by_forcing_error():
    """f = sin x · sin(ωt) vanishes at every sample; only `forcing_error` can know of it."""
    samples = 2 * 4 * (len(TIMES) - 1)
    omega = np.pi * samples / TIMES[-1]
    hidden = lambda t, x: 30 * np.sin(omega * t) ** 2 * np.sin(x)  # noqa: E731
    problem = problem_of(lambda t, x: 0 * x, hidden)
    assert np.abs(problem.forcing).max() < 1e-10
    truth = pr.equations.Burgers(np.zeros(POINTS), NU, TIMES, hidden, points=POINTS, substeps=200)
    rows, _ = pr.scorers.DirectSolve().solution(truth, truth.state_shape)
    still = np.zeros_like(rows)
    ranking = pr.rank(problem, {"still": still, "moving": rows, "between": rows / 2}, anchor=still)
    ignorant, told = BurgersEnergy()(problem, ranking), BurgersEnergy(30 * np.sqrt(np.pi) * 0.25)(problem, ranking)
    assert ignorant.state_bound < 1e-12 < norm(rows[-1])  # right about the interpolated force, not about this one
    assert ignorant.gaps.signs[0, 1] == 1
    holds(told, ranking, fine(rows[-1]))
    assert told.gaps.signs[0, 1] == 0


def test_gaps_are_those_of_functions_not_of_grid_values():
    """The last mode of an even grid weighs half in L² of what the sum over the grid says: a pair changes its sign."""
    u = cole_hopf(1.5)
    exact = u(TIMES[:, None], GRID)
    jagged = exact + 0.1 * T * np.cos(POINTS / 2 * GRID)  # grid: 0.01 L, L²: 0.005 L
    smooth = exact + 0.12 * T * np.sin(GRID)  # both: 0.0072 L
    ranking = pr.rank(problem_of(u), {"jagged": jagged, "smooth": smooth, "loud": 2 * exact}, corrections=2)
    assert ranking.gaps[0, 1] < 0
    enclosure = BurgersEnergy()(problem_of(u), ranking)
    holds(enclosure, ranking, u(TIMES[-1], FINE))
    assert enclosure.gaps.signs[0, 1] == 1


def opened(enclosure, complaint):
    failed = [a.statement for a in enclosure.assumptions if not a.holds]
    assert any(complaint in statement for statement in failed), failed
    assert not np.any(enclosure.gaps.signs)
    assert enclosure.state_bound == np.inf


def test_what_it_cannot_certify_stays_open():
    u = cole_hopf(1.5)
    problem, library = problem_of(u), library_of(u)
    ranking = pr.rank(problem, library)
    energy = BurgersEnergy()
    assert np.any(energy(problem, ranking).gaps.signs)
    opened(energy(problem, ranking.rescore(pr.tasks.field())), "terminal state")
    opened(energy(problem, ranking.rescore(pr.tasks.terminal())), "periodic L²")  # the mean square
    opened(energy(problem, ranking.rescore(pr.tasks.terminal(pr.metrics.periodic_l2(1.0)))), "periodic L²")
    same_name = pr.tasks.Task("terminal", lambda s: s[-1] ** 2, problem.metric(), linear=False)
    opened(energy(problem, ranking.rescore(same_name)), "terminal state")
    unsolved = replace(ranking, scoring=replace(ranking.scoring, unresolved="the solve stopped"))
    opened(energy(problem, unsolved), "converged")
    for value in (np.nan, np.inf):
        broken = ranking.state.copy()
        broken[3, 5] = value
        opened(energy(problem, with_state(ranking, broken)), "finite")
    opened(energy(problem, with_state(ranking, 1e200 * ranking.state)), "finite")
    other = pr.equations.Burgers(np.zeros(32), NU, TIMES, points=32)
    opened(energy(other, ranking), "grid of the problem")
    opened(energy(problem.marching, ranking), "Burgers")
    for wrong in (-1.0, np.nan, np.inf):
        with pytest.raises(ValueError, match="forcing_error must be a finite number"):
            BurgersEnergy(wrong)


def test_excluded_candidates_stay_open():
    u = cole_hopf(1.5)
    broken = library_of(u) | {"loud": np.full((9, POINTS), np.nan)}
    ranking = pr.rank(problem_of(u), broken, invalid="exclude")
    signs = BurgersEnergy()(problem_of(u), ranking).gaps.signs
    assert not np.any(signs[0])
    assert signs[1, 2] != 0


def test_twins_are_never_told_apart():
    u = cole_hopf(1.5)
    library = library_of(u)
    ranking = pr.rank(problem_of(u), library | {"late": library["wavy"]})
    assert BurgersEnergy()(problem_of(u), ranking).gaps.signs[1, 2] == 0


def test_a_wider_force_certifies_less():
    u = cole_hopf(1.5)
    ranking = pr.rank(problem_of(u), library_of(u))
    bounds = [BurgersEnergy(error)(problem_of(u), ranking) for error in (0.0, 1e-3, 1e-1, 10.0)]
    certified = [np.count_nonzero(b.gaps.signs) for b in bounds]
    assert certified == sorted(certified, reverse=True)
    assert certified[0] == 6
    assert certified[-1] == 0
    growth = next(float(a.measured) for a in bounds[0].assumptions if "growth factor" in a.statement)
    np.testing.assert_allclose(bounds[1].state_bound - bounds[0].state_bound, growth * 1e-3, rtol=1e-9)


def test_a_discrepancy_is_measured_in_the_product_of_the_gaps():
    """cos(nx/2) counts twice on the grid; functions, which this certificate compares, count it once."""
    points, times = 16, np.linspace(0, 0.1, 3)
    x = np.arange(points) * 2 * np.pi / points
    problem = pr.equations.Burgers(np.zeros(points), 0.1, times, points=points)
    last = np.array([0.0, 0.0, 1.0])[:, None]
    ranking = pr.rank(problem, {"a": 0.6 * last * np.cos(8 * x), "b": 0 * last * x})
    for size in (0.2, 0.4):
        shifted = pr.certify(problem, ranking, discrepancy=FiniteSet([size * np.cos(8 * x)]))
        expected = np.pi * ((size - 0.6) ** 2 - size**2)  # ‖z − b‖ … of functions: ∫ cos² = π
        assert shifted.gaps.low[1, 0] <= expected * (1 - 1e-9) or np.isclose(shifted.gaps.low[1, 0], expected)
        assert np.isclose(shifted.gaps.high[1, 0], expected, atol=1e-6)
        assert shifted.best == ("a" if expected < 0 else "b")


def test_bounds_that_contradict_each_other_are_a_failed_assumption(monkeypatch):
    points = 16
    x = np.arange(points) * 2 * np.pi / points
    problem = pr.equations.Burgers(np.sin(x), 0.1, np.linspace(0, 0.1, 3), points=points)
    rows = np.tile(np.sin(x), (3, 1))
    rows[1:] += 0.05 * np.sin(2 * x)
    other = np.tile(np.sin(x), (3, 1))
    other[1:] -= 0.05000001 * np.sin(2 * x)
    ranking = pr.rank(problem, {"a": rows, "b": other})
    wrong = pr.geometry.GapIntervals.around(np.array([[0.0, 9.0], [-9.0, 0.0]]), 0.1)
    monkeypatch.setattr(BurgersEnergy, "_by_pairs", lambda *_: wrong)
    monkeypatch.setattr(pr.geometry.GapIntervals, "signs", property(lambda self: np.zeros(self.low.shape, np.int8)))
    certificate = pr.certify(problem, ranking)
    assert any("contradict" in a.statement for a in certificate.failed)


def test_rounding_of_a_candidate_is_no_decision():
    points = 16
    x = np.arange(points) * 2 * np.pi / points
    problem = pr.equations.Burgers(np.sin(x), 0.1, np.linspace(0, 0.1, 3), points=points)
    rows = np.tile(np.sin(x), (3, 1))
    rows[1:] *= 0.8
    library = {"one": rows, "twin": rows * (1 + 4e-16), "other": rows * 1.1}
    certificate = pr.certify(problem, pr.rank(problem, library, corrections=3))
    assert certificate.signs[0, 1] == 0
    assert certificate.signs[0, 2] != 0
