"""The enclosed zero of your own problem: against zeros in many digits, closed with a reason where it cannot be proved."""

import jax
import jax.numpy as jnp
import mpmath
import numpy as np
import pytest

import physrank as pr
from physrank.certificates import EnclosedZero, intersect
from physrank.certificates.enclosures.rounding import Interval
from physrank.certificates.own_pairs import Derivative
from physrank.certificates.own_stationary import _defect, krawczyk
from trials import Judged, judged, mp

N = 12
H = 1 / (N + 1)
FORCE = 10 * np.sin(3 * np.linspace(0, 1, N))


def bratu(u, f):
    padded = jnp.pad(u, 1)
    return (2 * u - padded[:-2] - padded[2:]) * float((N + 1) ** 2) + jnp.exp(u) * jnp.sin(u) + u**3 - f


def bratu_in_many_digits():
    """Newton's method in 50 digits."""
    u, f = mpmath.zeros(N, 1), [mp(float(v)) for v in FORCE]
    for _ in range(12):
        residual, matrix = mpmath.zeros(N, 1), mpmath.zeros(N)
        for k in range(N):
            left, right = (u[k - 1] if k else 0), (u[k + 1] if k < N - 1 else 0)
            wave = mpmath.exp(u[k]) * mpmath.sin(u[k])
            residual[k] = (2 * u[k] - left - right) * (N + 1) ** 2 + wave + u[k] ** 3 - f[k]
            matrix[k, k] = 2 * (N + 1) ** 2 + wave + mpmath.exp(u[k]) * mpmath.cos(u[k]) + 3 * u[k] ** 2
            for j in (k - 1, k + 1):
                if 0 <= j < N:
                    matrix[k, j] = -((N + 1) ** 2)
        u = u - mpmath.lu_solve(matrix, residual)
    return list(u)


def solved(problem, guess):
    return pr.scorers.DirectSolve().solution(problem, guess.shape)[0]


def library_of(truth, size=0.02):
    random = np.random.default_rng(0)
    return {f"m{k}": truth + size * random.standard_normal(N) for k in range(5)}


@pytest.mark.parametrize("corrections", [1, 2, 3])
def test_it_is_found_without_being_asked_for(corrections):
    problem = pr.Stationary(bratu, FORCE)
    with mpmath.workdps(50):
        truth = bratu_in_many_digits()
        library = library_of(np.array([float(t) for t in truth]))
        ranking = pr.rank(problem, library, corrections=corrections)
        certificate = pr.certify(problem, ranking)
        assert certificate.kind == "validated" and certificate.settled
        weights = np.ravel(ranking.space.weights)
        assert judged(certificate, ranking.outputs, truth, weights).false == 0
        off = mpmath.sqrt(mpmath.fsum((t - mp(float(s))) ** 2 for t, s in zip(truth, ranking.state, strict=True)))
    bound = certificate.enclosure.state_bound
    assert off <= bound <= max(4 * float(off), 1e-12)
    assert certificate.enclosure.zero.alone > 0


def test_it_is_sharp_for_one_unknown():
    """x² = 1 beside 1.1: the error is 0.1, more than the 0.0955 of a Newton step; the slope over the box tells."""
    problem, state = pr.Stationary(lambda x: x**2 - 1.0, solver=pr.Dense()), np.array([1.1])
    box, _ = krawczyk(Derivative(_defect, problem, state), state)
    assert box.ratio < 1 and 0.1 <= box.within[0] <= 0.13
    found = box.functionals(Interval.of(np.array([[3.0]])))
    assert found.low[0] <= -0.3 <= found.high[0] < -0.2


def test_any_task_and_until_certified():
    problem = pr.Stationary(bratu, FORCE)
    truth = solved(problem, np.zeros(N))
    task = pr.tasks.nonlinear(lambda u: jnp.stack([jnp.sum(u**2), u[3]]), name="energy and a sensor")
    ranking = pr.rank(problem, library_of(truth), task=task, corrections=3)
    certificate = pr.certify(problem, ranking)
    assert certificate.kind == "validated" and certificate.settled
    exact = np.array([np.sum(truth**2), truth[3]])
    gaps = pr.geometry.gaps_of(ranking.space, ranking.outputs, exact)
    assert np.all(certificate.gaps.low <= gaps + 1e-12) and np.all(gaps <= certificate.gaps.high + 1e-12)
    asked = pr.rank(problem, library_of(truth), until="certified", max_corrections=4)
    assert asked.certificate.settled


