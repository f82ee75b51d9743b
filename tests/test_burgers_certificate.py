"""The energy certificate of Burgers against solutions that are known: never wrong, seldom far too wide, closed on failure."""

from dataclasses import replace
from itertools import pairwise

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import physrank as pr
from helpers import with_state
from physrank.certificates import BurgersEnergy, Certificate
from physrank.certificates.burgers_pairs import functionals
from physrank.certificates.burgers_path import measure, reconstruct
from physrank.certificates.trigonometric import coefficients
from physrank.geometry.lifts import lift
from physrank.lab.inputs import BurgersInput
from physrank.lab.references import burgers as references

NU, POINTS = 0.1, 96
TIMES = np.linspace(0, 0.5, 9)
GRID, FINE = (np.arange(n) * 2 * np.pi / n for n in (POINTS, 2048))
T = TIMES[:, None] / TIMES[-1]
AS_IT_IS = pr.Correction(step=0.0)  # the anchor itself becomes the state that is certified


def cole_hopf(c):
    """u = −2ν φ_x / φ with φ = c + e^{−νt} cos x solves u_t + u u_x = ν u_xx; steeper as c comes closer to one."""

    def u(t, x):
        decay = np.exp(-NU * t)
        return 2 * NU * decay * np.sin(x) / (c + decay * np.cos(x))

    return u


def travelling(t, x):
    return jnp.sin(x - 3 * t)


def modulated(t, x):
    return (1 + 0.3 * jnp.sin(20 * t)) * jnp.sin(x) + 0.2 * jnp.cos(25 * t) * jnp.cos(2 * x)


def force_of(u):
    """f = u_t − ν u_xx + u u_x."""
    u_t, u_x = jax.grad(u, 0), jax.grad(u, 1)
    u_xx = jax.grad(u_x, 1)
    force = jnp.vectorize(lambda t, x: u_t(t, x) - NU * u_xx(t, x) + u(t, x) * u_x(t, x))
    return lambda t, x: np.asarray(force(jnp.asarray(t), jnp.asarray(x)))


def problem_of(u, forcing=None, viscosity=NU, substeps=4):
    return pr.equations.Burgers(lambda x: u(0.0, x), viscosity, TIMES, forcing, points=POINTS, substeps=substeps)


def library_of(u, size=0.15):
    """Three smooth candidates, wrong by about this much."""
    exact = u(TIMES[:, None], GRID)
    return {
        "loud": (1 + size * T) * exact,
        "wavy": exact + size * T * (0.6 * np.sin(2 * GRID) + 0.3 * np.sin(5 * GRID)),
        "late": exact + size * T**2 * np.cos(3 * GRID) - 0.5 * size * T * np.cos(GRID),
    }


def fine(row):
    return lift(row, (len(FINE),), "fourier")


def norm(values):
    return np.sqrt(2 * np.pi * np.mean(values**2, axis=-1))


def true_gaps(outputs, truth):
    """R_j − R_i in L², on a grid that resolves everything."""
    losses = norm(fine(outputs) - truth) ** 2
    return losses[None, :] - losses[:, None]


def holds(enclosure, ranking, truth, slack=1e-13):
    """The state's true error is within its bound, and every true gap in its interval; `slack`: the truth's own error."""
    assert all(a.holds for a in enclosure.assumptions)
    error = norm(fine(ranking.state[-1]) - truth)
    assert error <= enclosure.state_bound + slack
    gaps = true_gaps(ranking.outputs, truth)
    room = 1e-13 + slack * norm(fine(ranking.outputs)).max()
    assert np.all((enclosure.gaps.low - room <= gaps) & (gaps <= enclosure.gaps.high + room))
    assert np.all(enclosure.gaps.signs * np.where(np.abs(gaps) > room, np.sign(gaps), 0) >= 0)
    return error


def certify(problem, state):
    """Any trajectory as it is, with a rival to compare it with."""
    ranking = pr.rank(
        problem, {"itself": state, "rival": 0.9 * state, "third": 1.2 * state}, anchor=state, corrections=AS_IT_IS
    )
    return BurgersEnergy()(problem, ranking), ranking


# -- truth -------------------------------------------------------------------------------------------------------------


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


# -- pairs, to second order --------------------------------------------------------------------------------------------


def test_the_backward_equation_knows_the_error_in_each_direction():
    u = cole_hopf(1.5)
    ranking = pr.rank(problem_of(u), library_of(u, 0.4))
    path = reconstruct(problem_of(u), ranking.state)
    measures, found = measure(path), functionals(path, coefficients(ranking.outputs))
    unknown = found.unknown(measures.radii(), measures.radius())
    i, j = np.triu_indices(3, 1)
    error = u(TIMES[-1], FINE) - fine(ranking.state[-1])
    truth = 2 * np.pi * np.mean(error * fine(ranking.outputs[i] - ranking.outputs[j]), axis=-1)
    crude = measures.radius() * norm(fine(ranking.outputs[i] - ranking.outputs[j]))
    assert np.all(np.abs(truth - found.known) <= unknown)
    assert np.all(unknown < crude / 20)
    assert np.any(np.abs(truth) > unknown)  # without the known part it would be wrong


