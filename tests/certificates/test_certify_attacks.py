"""False certificates that were once obtained: each input must now be left open, or decided rightly."""

import itertools

import equinox as eqx
import jax.numpy as jnp
import mpmath
import numpy as np
import pytest

import physrank as pr
from helpers import solve
from pendula import verlet_in_many_digits
from physrank.certificates import LocalNewton, SineGordonEnergy, StronglyMonotone, intersect
from physrank.certificates.paths.sine_gordon import verlet_stages
from trials import Judged

mp = mpmath.mpf


def unstable(initial):
    problem = pr.equations.SineGordon(initial, np.zeros(4), np.linspace(0, 40, 101), points=4, substeps=16)
    computed = solve(problem)
    shifted = computed.copy()
    shifted[1:, 0] += 1e-3
    rival = np.broadcast_to(np.asarray(problem.initial), problem.state_shape).copy()
    return problem, {"computed": computed, "shifted": shifted, "at rest": rival, "falling": 2 * computed - rival}


@pytest.mark.parametrize("target", ["grid", "continuum"])
@pytest.mark.parametrize("initial", [np.full(4, np.pi), np.pi + 0.1 * np.cos(np.arange(4) * np.pi / 2)])
def test_a_defect_that_repeats_the_arithmetic_of_the_march_is_not_zero(initial, target):
    """At the top of the sine, round-off grows by e^40: the marched solution is far from the map's own."""
    problem, library = unstable(initial)
    ranking = pr.rank(problem, library, anchor=library["computed"])
    certificate = pr.certify(problem, ranking, by=SineGordonEnergy(target))
    assert not certificate.signs.any()
    assert certificate.enclosure.state_bound > 1
    if target == "grid":
        with mpmath.workdps(60):
            truth = verlet_in_many_digits(problem)
            error = [t - mp(float(s)) for t, s in zip(truth, np.ravel(ranking.state[-1]), strict=True)]
            distance = mpmath.sqrt(sum(e**2 for e in error) * mp(problem.length) / 4)
        assert certificate.enclosure.state_bound >= distance


def test_round_off_of_the_widest_format_counts_too():
    """One row of many substeps, whose end is the certifying march's own: its defect is rounding, its error is not."""
    problem = pr.equations.SineGordon(np.full(4, np.pi), np.zeros(4), [0.0, 35.0], points=4, substeps=160)
    still = np.zeros(problem.state_shape)
    still[0] = np.asarray(problem.initial)
    state = still.copy()
    state[1] = -verlet_stages(problem, still).jumps[0]
    energies, bounds = SineGordonEnergy().bounds(problem, state)
    with mpmath.workdps(60):
        truth = verlet_in_many_digits(problem)
        off = mpmath.fsum((t - mp(float(s))) ** 2 for t, s in zip(truth, np.ravel(state[1]), strict=True))
        distance = mpmath.sqrt(off * mp(problem.length) / 4)
    assert energies.in_metric(bounds, 1.0, 1.0) >= distance > 1e-9


def ill_conditioned(seed, condition=1e10, n=6):
    random = np.random.default_rng(seed)
    left, right = (np.linalg.qr(random.standard_normal((n, n)))[0] for _ in range(2))
    matrix = left @ np.diag(np.geomspace(1, 1 / condition, n)) @ right
    return random, matrix, matrix @ random.standard_normal(n)


def linear(x, data):
    return data[0] @ x - data[1]


def zero_of(matrix, rhs):
    return mpmath.lu_solve(mpmath.matrix(matrix.tolist()), mpmath.matrix(rhs.tolist()))


def losses(weights, zero, outputs):
    return [
        sum(mp(float(w)) * (z - mp(float(v))) ** 2 for w, z, v in zip(weights, zero, y, strict=True)) for y in outputs
    ]


def false_gaps(certificate, ranking, zero):
    """Gaps outside of their intervals, zero in many digits."""
    found = losses(np.ravel(ranking.space.weights), zero, ranking.outputs.reshape(len(ranking.outputs), -1))
    low, high = certificate.gaps.low, certificate.gaps.high
    every = [(i, j) for i in range(len(found)) for j in range(len(found)) if i != j]
    return [(i, j) for i, j in every if not low[i, j] <= found[j] - found[i] <= high[i, j]]


