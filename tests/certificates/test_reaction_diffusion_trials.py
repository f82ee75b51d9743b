"""No certificate is ever wrong: randomized and adversarial trials against the zero in many digits.

A few hundred in the ordinary suite; `make test-slow` runs 100,000.
"""

import dataclasses
import os

import jax.numpy as jnp
import mpmath
import numpy as np
import pytest

import physrank as pr
from certificates_line import POINTS, draw, zero_in_many_digits
from fields import solved
from helpers import with_outputs, with_state
from physrank.certificates import actions, reaction_diffusion

SHARDS = 20  # of the slow lane: they run side by side, and an interrupted lane has said something
VARIATIONS = ("plain", "near tie", "perturbed state", "foreign state", "garbage solves", "far state", "duplicate")


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
