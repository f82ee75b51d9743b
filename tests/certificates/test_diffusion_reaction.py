"""The steps of the proof for diffusion–reaction, one by one."""

import jax
import jax.numpy as jnp
import mpmath
import numpy as np
import pytest

import physrank as pr
from energy_cases import bound, closed, diffusion, distance
from helpers import solve, with_state
from physrank.certificates import diffusion_reaction
from physrank.certificates.diffusion_reaction import DiffusionReactionEnergy, largest, row_defects
from physrank.equations import DiffusionReaction
from physrank.physics.levels import altered
from physrank.physics.neumann import neumann_laplacian


def test_trapezoidal_growth_holds_for_pairs_of_states():
    """‖e + ½Δt'ΔF‖ ≤ growth ‖e − ½Δt ΔF‖ and ‖e‖ ≤ inverse ‖e − ½Δt ΔF‖ in every energy, for states far apart."""
    problem, random = diffusion(0), np.random.default_rng(0)
    energies, cell = diffusion_reaction.Energies.of(problem), problem.spacing**2
    data = (problem.diffusion, problem.threshold)
    rate = jax.jit(lambda w: -problem.trapezoid(w, w, data, jnp.asarray(1.0)))  # F: both ends are the same
    tightest = 0.0
    for _ in range(200):
        s, u = (random.uniform(0, 2) * random.standard_normal((2, 8, 8)) + random.uniform(-1, 1) for _ in range(2))
        if random.uniform() < 0.5:  # close to a direction that grows
            u = s + 0.01 * np.array([1.0, random.uniform(-1, 1)])[:, None, None]
        step, following = random.uniform(0.01, 0.6, 2)
        error, change = s - u, np.asarray(rate(s)) - np.asarray(rate(u))
        slopes = s[0] ** 2 + s[0] * u[0] + u[0] ** 2
        rates = np.maximum(energies.rates(slopes.min()), energies.rates(slopes.max()))
        before, after, plain = energies.norms(
            np.stack([error - step / 2 * change, error + following / 2 * change, error]), cell
        )
        used = np.isfinite(diffusion_reaction.inverse(rates, step))
        assert np.all(after[used] <= diffusion_reaction.growth(rates, step, following)[used] * before[used] + 1e-12)
        assert np.all(plain[used] <= diffusion_reaction.inverse(rates, step)[used] * before[used] + 1e-12)
        tightest = max(
            tightest, np.max(after[used] / diffusion_reaction.growth(rates, step, following)[used] / before[used])
        )
    assert tightest > 0.95


def test_local_rates_cover_the_secant_slopes():
    """What the rates of a row are computed from, a bound of e − ½Δt ΔF, is given as it is: no slope between s and u may ask
    for a higher rate. Slopes below 3s², above 3s² + 3|s||e| (at s = 0) and far from s are among them."""
    problem, random = diffusion(0), np.random.default_rng(1)
    energies, spacing, step = diffusion_reaction.Energies.of(problem), problem.spacing, 0.01
    rate = jax.jit(lambda w: -problem.trapezoid(w, w, (problem.diffusion, problem.threshold), jnp.asarray(1.0)))
    sharp = 0
    for k in range(120):
        s = random.uniform(-2, 2) * np.ones((2, 8, 8)) * (k % 4 > 0)
        error = np.zeros_like(s)
        error[0, 2, 3] = random.choice([-1, 1]) * 10.0 ** random.uniform(-2, 0.8)  # one cell: |e| = ‖e‖/h
        u = s - error
        change = np.asarray(rate(s)) - np.asarray(rate(u))
        bounds = energies.norms((error - step / 2 * change)[None], spacing**2)[0]
        least, most = np.abs(s[0]).min(), np.abs(s[0]).max()
        found = diffusion_reaction.local_rates(energies, bounds, step, least, most, spacing)
        slope = float(s[0, 2, 3] ** 2 + s[0, 2, 3] * u[0, 2, 3] + u[0, 2, 3] ** 2)
        needed = energies.rates(slope)
        assert np.all(found >= needed - 2e-9 * (1 + slope))  # as much is added to every rate for round-off
        sharp += np.any(found <= needed + 0.05 * np.abs(needed))
    assert sharp > 20  # and often no more than needed


def test_numbers_out_of_range_bound_nothing():
    """An energy whose rate overflows must not look like one that does not grow."""
    energies = diffusion_reaction.Energies.of(diffusion())
    with np.errstate(all="ignore"):
        for size in (1e160, 1e300, np.inf):
            bounds = np.full_like(energies.coupling, size)
            rates = diffusion_reaction.local_rates(energies, bounds, 0.2, 0.0, 1.0, 0.25)
            carried = diffusion_reaction.growth(rates, 0.2, 0.2)
            coupled = energies.coupling != 0
            assert not np.any(np.isfinite(carried[coupled]))
            assert np.all(carried[~coupled] > 1.2)  # about e^{0.2}