def test_close_losses_need_it():
    u = cole_hopf(1.5)
    exact = u(TIMES[:, None], GRID)
    wave = T * (0.6 * np.sin(2 * GRID) + 0.3 * np.sin(5 * GRID))
    library = {"plus": exact + 0.4 * wave, "minus": exact - 0.404 * wave, "loud": 1.4 * exact}
    ranking = pr.rank(problem_of(u), library, anchor="plus")
    crude, sharp = (BurgersEnergy(pairs=p)(problem_of(u), ranking) for p in (False, True))
    for enclosure in (crude, sharp):
        holds(enclosure, ranking, u(TIMES[-1], FINE))
    assert crude.gaps.signs[0, 1] == 0
    assert sharp.gaps.signs[0, 1] == 1
    assert np.all((sharp.gaps.low >= crude.gaps.low) & (sharp.gaps.high <= crude.gaps.high))


# -- the laboratory's inputs -------------------------------------------------------------------------------------------


def test_against_independent_references():
    """Inputs of every stratum, candidates lifted from 48 points: no violation beyond the reference's own error."""
    times = np.linspace(0, 0.2, 48)
    cases = [
        BurgersInput.sample("development", 20 + k, s) for k, s in enumerate(("frequency", "parameter", "combined"))
    ]
    settled = 0
    for case, pair in zip(cases, references.pairs(cases, times, 384), strict=True):
        random, coarse = np.random.default_rng(0), pair.fine[:, ::8]
        shapes = np.cumsum(random.standard_normal((4, 6, 48)), axis=1)
        errors = np.fft.irfft(np.fft.rfft(shapes, axis=-1) * (np.arange(25) < 6))[:, 0] * [[0.05], [0.1], [0.1], [0.2]]
        library = {f"v{k}": coarse + times[:, None] / 0.2 * np.abs(coarse).mean() * e for k, e in enumerate(errors)}
        problem = pr.equations.Burgers(case.initial, case.viscosity, times, case.forcing)
        ranking = pr.rank(problem, library)
        enclosure = BurgersEnergy()(problem, ranking)
        bar = np.sqrt(2 * np.pi) * pair.difference
        holds(enclosure, ranking, fine(pair.fine[-1]), slack=bar)
        settled += int(np.all(enclosure.gaps.signs + np.eye(4) != 0))
    assert settled == 3  # after a single correction


# -- order-sharp reversals ---------------------------------------------------------------------------------------------

ROWS = np.linspace(0, 2, 401)
REST = pr.equations.Burgers(np.zeros(32), 1.0, ROWS, points=32, substeps=1)  # u = 0
RAMP = ROWS / 2  # ϑ, with ϑ(T) = 1


def decayed(values, rate):
    """∫_0^t e^{−rate (t − s)} values(s) ds at all rows, by the trapezoid rule."""
    step, decay = ROWS[1], np.exp(-rate * ROWS[1])
    total = [0.0]
    for before, after in pairwise(values):
        total.append(decay * total[-1] + step * (decay * before + after) / 2)
    return np.array(total)


def diagnostic_scores(candidates, midpoint):
    """‖C_T δ_v‖ of every candidate as its own anchor."""
    rule = pr.Correction(midpoint=midpoint)
    rankings = [pr.rank(REST, candidates, anchor=name, corrections=rule) for name in candidates]
    return [norm(r.response.correction[-1]) for r in rankings], rankings


def check_reversal(candidates, midpoint, reversed_):
    """Candidate-wise scores prefer the worse candidate exactly if the theory says so; certificates never do."""
    (first, second), rankings = diagnostic_scores(candidates, midpoint)
    true = [norm(v[-1]) for v in candidates.values()]
    assert true[0] < true[1]
    assert (first > second) == reversed_
    if reversed_:
        assert rankings[0].gaps[0, 1] < 0  # so does the shared score, with this anchor
    for ranking in (*rankings, pr.rank(REST, candidates, corrections=pr.Correction(midpoint=midpoint))):
        enclosure = BurgersEnergy()(REST, ranking)
        holds(enclosure, ranking, 0 * FINE)
        assert enclosure.gaps.signs[0, 1] >= 0
        assert BurgersEnergy(pairs=False)(REST, ranking).gaps.signs[0, 1] >= 0
    assert BurgersEnergy()(REST, pr.rank(REST, candidates, corrections=3)).gaps.signs[0, 1] == 1


