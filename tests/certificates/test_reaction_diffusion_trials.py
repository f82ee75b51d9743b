"""No certificate is ever wrong: randomized and adversarial trials against the zero in many digits.

A few hundred in the ordinary suite; `make test-slow` runs 100,000.
"""

import dataclasses
import itertools
import os

import jax.numpy as jnp
import mpmath
import numpy as np
import pytest

import physrank as pr
from fields import solved
from helpers import with_outputs, with_state
from physrank.certificates import actions, reaction_diffusion

POINTS = 5  # interior nodes of a line: small enough for many digits, many times
SHARDS = 20  # of the slow lane: they run side by side, and an interrupted lane has said something
VARIATIONS = ("plain", "near tie", "perturbed state", "foreign state", "garbage solves", "far state", "duplicate")


def draw(random: np.random.Generator) -> pr.equations.ReactionDiffusion:
    """From gentle to absurd: coefficients over many orders of magnitude."""
    wild = random.random() < 0.5
    spread = 4.0 if wild else 0.5
    a = 10.0 ** random.uniform(-spread, spread, POINTS + 2)
    f = 10.0 ** random.uniform(-spread, 2 * spread) * random.standard_normal(POINTS + 2)
    cubic = 0.0 if random.random() < 0.1 else 10.0 ** random.uniform(-spread, 2 * spread)
    linear = 0.0 if random.random() < 0.1 else 10.0 ** random.uniform(-spread, spread)
    return pr.equations.ReactionDiffusion(a, f, linear, cubic)


def zero_in_many_digits(problem: pr.equations.ReactionDiffusion, guess: np.ndarray) -> list[mpmath.mpf]:
    """Newton's method on the tridiagonal problem, from the formula and the stored numbers."""
    mp = mpmath.mpf
    a, f = ([mp(float(v)) for v in np.asarray(array)] for array in (problem.diffusion, problem.forcing))
    lam, gam, h2 = mp(float(problem.linear)), mp(float(problem.cubic)), (mp(1) / (POINTS + 1)) ** 2
    face = [2 * x * y / (x + y) / h2 for x, y in itertools.pairwise(a)]
    u = [mp(0), *(mp(float(v)) for v in guess), mp(0)]
    for _ in range(200):
        inner = range(1, POINTS + 1)
        residual = [
            (face[k - 1] + face[k]) * u[k]
            - face[k - 1] * u[k - 1]
            - face[k] * u[k + 1]
            + lam * u[k]
            + gam * u[k] ** 3
            - f[k]
            for k in inner
        ]
        diagonal = [face[k - 1] + face[k] + lam + 3 * gam * u[k] ** 2 for k in inner]
        step = _tridiagonal([-face[k] for k in range(1, POINTS)], diagonal, residual)
        size = max(abs(x) for x in u) + mp(10) ** -60
        u = [mp(0), *(x - s for x, s in zip(u[1:-1], step, strict=True)), mp(0)]
        if max(abs(s) for s in step) <= size * mp(10) ** -45:
            return u
    raise AssertionError("Newton's method in many digits did not converge.")


def _tridiagonal(off: list, diagonal: list, rhs: list) -> list:
    """Elimination without pivoting: the matrix is symmetric and positive definite."""
    d, r = list(diagonal), list(rhs)
    for k in range(1, len(d)):
        factor = off[k - 1] / d[k - 1]
        d[k] -= factor * off[k - 1]
        r[k] -= factor * r[k - 1]
    x = [r[-1] / d[-1]]
    for k in range(len(d) - 2, -1, -1):
        x.insert(0, (r[k] - off[k] * x[0]) / d[k])
    return x


def library(random: np.random.Generator, centre: np.ndarray, near_tie: bool) -> dict[str, np.ndarray]:
    scale = np.abs(centre).max() + 1e-300
    found = {}
    for k in range(4):
        error = 10.0 ** random.uniform(-6, 0.5) * scale * random.standard_normal(centre.shape)
        error[[0, -1]] = 0
        found[f"c{k}"] = centre + error
    if near_tie:  # the mirror image about the zero ties with it, up to a hair
        found["mirror"] = centre - (found["c0"] - centre) * (
            1 + random.choice([-1, 1]) * 10.0 ** random.uniform(-16, -9)
        )
    return found


