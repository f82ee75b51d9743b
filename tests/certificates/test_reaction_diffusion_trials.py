"""No certificate of reaction–diffusion is wrong, validated or not: adversarial trials against the zero in many digits."""

import contextlib
import dataclasses
from unittest import mock

import jax.numpy as jnp
import numpy as np
import pytest

import physrank as pr
from certificates_line import POINTS, draw, zero_in_many_digits
from fields import solved
from helpers import with_outputs, with_state
from physrank.certificates import StronglyMonotone, actions, monotone, reaction_diffusion
from trials import Verdict, judged, lane

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

    return [mock.patch.object(module, "inverse_actions", solve) for module in (reaction_diffusion, monotone)]


def one(random, problem, other, zero, variation, by) -> Verdict:
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
    with contextlib.ExitStack() as patched:
        for patch in garbage(random) if variation == "garbage solves" else ():
            patched.enter_context(patch)
        proof = pr.certify(problem, ranking, by=by)
    assert proof.kind == ("validated" if by is None else "theorem")
    return judged(proof, ranking.outputs, zero, ranking.space.weights)


def trial(random, by=None) -> Verdict:
    """One problem in all variations."""
    problem, other = draw(random), draw(random)
    with pr.double():
        start = np.asarray(solved(problem, jnp.zeros(POINTS + 2)))
    zero = zero_in_many_digits(problem, start[1:-1] if np.isfinite(start).all() else np.zeros(POINTS))
    return sum((one(random, problem, other, zero, variation, by) for variation in VARIATIONS), start=Verdict())


def theorem(random) -> Verdict:
    return trial(random, StronglyMonotone())


@pytest.mark.parametrize(("kind", "trials"), [(trial, 70), (theorem, 21)])
def test_a_few_trials(kind, trials):
    found = lane(kind, trials, 1)
    assert found.false == 0
    assert found.decided > 2 * trials  # not for want of certificates
