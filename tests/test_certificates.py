"""Certificates: never wrong, tight where they should be, open where nothing can be known."""

from typing import Any

import equinox as eqx
import jax.numpy as jnp
import mpmath
import numpy as np
import pytest

import physrank as pr
from helpers import with_state
from physrank.certificates import Certified, StronglyMonotone, ValidatedReactionDiffusion
from physrank.certificates.reaction_diffusion import EnclosedOperator

DIGITS = 60
solved = eqx.filter_jit(lambda problem, guess: problem.solve(guess).state)


def random_problem(seed: int, dims: int, points: int, *, size: float = 1.0) -> pr.equations.ReactionDiffusion:
    random = np.random.default_rng(seed)
    shape = (points + 2,) * dims
    a = np.exp(random.standard_normal(shape))
    f = size * 20 * random.standard_normal(shape)
    return pr.equations.ReactionDiffusion(a, f, random.uniform(0.1, 2), random.uniform(0.1, 2), length=0.7)


def exact_problem(problem) -> tuple[Any, Any]:
    """A(v) and A'(v) on interior nodes in many digits, from the stored numbers; written from the formula alone."""
    a, f = np.asarray(problem.diffusion), np.asarray(problem.forcing)
    mp = mpmath.mp
    inner = [tuple(int(i) for i in index) for index in np.argwhere(np.pad(np.ones([n - 2 for n in a.shape]), 1) > 0)]
    place = {index: k for k, index in enumerate(inner)}
    h2 = (mp.mpf(problem.length) / (a.shape[0] - 1)) ** 2
    lam, gam = mp.mpf(float(problem.linear)), mp.mpf(float(problem.cubic))
    stiffness = mp.matrix(len(inner), len(inner))
    for index, k in place.items():
        for axis in range(a.ndim):
            for step in (-1, 1):
                other = tuple(i + step * (d == axis) for d, i in enumerate(index))
                x, y = mp.mpf(float(a[index])), mp.mpf(float(a[other]))
                face = 2 * x * y / (x + y) / h2
                stiffness[k, k] += face
                if other in place:
                    stiffness[k, place[other]] -= face
    load = mp.matrix([mp.mpf(float(f[index])) for index in inner])

    def residual(v):
        cubes = mp.matrix([gam * x**3 + lam * x for x in v])
        return stiffness * v + cubes - load

    def shifted(v, factor):
        matrix = stiffness.copy()
        for k, x in enumerate(v):
            matrix[k, k] += lam + factor * gam * x**2
        return matrix

    return residual, shifted


def exact_zero(problem, guess: np.ndarray):
    residual, shifted = exact_problem(problem)
    v = mpmath.matrix([mpmath.mpf(x) for x in guess.ravel().tolist()])
    for _ in range(60):
        step = mpmath.lu_solve(shifted(v, 3), residual(v))
        v = v - step
        if mpmath.norm(step) < mpmath.mpf(10) ** (-DIGITS + 8):
            return v
    raise AssertionError("Newton's method in many digits did not converge.")


def interior(state: np.ndarray) -> np.ndarray:
    return np.asarray(state)[(slice(1, -1),) * np.ndim(state)]


def candidates_around(
    problem, seed: int, count: int = 5, noise: float = 0.3, ties: float = 0.0
) -> dict[str, np.ndarray]:
    random = np.random.default_rng(seed + 1000)
    with pr.double():
        centre = np.asarray(solved(problem, jnp.zeros(problem.state_shape)))
    scale = np.abs(centre).max()
    found = {}
    for k in range(count):
        error = np.zeros_like(centre)
        error[(slice(1, -1),) * centre.ndim] = noise * scale * random.standard_normal(interior(centre).shape)
        found[f"c{k}"] = centre + error
    if ties:  # the mirror image about the solution is an exact tie; then a hair's breadth of it
        found["mirror"] = (
            2 * centre - found["c0"] + ties * scale * np.sign(interior(centre)).mean() * (found["c0"] != 0)
        )
    return found