@pytest.mark.parametrize("seed", range(20))
def test_computed_constants_of_an_ill_conditioned_system(seed):
    """Candidates on both sides of the zero along the direction that round-off hides."""
    random, matrix, rhs = ill_conditioned(seed)
    with mpmath.workdps(60):
        zero = zero_of(matrix, rhs)
        centre = np.array([float(x) for x in zero])
        hidden = np.linalg.svd(matrix)[2][-1]
        problem = pr.Stationary(linear, (matrix, rhs), solver=pr.Dense())
        start = np.linalg.solve(matrix, rhs)
        middle = (start + centre) / 2
        library = {"a": middle + hidden, "b": middle - hidden, "c": centre + random.standard_normal(6)}
        ranking = pr.rank(problem, library, anchor=start)
        certificate = pr.certify(problem, ranking, by=LocalNewton(degree=1))
        assert false_gaps(certificate, ranking, zero) == []
        distance = mpmath.norm(zero - mpmath.matrix(ranking.state.tolist()))
        assert certificate.enclosure.state_bound >= distance


@pytest.mark.parametrize("contrast", [1e4, 1e6, 1e8, 1e10, 1e12])
def test_other_tasks_than_the_field_at_high_contrast(contrast):
    random, n = np.random.default_rng(3), 9
    a = contrast ** random.uniform(0, 1, n + 2)
    a[4:7] = [1.0, contrast, 1.0]
    problem = pr.equations.ReactionDiffusion(a, random.standard_normal(n + 2), 0.0, 0.0)
    task = pr.tasks.linear(lambda u: u[1:-1], name="inside")
    with mpmath.workdps(60):
        faces = [2 * mp(float(x)) * mp(float(y)) / (mp(float(x)) + mp(float(y))) for x, y in itertools.pairwise(a)]
        matrix = mpmath.matrix(n, n)
        for k in range(n):
            matrix[k, k] = faces[k] + faces[k + 1]
            if k:
                matrix[k, k - 1] = matrix[k - 1, k] = -faces[k]
        load = mpmath.matrix([mp(float(f)) / (n + 1) ** 2 for f in np.asarray(problem.forcing)[1:-1]])
        zero = list(mpmath.lu_solve(matrix, load))
        centre = np.array([float(z) for z in zero])
        dense = np.array(matrix.tolist(), float) * (n + 1) ** 2
        start = np.pad(np.linalg.solve(dense, np.asarray(problem.forcing)[1:-1]), 1)
        off = start[1:-1] - centre  # round-off of the solution itself: near ties along it are the hardest
        unit = off / np.abs(off).max() * np.abs(centre).max()
        library = {str(k): np.pad((start[1:-1] + centre) / 2 + s * unit, 1) for k, s in enumerate((1, -1, 0.5, -0.5))}
        as_it_is = pr.Correction(step=0.0)
        for anchor in (start, *library.values()):
            ranking = pr.rank(problem, library, task=task, anchor=anchor, corrections=as_it_is, allow_unresolved=True)
            for by in (None, StronglyMonotone()):
                certificate = pr.certify(problem, ranking, by=by)
                assert certificate.kind != "estimate"
                assert false_gaps(certificate, ranking, zero) == []


@pytest.mark.parametrize("size", [1e-100, 1e-155, 1e-170, 1e-300])
def test_squares_below_the_smallest_number_are_not_zero(size):
    """Burgers at a size whose squares underflow: nearly the heat equation, from a state that is not its solution."""
    x = np.arange(16) * np.pi / 8
    problem = pr.equations.Burgers(size * np.sin(x), 0.1, np.linspace(0, 1, 5), points=16)
    truth = size * np.exp(-0.1) * np.sin(x)
    wrong = np.tile(size * np.sin(x), (5, 1))
    right = np.stack([size * np.exp(-0.1 * t) * np.sin(x) for t in np.linspace(0, 1, 5)])
    library = {"wrong": wrong, "right": right}
    as_it_is = pr.Correction(step=0.0)
    ranking = pr.rank(problem, library, anchor=wrong, corrections=as_it_is, allow_unresolved=True)
    certificate = pr.certify(problem, ranking)
    assert certificate.signs[0, 1] <= 0
    off = np.sqrt(np.pi) * float(np.abs(truth - wrong[-1]).max())
    assert certificate.failed or certificate.enclosure.state_bound >= off * (1 - 1e-9)


