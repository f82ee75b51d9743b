"""Validated enclosures against the zero in many digits: never wrong, tight where they should be."""

from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest

import physrank as pr
from fields import IDENTITY, bump, candidates_around, contained, field_problem, interior, random_problem, zero_of
from physrank.certificates import StronglyMonotone, ValidatedReactionDiffusion, reaction_diffusion
from physrank.certificates.enclosures.rounding import Interval
from physrank.certificates.reaction_diffusion import EnclosedOperator

DIGITS = 60


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
        if norm < 1e-4:  # down to what the state itself is off by: the residual is known to its last bit
            assert certificate.enclosure.state_bound <= 1.2 * norm  # γ s² is not small against K on such coarse grids


@pytest.mark.parametrize("seed", range(4))
def test_residual_and_coercivity_are_enclosed(seed):
    problem = random_problem(seed, 2, 4, size=10.0**seed)
    state = np.pad(np.random.default_rng(seed).standard_normal((4, 4)), 1)
    operator = EnclosedOperator(problem, state)
    residual, shifted = exact_problem(problem)
    s = mpmath.matrix([mpmath.mpf(x) for x in interior(state).ravel().tolist()])
    # with twice the precision, and by intervals where that would overflow
    sharp, plain = (
        reaction_diffusion.residual(problem, state),
        reaction_diffusion._residual(problem, state, Interval.of),
    )
    for found in (sharp, plain):
        for low, high, value in zip(found.low.ravel(), found.high.ravel(), residual(s), strict=True):
            assert low <= value <= high
    assert np.all(sharp.high - sharp.low <= 4 * np.spacing(sharp.magnitude) + 2.0**-90 * np.abs(plain.magnitude).max())
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


@pytest.mark.parametrize("size", [1e-6, 1e-8, 1e-9, 1e-10])
def test_nearly_equal_candidates_are_not_decided_by_round_off(size):
    for seed in range(12):
        random, problem = np.random.default_rng(seed), field_problem(seed)
        truth = zero_of(problem)
        near, away = truth + bump(random, 0.3), bump(random, size)
        library = {"far": truth * 0, "middle": near, "plus": near + away, "minus": near - away}
        ranking = pr.rank(problem, library, task=IDENTITY, anchor=truth + bump(random, 1.0))
        certificate = pr.certify(problem, ranking)
        assert certificate.kind == "theorem"
        assert contained(certificate, ranking, truth)


def exact_product(diagonal, sides, values):
    """Σ c_k z_k on a cube in rational numbers: a node, and its neighbours along each axis with a minus."""
    padded, found = np.pad(values, 1), []
    for index in np.ndindex(*values.shape):
        total = Fraction(float(diagonal[index])) * Fraction(float(values[index]))
        for axis, both in enumerate(sides):
            for by, c in zip((-1, 1), both, strict=True):
                place = tuple(i + 1 + by * (d == axis) for d, i in enumerate(index))
                total -= Fraction(float(c[index])) * Fraction(float(padded[place]))
        found.append(total)
    return found


@pytest.mark.parametrize("counted, missed", [(reaction_diffusion.OPERATIONS, False), (1, True)])
def test_products_are_enclosed_when_coefficients_are_exact(counted, missed, monkeypatch):
    """Rounding of M z alone: with fewer operations counted than there are, the exact product escapes."""
    monkeypatch.setattr(reaction_diffusion, "OPERATIONS", counted)
    random, shape, outside = np.random.default_rng(5), (8, 8, 8), 0
    problem = pr.equations.ReactionDiffusion(np.ones((10, 10, 10)), np.ones((10, 10, 10)), 1.0, 1.0)
    operator = EnclosedOperator(problem, np.zeros((10, 10, 10)))
    board = 1.0 - 2.0 * (np.indices(shape).sum(axis=0) % 2)  # signs that make all terms of a product alike
    for _ in range(10):
        diagonal, sides = random.uniform(0.5, 1, shape), random.uniform(0.5, 1, (3, 2, *shape))
        operator.diagonal = Interval.of(diagonal)
        operator.neighbours = [(axis, *(Interval.of(c) for c in both)) for axis, both in enumerate(sides)]
        values = board * random.uniform(0.5, 1, shape)
        found = operator.metric(values[None])[0]
        exact = exact_product(diagonal, sides, values)
        for low, high, true in zip(found.low.flat, found.high.flat, exact, strict=True):
            outside += not Fraction(float(low)) <= true <= Fraction(float(high))
    assert (outside > 0) is missed