def true_gaps(ranking, zero) -> Any:
    """G_ij(t) in many digits."""
    weights = interior(ranking.space.weights).ravel().tolist()
    losses = []
    for output in ranking.outputs:
        y = interior(output).ravel().tolist()
        edge = np.where(np.pad(np.zeros(interior(output).shape), 1, constant_values=1) > 0, output, 0.0)
        boundary = sum(
            (
                mpmath.mpf(w) * mpmath.mpf(v) ** 2
                for w, v in zip(ranking.space.weights.ravel().tolist(), edge.ravel().tolist(), strict=True)
            ),
            mpmath.mpf(0),
        )
        losses.append(
            boundary + sum(mpmath.mpf(w) * (z - mpmath.mpf(v)) ** 2 for w, z, v in zip(weights, zero, y, strict=True))
        )
    return [[b - a for b in losses] for a in losses]


def assert_true(certificate, gaps) -> None:
    for i, row in enumerate(gaps):
        for j, gap in enumerate(row):
            assert certificate.gaps.low[i, j] <= gap <= certificate.gaps.high[i, j], (i, j, gap)


@pytest.fixture(autouse=True)
def many_digits():
    with mpmath.workdps(DIGITS):
        yield


@pytest.mark.parametrize(("dims", "points"), [(1, 9), (2, 4), (3, 3)])
@pytest.mark.parametrize("seed", range(3))
def test_enclosures_contain_the_truth_in_many_digits(dims, points, seed):
    problem = random_problem(seed, dims, points)
    for corrections in (1, 2, 4):
        ranking = pr.rank(problem, candidates_around(problem, seed), corrections=corrections)
        zero = exact_zero(problem, interior(ranking.state))
        certificate = pr.certify(problem, ranking)
        assert certificate.kind == "validated"
        assert not certificate.failed
        assert_true(certificate, true_gaps(ranking, zero))
        # ‖s − u‖_M in many digits, against its bound: above it, and close to it once the correction is small.
        _, shifted = exact_problem(problem)
        s = mpmath.matrix([mpmath.mpf(x) for x in interior(ranking.state).ravel().tolist()])
        error = s - zero
        norm = mpmath.sqrt((error.T * (shifted(s, mpmath.mpf(3) / 4) * error))[0])
        assert certificate.enclosure.state_bound >= norm
        if 1e-9 < norm < 1e-4:
            assert certificate.enclosure.state_bound <= 1.2 * norm  # γ s² is not small against K on such coarse grids


@pytest.mark.parametrize("seed", range(4))
def test_residual_and_coercivity_are_enclosed(seed):
    problem = random_problem(seed, 2, 4, size=10.0**seed)
    state = np.pad(np.random.default_rng(seed).standard_normal((4, 4)), 1)
    operator = EnclosedOperator(problem, state)
    residual, shifted = exact_problem(problem)
    s = mpmath.matrix([mpmath.mpf(x) for x in interior(state).ravel().tolist()])
    for low, high, value in zip(
        operator.residual.low.ravel(), operator.residual.high.ravel(), residual(s), strict=True
    ):
        assert low <= value <= high
    smallest = min(mpmath.eigsy(shifted(s, mpmath.mpf(3) / 4), eigvals_only=True))
    assert 0 < operator.coercivity <= smallest


@pytest.mark.parametrize("seed", range(6))
def test_near_ties_and_rough_states_are_never_decided_wrongly(seed):
    problem = random_problem(seed, 1, 9, size=10.0 ** (seed - 2))
    given = candidates_around(problem, seed, ties=1e-12 if seed % 2 else 1e-9)
    ranking = pr.rank(problem, given, corrections=1 + seed % 3, allow_unresolved=True)
    zero = exact_zero(problem, interior(ranking.state))
    assert_true(pr.certify(problem, ranking), true_gaps(ranking, zero))