def test_zeros_are_told_apart():
    problem = pr.Stationary(lambda x: x**2 - 1.0, solver=pr.Dense())
    library = {"plus": np.array([1.1]), "minus": np.array([-1.05])}
    found = {
        name: pr.certify(problem, pr.rank(problem, library, anchor=np.array([start])))
        for name, start in (("plus", 1.02), ("minus", -1.02), ("again", 1.021))
    }
    assert found["plus"].best == "plus" and found["minus"].best == "minus"
    with pytest.raises(ValueError, match="may be about another zero"):
        intersect({name: found[name] for name in ("plus", "minus")})


def of(residual, state, **settings):
    problem = pr.Stationary(residual, solver=pr.Dense())
    state = np.asarray(state, float)
    ranking = Judged(problem, state, np.stack([state, state + 1, state - 0.5]), pr.tasks.field())
    found = EnclosedZero(**settings)(problem, ranking)
    assert not found.gaps.signs.any() and found.state_bound == np.inf
    return " ".join(str(a) for a in found.assumptions if not a.holds)


def test_what_cannot_be_proved_says_why():
    assert "at most 400 unknowns" in of(lambda x: x - 1.0, np.ones(401))
    assert "at most 1 unknowns" in of(lambda x: x - 1.0, np.ones(2), most=1)
    assert "'fft' of complex128 numbers" in of(lambda x: jnp.fft.irfft(jnp.fft.rfft(x), n=4) - 1, np.ones(4))
    assert "an approximate inverse" in of(lambda x: x * jnp.sum(x) * 0.0, np.ones(2))
    assert "into itself" in of(lambda x: x**2 + 1.0, [0.1])  # no zero
    assert "into itself" in of(lambda x: x**3, [1e-3])  # a multiple one
    assert "into itself" in of(lambda x: jnp.sin(20 * x), [0.07])  # too far
    assert "finite" in of(lambda x: x - 1.0, [np.nan])
    assert "may be zero" in of(lambda x: 1 / x - 1.0, [0.0])


def test_a_residual_with_a_wrong_derivative_is_still_judged_rightly():
    """`stop_gradient` hides x² from JAX, not from the enclosure."""

    def hidden(x):
        return x + jax.lax.stop_gradient(x) ** 2 - 2.0

    problem = pr.Stationary(hidden, solver=pr.Dense())
    ranking = Judged(problem, [1.0 + 1e-6], [[1.0 + 1e-7], [1.0 - 2e-7], [1.2]], pr.tasks.field())
    certificate = pr.certify(problem, ranking)
    assert certificate.best == "c0" and 1e-6 <= certificate.enclosure.state_bound < 1.1e-6


def test_an_implicit_march_is_one_system():
    problem = pr.Marching(lambda after, now: after - now + 0.1 * after**3, np.array([1.0, 0.5]), implicit=True)
    truth = solved(problem, np.zeros((5, 2)))
    library = {"a": truth + 1e-3 * np.linspace(0, 1, 5)[:, None], "b": truth - 2e-3 * np.linspace(0, 1, 5)[:, None]}
    certificate = pr.certify(problem, pr.rank(problem, library, corrections=2))
    assert certificate.best == "a" and certificate.kind == "validated"


def lost(sure):
    """e less the double next to it, 1.4456e-16; computed, nothing is left of it."""
    return jax.lax.cond(sure, lambda: jnp.exp(jnp.float64(1.0)) - 2.718281828459045, lambda: 1.0)


@pytest.mark.parametrize("sure", [lambda u: jnp.arange(3)[1] > 0, lambda u: u[0] < 5])
def test_what_a_branch_computes_is_rounded_too(sure):
    problem = pr.Stationary(lambda u: u - 1e16 * lost(sure(u)))
    ranking = Judged(problem, np.zeros(1), np.array([[0.2], [1.5]]), pr.tasks.field())
    certificate = pr.certify(problem, ranking)
    assert certificate.enclosure.state_bound >= 1.4456
    assert not certificate.signs.any()


def test_a_branch_that_is_taken_everywhere_is_enclosed():
    problem = pr.Stationary(lambda u: u - jax.lax.cond(u[0] < 5, lambda x: 0.5 * x, lambda x: 2 * x, u) - 1.0)
    ranking = Judged(problem, np.array([1.75]), np.array([[2.0], [2.5]]), pr.tasks.field())
    assert pr.certify(problem, ranking).best == "c0"