def test_growth_beyond_the_largest_number_is_no_bound():
    """A front so steep that exp ∫ ½ max (−u_x) dt overflows: what entered before must not be lost."""
    x = np.arange(32) * np.pi / 16
    problem = pr.equations.Burgers(-np.sin(x), 1e-3, np.linspace(0, 3, 13), points=32, substeps=8)
    steep = np.tile(-300 * np.sin(x), (13, 1))
    steep[0] = -np.sin(x)
    as_it_is = pr.Correction(step=0.0)
    library = {"steep": steep, "flat": 0 * steep, "third": -steep}
    ranking = pr.rank(problem, library, anchor=steep, corrections=as_it_is, allow_unresolved=True)
    found = pr.certificates.BurgersEnergy()(problem, ranking)
    assert not found.gaps.signs.any()


def test_certificates_of_different_zeros_are_not_joined():
    problem = pr.Stationary(lambda x: x**2 - 1.0, solver=pr.Dense())
    library = {"plus": np.array([1.1]), "minus": np.array([-1.05])}
    certificates = {
        name: pr.certify(problem, pr.rank(problem, library, anchor=start), by=LocalNewton(degree=2))
        for name, start in (("plus", np.array([1.02])), ("minus", np.array([-1.02])), ("again", np.array([1.01])))
    }
    assert certificates["plus"].best == "plus" and certificates["minus"].best == "minus"
    with pytest.raises(ValueError, match="may be about another zero"):
        intersect({name: certificates[name] for name in ("plus", "minus")})
    assert intersect({name: certificates[name] for name in ("plus", "again")}).best == "plus"


def test_certificates_are_not_joined_when_an_array_changed_that_a_function_closes_over():
    """Their intervals may overlap, so that nothing else would notice."""
    force = np.array([1.4])
    problem = pr.Marching(lambda u: 0.5 * u + jnp.asarray(force), np.zeros(1))
    ranking = Judged(problem, np.array([[0.0], [1.4]]), np.array([[1.0], [2.0]]), pr.tasks.terminal())
    first = pr.certify(problem, ranking)
    assert intersect({"first": first, "again": pr.certify(problem, ranking)}).best == "c0"
    force[0] = 1.6
    changed = pr.certify(problem, ranking)
    assert (first.best, changed.best) == ("c0", "c1")
    with pytest.raises(ValueError, match="about another problem"):
        intersect({"first": first, "changed": changed})


def test_a_negative_reaction_is_not_the_only_zero():
    """−u″ + λu + u³ = 0 with λ below −π² has three zeros; a state with large squares would still have μ > 0."""
    nodes = 17
    problem = pr.equations.ReactionDiffusion(np.ones(nodes), np.zeros(nodes), 1.0, 1.0)
    bump = np.sin(np.pi * np.linspace(0, 1, nodes))
    with pr.double():
        changed = eqx.tree_at(lambda p: p.linear, problem, jnp.asarray(-30.0))
    state = np.pad(np.full(nodes - 2, 7.0), 1)
    library = {"zero": 0 * bump, "bump": 5 * bump, "minus": -5 * bump}
    as_it_is = pr.Correction(step=0.0)
    ranking = pr.rank(problem, library, anchor=state, corrections=as_it_is, allow_unresolved=True)
    for by in (None, StronglyMonotone()):
        certificate = pr.certify(changed, ranking, by=by)
        assert any("λ" in a.statement for a in certificate.failed)
        assert not certificate.signs.any()