def test_a_dropped_bound_would_be_caught():
    """The twin that must fail: gaps without their bounds miss the truth after one correction."""
    problem = random_problem(0, 2, 4)
    ranking = pr.rank(problem, candidates_around(problem, 0))
    gaps = true_gaps(ranking, exact_zero(problem, interior(ranking.state)))
    off = [abs(gaps[i][j] - ranking.gaps[i, j]) for i in range(5) for j in range(5) if i != j]
    assert max(off) > 1e-9
    bounds = pr.certify(problem, ranking).bounds
    assert all(abs(gaps[i][j] - ranking.gaps[i, j]) <= bounds[i, j] * (1 + 1e-9) for i in range(5) for j in range(5))
    # and the bounds are not slack: some pair uses a fair part of its own
    assert max(abs(gaps[i][j] - ranking.gaps[i, j]) / bounds[i, j] for i in range(5) for j in range(5) if i != j) > 0.1


def test_double_and_validated_agree_where_rounding_is_small():
    problem = random_problem(5, 2, 8)
    ranking = pr.rank(problem, candidates_around(problem, 5))
    plain, enclosed = (pr.certify(problem, ranking, by=by) for by in (StronglyMonotone(), ValidatedReactionDiffusion()))
    assert (plain.kind, enclosed.kind) == ("theorem", "validated")
    np.testing.assert_allclose(enclosed.bounds, plain.bounds, rtol=1e-3)
    assert np.all(enclosed.bounds[np.triu_indices(5, 1)] > 0)


def test_tasks_other_than_the_field_get_the_theorem():
    problem = random_problem(6, 2, 8)
    task = pr.tasks.linear(lambda state: state[3:7, 2:5].sum(axis=1), name="a strip")
    ranking = pr.rank(problem, candidates_around(problem, 6), task=task)
    certificate = pr.certify(problem, ranking)
    assert certificate.kind == "theorem"
    with pr.double():
        truth = solved(problem, jnp.asarray(ranking.state))
    target = task.outputs(np.asarray(truth)[None])[0]
    gaps = pr.geometry.gaps_of(ranking.space, ranking.outputs, target)
    assert np.all(certificate.gaps.low <= gaps + 1e-12)
    assert np.all(gaps - 1e-12 <= certificate.gaps.high)


def test_your_own_monotone_problem():
    """−u'' + u + u³ = f by the user's own residual, metric and constant."""
    n = 20
    h = 1 / (n + 1)
    f = 10 * np.sin(np.pi * h * np.arange(1, n + 1))

    def stiffness(u):
        padded = jnp.pad(u, 1)
        return (2 * u - padded[:-2] - padded[2:]) / h**2

    problem = pr.Stationary(lambda u: stiffness(u) + u + u**3 - f, solver=pr.Dense())
    by = StronglyMonotone(
        metric=lambda s: lambda z: stiffness(z) + (1 + 0.75 * s**2) * z,
        coercivity=lambda s: 1 + 4 / h**2 * np.sin(np.pi * h / 2) ** 2,
    )
    with pr.double():
        truth = np.asarray(solved(problem, jnp.zeros(n)))
    random = np.random.default_rng(0)
    given = {f"m{k}": truth + 0.1 * random.standard_normal(n) for k in range(4)}
    ranking = pr.rank(problem, given)
    certificate = pr.certify(problem, ranking, by=by)
    gaps = pr.geometry.gaps_of(ranking.space, ranking.outputs, truth)
    assert np.all(certificate.gaps.low <= gaps + 1e-12)
    assert certificate.certified_pairs[0] > 0
    assert "stated by the caller" in str(certificate)
    with pytest.raises(ValueError, match="No certificate is known for Stationary"):
        pr.certify(problem, ranking)
    with pytest.raises(ValueError, match="both metric and coercivity"):
        StronglyMonotone(metric=lambda s: lambda z: z)