def garbage(random: np.random.Generator):
    """An inverse that is none: what it returns must only cost tightness."""
    honest = actions.inverse_actions

    def solve(*arguments):
        found = honest(*arguments)
        noise = 10.0 ** random.uniform(-8, 1) * random.standard_normal(found.values.shape)
        return dataclasses.replace(found, values=found.values * (1 + noise))

    return solve


def trial(random, problem, other, zero, variation, monkeypatch) -> tuple[int, int]:
    """(pairs certified, of these wrong)."""
    centre = np.array([float(u) for u in zero])
    ranking = pr.rank(problem, library(random, centre, variation == "near tie"), allow_unresolved=True)
    if variation == "perturbed state":
        noise = 10.0 ** random.uniform(-16, 0) * np.abs(ranking.state).max() * random.standard_normal(POINTS)
        ranking = with_state(ranking, ranking.state + np.pad(noise, 1))
    elif variation == "foreign state":
        ranking = with_state(ranking, pr.rank(other, library(random, centre, False), allow_unresolved=True).state)
    elif variation == "far state":
        ranking = with_state(ranking, np.pad(10.0 ** random.uniform(0, 6) * random.standard_normal(POINTS), 1))
    elif variation == "duplicate":
        outputs = ranking.outputs.copy()
        outputs[1] = outputs[0]
        ranking = with_outputs(ranking, outputs)
    with monkeypatch.context() as patch:
        if variation == "garbage solves":
            patch.setattr(reaction_diffusion, "inverse_actions", garbage(random))
        proof = pr.certify(problem, ranking)
    weights = [mpmath.mpf(float(w)) for w in ranking.space.weights]
    losses = [
        sum(w * (z - mpmath.mpf(float(v))) ** 2 for w, z, v in zip(weights, zero, y, strict=True))
        for y in ranking.outputs
    ]
    certified = wrong = 0
    for i, j in zip(*np.triu_indices(len(losses), 1), strict=True):
        gap = losses[j] - losses[i]
        if not proof.gaps.low[i, j] <= gap <= proof.gaps.high[i, j]:
            wrong += 1
        certified += proof.signs[i, j] != 0
        wrong += bool(proof.signs[i, j] != 0 and proof.signs[i, j] != mpmath.sign(gap))
    return certified, wrong


def run(trials: int, seed: int, monkeypatch) -> tuple[int, int]:
    random = np.random.default_rng(seed)
    certified = wrong = 0
    with mpmath.workdps(70):
        other = draw(random)
        for _ in range(-(-trials // len(VARIATIONS))):
            problem = draw(random)
            with pr.double():
                start = np.asarray(solved(problem, jnp.zeros(POINTS + 2)))
            zero = zero_in_many_digits(problem, start[1:-1] if np.isfinite(start).all() else np.zeros(POINTS))
            for variation in VARIATIONS:
                found = trial(random, problem, other, zero, variation, monkeypatch)
                certified, wrong = certified + found[0], wrong + found[1]
            other = problem
    return certified, wrong


def test_a_few_hundred_trials(monkeypatch):
    certified, wrong = run(210, 1, monkeypatch)
    assert wrong == 0
    assert certified > 500  # not for want of certificates


@pytest.mark.slow
@pytest.mark.parametrize("shard", range(SHARDS))
def test_a_hundred_thousand_trials(shard, monkeypatch, record_property):
    trials = int(os.environ.get("PHYSRANK_TRIALS", "100000")) // SHARDS
    certified, wrong = run(trials, 2 + shard, monkeypatch)
    record_property("summary", f"{trials} trials, {certified} pairs certified, {wrong} wrong")
    print(f"{trials} trials, {certified} pairs certified, {wrong} wrong")
    assert certified > trials  # not for want of certificates
    assert wrong == 0