@pytest.mark.parametrize("share", [0.9, 1.1])
def test_quadratic_reversal(share):
    """−d₁h and d₂h with d = ε ∓ cε²: reversed for c < κ/H = (I₁ − I₂)/4, h = ϑ (sin x − sin 2x)."""
    h = RAMP[:, None] * (np.sin(REST.grid.axes[0]) - np.sin(2 * REST.grid.axes[0]))
    one, two = (decayed(RAMP**2, k**2)[-1] for k in (1, 2))
    c, size = share * (one - two) / 4, 0.02
    candidates = {"v1": -(size - c * size**2) * h, "v2": (size + c * size**2) * h}
    check_reversal(candidates, midpoint=False, reversed_=share < 1)


@pytest.mark.parametrize("share", [0.9, 1.1])
def test_cubic_reversal(share):
    """−d₁h₁ and −d₂h₂ with d = ε ∓ cε³: the self-midpoint decoder is reversed for c < (γ₁ − γ₂)/2H, h_k = ϑ sin kx."""

    def gamma_over_h(k):
        q = k / 2 * decayed(RAMP**2, 4 * k**2)
        return k / 4 * decayed(RAMP * q, k**2)[-1]

    c, size = share * (gamma_over_h(1) - gamma_over_h(2)) / 2, 0.1
    h = [RAMP[:, None] * np.sin(k * REST.grid.axes[0]) for k in (1, 2)]
    candidates = {"v1": -(size - c * size**3) * h[0], "v2": -(size + c * size**3) * h[1]}
    check_reversal(candidates, midpoint=True, reversed_=share < 1)


# -- sabotage ----------------------------------------------------------------------------------------------------------


def test_without_growth_the_bound_is_wrong():
    """An error in a steepening front grows as e^{∫ ½ |u_x|}; a bound that forgets it is exceeded."""
    viscosity = 0.004
    front = lambda x: -1.2 * np.sin(x)  # noqa: E731
    bump = 1e-4 * np.exp(-((np.mod(GRID + np.pi, 2 * np.pi) - np.pi) ** 2) / 0.05)
    problem = problem_of(lambda t, x: front(x), viscosity=viscosity)
    perturbed = eqx.tree_at(lambda p: p.initial, problem, jnp.asarray(front(GRID) + bump))
    truth, state = (pr.scorers.DirectSolve().solution(p, p.state_shape)[0] for p in (problem, perturbed))
    measures = measure(reconstruct(problem, state))
    error = norm(state[-1] - truth[-1])
    assert error <= measures.radius() <= 2 * error
    assert replace(measures, growth=0 * measures.growth).radius() < 0.8 * error


def test_without_the_truncated_modes_the_bound_is_wrong():
    """A front that outgrows the band limit: the equation is solved among the modes kept, and not among the others."""
    front = lambda t, x: -1.5 * np.sin(x)  # noqa: E731
    coarse = problem_of(front, viscosity=0.02)
    dense = pr.equations.Burgers(lambda x: front(0, x), 0.02, TIMES, points=768, substeps=16)
    state, truth = (pr.scorers.DirectSolve().solution(p, p.state_shape)[0] for p in (coarse, dense))
    error, measures = norm(fine(state[-1]) - fine(truth[-1])), measure(reconstruct(coarse, state))
    assert error <= measures.radius() <= 2 * error
    assert replace(measures, truncation=0 * measures.truncation).radius() < 0.1 * error


def test_half_a_mismatch_is_not_enough():
    """Rows that drift by a constant: each jump is the whole error it causes."""
    state = np.broadcast_to(1e-3 * np.arange(9.0)[:, None], (9, POINTS))
    measures = measure(reconstruct(problem_of(lambda t, x: 0 * x), state))
    np.testing.assert_allclose(measures.radius(), norm(state[-1]), rtol=1e-12)
    assert replace(measures, jumps=measures.jumps / 2).radius() < 0.6 * norm(state[-1])


def test_half_a_residual_is_not_enough():
    """u = t⁵/5 under f = t⁴: the quintic of a substep errs by Simpson's rule, always to the same side.

    Its residual is then ε · 30 θ² (1 − θ)² / h, whose mean square exceeds its mean by √(10/7).
    """
    problem = pr.equations.Burgers(np.zeros(POINTS), NU, TIMES, lambda t, x: 1e3 * t**4 + 0 * x, points=POINTS)
    state, _ = pr.scorers.DirectSolve().solution(problem, problem.state_shape)
    error, measures = norm(state[-1] - 1e3 * TIMES[-1] ** 5 / 5), measure(reconstruct(problem, state))
    np.testing.assert_allclose(measures.radius(), np.sqrt(10 / 7) * error, rtol=1e-3)
    assert replace(measures, residual=measures.residual / 2).radius() < error


# -- closed on failure -------------------------------------------------------------------------------------------------


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