def test_failed_assumptions_leave_everything_open():
    problem = random_problem(7, 2, 8)
    given = candidates_around(problem, 7)
    ranking = pr.rank(problem, given)
    broken = np.asarray(ranking.state).copy()
    broken[0, 0] = 1e-3  # a boundary value that does not hold
    for state, what in ((broken, "boundary"), (np.full_like(broken, np.nan), "finite")):
        other = with_state(ranking, state)
        certificate = pr.certify(problem, other)
        assert any(what in a.statement for a in certificate.failed)
        assert certificate.best is None
        assert certificate.safe == []
        assert certificate.certified_pairs[0] == 0
        assert not np.isfinite(list(certificate.regret_bounds.values())).any()
        assert "Nothing is certified" in str(certificate)


def test_wider_uncertainty_certifies_less_and_names_the_dataset():
    problem = random_problem(8, 2, 8)
    ranking = pr.rank(problem, candidates_around(problem, 8, noise=0.02), corrections=2)
    counts = []
    for radius in (0.0, 1e-4, 1e-2, 10.0):
        certificate = pr.certify(problem, ranking, discrepancy=pr.geometry.Ball(radius))
        assert certificate.kind == "theorem"
        assert "dataset" in certificate.target
        counts.append(certificate.certified_pairs[0])
    assert counts == sorted(counts, reverse=True)
    assert counts[0] == 10
    assert counts[-1] == 0


def test_excluded_candidates_stay_open():
    problem = random_problem(9, 2, 8)
    given = candidates_around(problem, 9)
    given["broken"] = np.full_like(given["c0"], np.nan)
    certificate = pr.certify(problem, pr.rank(problem, given, invalid="exclude", corrections=2))
    assert certificate.certified_pairs == (10, 10)
    assert certificate.best == "c3" and "'broken' was excluded" in str(certificate)  # of those that could be scored
    assert np.isinf(certificate.regret_bounds["broken"]) and not certificate.signs[-1].any()
    assert np.all(certificate.signs[-1] == 0)


def test_rank_until_certified_corrects_only_while_something_is_open():
    problem = random_problem(10, 2, 8, size=5.0)
    easy = candidates_around(problem, 10, noise=0.001)
    hard = candidates_around(problem, 10, noise=0.5, ties=1e-6)
    first, second = (pr.rank(problem, given, until="certified", max_corrections=6) for given in (easy, hard))
    assert first.corrections == 1
    assert second.corrections > 1
    assert first.certificate.settled
    assert second.certificate.settled
    # the same state as asking for that many corrections at once
    direct = pr.rank(problem, hard, corrections=second.corrections)
    np.testing.assert_allclose(second.state, direct.state, atol=1e-13 * np.abs(direct.state).max())
    assert second.response.variant == direct.response.variant
    assert second.scoring.solves == direct.scoring.solves
    limited = pr.rank(problem, hard, until="certified", max_corrections=1)
    assert limited.corrections == 1
    assert not limited.certificate.settled
    relaxed = pr.rank(problem, hard, until=Certified(decision="best", tolerance=1e3))
    assert relaxed.corrections == 1
    with pytest.raises(ValueError, match="until must be 'certified'"):
        pr.rank(problem, easy, until="never")
    assert "Certificate" in str(first)
    assert first.to_dict()["certificate"]["pairs_certified"] == 10


def test_a_certificate_reads_as_a_paragraph():
    problem = random_problem(11, 2, 8)
    certificate = pr.certify(problem, pr.rank(problem, candidates_around(problem, 11), corrections=3), tolerance=1e-3)
    text = str(certificate)
    assert "validated" in text
    assert "only zero of the stated discrete problem" in text
    assert certificate.best in text
    assert "μ > 0" in text
    assert certificate.best in certificate.safe
    assert certificate.regret_bounds[certificate.best] <= 0
    with pytest.raises(ValueError, match="tolerance"):
        pr.certify(problem, pr.rank(problem, candidates_around(problem, 11)), tolerance=-1.0)