def test_two_adjacent_coefficients_of_zero_certify_nothing():
    problem = pr.equations.ReactionDiffusion(np.ones(9), np.ones(9), 1.0, 1.0)
    ranking = pr.rank(problem, {"a": np.pad(np.ones(7), 1), "b": np.zeros(9)})
    with pr.double():
        hollow = eqx.tree_at(lambda p: p.diffusion, problem, problem.diffusion.at[3:5].set(0.0))
    for by in (None, StronglyMonotone()):
        certificate = pr.certify(hollow, ranking, by=by)
        assert certificate.failed and not certificate.signs.any()


def test_equal_outputs_are_a_tie_and_cost_nothing():
    problem = pr.equations.ReactionDiffusion(np.ones(9), np.ones(9), 1.0, 1.0)
    truth = solve(problem)
    library = {"a": 1.1 * truth, "again": 1.1 * truth, "b": 0.5 * truth}
    ranking = pr.rank(problem, library, until="certified", max_corrections=6)
    certificate = ranking.certificate
    assert certificate.settled and ranking.corrections < 4
    assert certificate.gaps.low[0, 1] == certificate.gaps.high[0, 1] == 0
    assert certificate.safe == ["a", "again"] and certificate.best is None
    wide = pr.certify(problem, ranking, discrepancy=10.0)
    assert wide.gaps.low[0, 1] == wide.gaps.high[0, 1] == 0


def test_arithmetic_that_flushes_small_numbers_is_noticed():
    torch = pytest.importorskip("torch")
    problem = pr.equations.ReactionDiffusion(np.ones(9), np.ones(9), 1.0, 1.0)
    truth = solve(problem)
    ranking = pr.rank(problem, {"a": 1.1 * truth, "b": 0.5 * truth})
    assert not pr.certify(problem, ranking).failed
    if not torch.set_flush_denormal(True):
        pytest.skip("this processor cannot be told to")
    try:
        certificate = pr.certify(problem, ranking)
    finally:
        torch.set_flush_denormal(False)
    assert any("gradual underflow" in a.statement for a in certificate.failed)
    assert not certificate.signs.any()


def at_rest(random, size, length, weights=None):
    """Diffusion–reaction and Sine–Gordon whose solution is zero: the error of a state is the state itself."""
    times = np.linspace(0, 0.1, 3)
    for problem in (
        pr.equations.DiffusionReaction(np.zeros((2, 2, 2)), times, threshold=0.0, length=length),
        pr.equations.SineGordon(np.zeros(4), np.zeros(4), times, 1.0, points=4, length=length),
    ):
        state = size * random.standard_normal(problem.state_shape)
        state[0] = 0
        metric = problem.metric() if weights is None else pr.metrics.weights(np.full(problem.state_shape[1:], weights))
        yield problem, Judged(problem, state, random.standard_normal((3, *state.shape[1:])), pr.tasks.terminal(metric))


def test_lengths_that_lift_what_underflow_took_are_refused():
    """Squares of 1e-220 are zero; times an area of 1e199 they would not be."""
    for problem, ranking in at_rest(np.random.default_rng(0), 1e-220, 1e100):
        assert any("choose another unit" in a.statement for a in pr.certify(problem, ranking).failed)


@pytest.mark.parametrize("weights", [1e-310, 1e-320, 1e300])
def test_weights_below_the_smallest_normal_number_are_not_zero(weights):
    for problem, ranking in at_rest(np.random.default_rng(1), 1e6, 2.0**39, weights):
        with mpmath.workdps(60):
            certificate = pr.certify(problem, ranking)
            assert false_gaps(certificate, ranking, [mp(0)] * ranking.outputs[0].size) == []


def test_steps_that_no_interval_can_be_divided_by_prove_nothing():
    problem = pr.equations.Burgers(np.zeros(8), 0.1, [0.0, 1e-320], points=8)
    ranking = Judged(problem, np.zeros((2, 8)), np.eye(8)[:2], pr.tasks.terminal(problem.metric()))
    found = pr.certify(problem, ranking, by=pr.certificates.ValidatedBurgers())
    assert any("short" in a.statement for a in found.failed)