def test_laplacian_is_dissipative_in_every_energy():
    problem, random = diffusion(0, cells=6), np.random.default_rng(2)
    energies = diffusion_reaction.Energies.of(problem)
    for _ in range(50):
        w = random.standard_normal((2, 6, 6))
        (u, v), (du, dv) = w, np.asarray(problem.diffusion[:, None, None] * neumann_laplacian(w, problem.spacing))
        g, c = energies.coupling, energies.inhibitor
        product = np.sum(u * du) + g * (np.sum(u * dv) + np.sum(v * du)) + c * np.sum(v * dv)
        assert np.all(product <= 1e-12)


@pytest.mark.parametrize("size", [2.5e-162, 1e-161, 1e-3, 1e160])
def test_couplings_that_diffusion_dissipates_do_not_underflow(size):
    energies = diffusion_reaction.Energies.of(diffusion(diffusion=(size, 1.3 * size)))
    assert np.all(energies.coupling**2 * 2.3**2 <= 4 * energies.inhibitor * 1.3)
    assert energies.coupling.min() < -1.5  # the strongest of them are used


def test_largest_eigenvalues_do_not_cancel():
    """Rates for a large slope tend to −1 from above, and never below."""
    for slope in 10.0 ** np.arange(2, 17):
        rate = largest((1 - slope, 0.0, -1.0), (1.0, 0.0, 1.0))
        assert rate == pytest.approx(-1.0, abs=1e-12)


def flat_problem(activator, inhibitor):
    start = np.array([activator, inhibitor])[:, None, None] * np.ones((2, 2, 2))
    return DiffusionReaction(start, np.linspace(0, 1, 11), threshold=0.0)


def test_slopes_far_from_the_state_count():
    """A solution from elsewhere: its own slopes say decay, those between the two do not."""
    problem, state = flat_problem(-0.12, 0.34), solve(flat_problem(0.58, 0.15))
    true = distance(problem, state, solve(problem))
    assert true <= bound(problem, state, DiffusionReactionEnergy()) <= 1.2 * true


def test_row_defects_are_those_of_the_problem_up_to_what_they_may_be_off_by():
    problem, random = diffusion(0, cells=6), np.random.default_rng(4)
    state = random.standard_normal(problem.state_shape)
    found, doubt = row_defects(problem, state)
    theirs = np.asarray(problem.defect(jnp.asarray(state)))[1:]
    assert np.all(np.abs(found - theirs) <= 2 * doubt)
    assert np.all(doubt <= 1e-13 * np.abs(theirs).max())
    exact = [
        mpmath.mpf(x) for x in (float(problem.diffusion[1]), 2.0, 6.0)
    ]  # one entry in many digits: row 3, b, (0, 2)
    with mpmath.workdps(40):
        at = lambda n, field, i, j: mpmath.mpf(float(state[n, field, i, j]))  # noqa: E731
        half = (mpmath.mpf(float(problem.times[4])) - mpmath.mpf(float(problem.times[3]))) / 2
        rate = sum(
            exact[0] * (exact[2] / exact[1]) ** 2 * sum(at(n, 1, *c) - at(n, 1, 0, 2) for c in ((1, 2), (0, 1), (0, 3)))
            + at(n, 0, 0, 2)
            - at(n, 1, 0, 2)
            for n in (3, 4)
        )
        true = at(4, 1, 0, 2) - at(3, 1, 0, 2) - half * rate
        assert abs(true - mpmath.mpf(float(found[3, 1, 0, 2]))) <= doubt[3, 1, 0, 2]


def test_a_row_whose_defect_vanishes_only_when_it_is_computed():
    """Rest at u = v = −∛k, with k rounded: the computed defect is zero, the solution moves away by that rounding."""
    u = np.full((2, 2), -0.3)
    k = float(-(u**3)[0, 0])
    problem = DiffusionReaction(np.stack([u, u]), np.linspace(0, 4, 9), threshold=k)
    state = np.tile(np.stack([u, u]), (9, 1, 1, 1))
    assert not row_defects(problem, state)[0].any()
    energies, bounds = DiffusionReactionEnergy().bounds(problem, state)
    bound = np.min(bounds * energies.factors((1.0, 0.0, 1.0)))
    with mpmath.workdps(50):
        w, half = [mpmath.mpf(-0.3)] * 2, mpmath.mpf(0.25)

        def rate(w):
            return [w[0] - w[0] ** 3 - mpmath.mpf(k) - w[1], w[0] - w[1]]

        for _ in range(8):
            known = [a + half * b for a, b in zip(w, rate(w), strict=True)]
            for _ in range(200):
                w = [a + half * b for a, b in zip(known, rate(w), strict=True)]
        off = mpmath.sqrt(sum((x - mpmath.mpf(-0.3)) ** 2 for x in w)) * mpmath.mpf(problem.length)
    assert 0 < off <= bound < 1e-12


def test_what_defects_may_be_off_by_counts_like_defects():
    problem = diffusion(0)
    state = solve(problem)
    doubt = 1e-6 * np.abs(np.random.default_rng(0).standard_normal(state[1:].shape))
    none = 0 * doubt
    as_doubt, as_defect = (
        diffusion_reaction.carry(problem, state, *rows)[1] for rows in ((none, doubt), (doubt, none))
    )
    assert np.all(as_doubt >= as_defect * (1 - 1e-6))


def test_what_the_proof_needs_of_the_data_is_named():
    """Data that no constructor lets through: steps of 2 and more, no diffusion, time that runs backwards."""
    problem = diffusion(0, cells=4)
    ranking = pr.rank(problem, {"a": solve(problem), "b": 1.1 * solve(problem)}, effort="response")
    assert all(a.holds for a in DiffusionReactionEnergy()(problem, ranking).assumptions)
    for changes, words in (
        ({"times": problem.times * 2.5 / 0.2}, "every step is shorter than 2"),
        ({"diffusion": problem.diffusion * jnp.asarray([1.0, -1.0])}, "both diffusion coefficients are positive"),
        ({"times": -problem.times}, "time increases"),
    ):
        closed(DiffusionReactionEnergy()(altered(problem, **changes), ranking), words)


def test_stiff_parts_do_not_decay_when_steps_grow():
    """‖e + ½Δt'ΔF‖ / ‖e − ½Δt ΔF‖ tends to Δt'/Δt for the stiffest modes, whatever the rate of the slow ones is."""
    rates = np.array([-30.0, -1.0, 0.5])
    for step, following in ((0.1, 0.1), (0.1, 0.3), (0.3, 0.1)):
        found = diffusion_reaction.growth(rates, step, following)
        for stiffness in 10.0 ** np.arange(1, 7):
            seen = (1 - following * stiffness / 2) / (1 + step * stiffness / 2)
            assert np.all(abs(seen) <= found[-rates <= stiffness] + 1e-12)
        assert np.all(
            found <= np.maximum(following / step, np.abs(1 + following * rates / 2) / (1 - step * rates / 2)) + 1e-9
        )


def test_rates_are_the_largest_growth_of_the_reaction_in_every_energy():
    """⟨J(a, b), (a, b)⟩ / ‖(a, b)‖² over all directions, J = [[1 − ξ, −1], [1, −1]]: never above the rate, and up to it."""
    energies = diffusion_reaction.Energies.of(diffusion())
    angle = np.linspace(0, np.pi, 20001)[:, None]
    a, b = np.cos(angle), np.sin(angle)
    g, c = energies.coupling, energies.inhibitor
    for slope in (0.0, 0.3, 1.0, 7.0, 300.0):
        pushed, pulled = (1 - slope) * a - b, a - b
        product = a * pushed + g * (a * pulled + b * pushed) + c * b * pulled
        found = np.max(product / (a * a + 2 * g * a * b + c * b * b), axis=0)
        rates = energies.rates(slope)
        assert np.all(found <= rates + 1e-12)
        np.testing.assert_allclose(found, rates, atol=1e-3 * (1 + slope))


def test_a_row_is_farther_off_than_its_defect_where_the_reaction_grows():
    """At rest, one step with an error in the activator alone: ‖e‖ > ‖e − ½Δt ΔF‖."""
    problem, error = DiffusionReaction(np.zeros((2, 2, 2)), [0.0, 0.8], threshold=0.0), np.zeros((2, 2, 2, 2))
    error[1, 0] = 1e-4
    true = distance(problem, error, 0 * error)
    assert float(np.linalg.norm(row_defects(problem, error)[0])) < 0.8 * np.linalg.norm(error)
    assert true <= bound(problem, error, DiffusionReactionEnergy()) <= 2 * true


@pytest.mark.parametrize("weighted", [False, True])
def test_the_radius_is_one_of_the_tasks_metric(weighted):
    """An error in one cell of the last row, where the metric weighs most: the radius is not below its norm."""
    problem = diffusion(0, cells=4)
    truth, weights = solve(problem), np.full((2, 4, 4), 0.01)
    weights[0, 1, 2] = 4.0
    metric = pr.metrics.weights(weights) if weighted else problem.metric()
    library = {"a": 1.1 * truth, "b": 1.2 * truth}
    ranking = pr.rank(problem, library, task=pr.tasks.terminal(metric), effort="response")
    state = truth.copy()
    state[-1, 0, 1, 2] += 0.1
    found = DiffusionReactionEnergy(pairs=False)(problem, with_state(ranking, state)).gaps
    radius = (found.high - found.low)[0, 1] / 4 / ranking.space.distances(ranking.outputs)[0, 1]
    true = float(ranking.space.norm(state[-1] - truth[-1]))
    assert true <= radius <= (20 if weighted else 2) * true
