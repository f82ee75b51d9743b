"""JAX as users have it, in single precision and with standard promotion: every way in computes in double all the same."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import physrank as pr
from physrank.certificates import LocalNewton
from problems import CASES
from scored import FIELD, WAVE, library

LINES = [1, 5, 9]  # of the field, for a task


@pytest.fixture
def promotion():
    return "standard"


@pytest.fixture
def precision():
    return jax.enable_x64(False)


def _sensors(state):
    return state[:, jnp.asarray(LINES)]


def _root(u, f):
    return u**3 + u - f


def _ranking(problem=FIELD, which="field", **options):
    return pr.rank(problem, library(which), **options)


def _stationary():
    return pr.Stationary(_root, data=np.linspace(0.1, 1, 5))


def _wave_built_here():
    return pr.equations.Burgers(np.sin, 0.1, np.linspace(0, 0.1, 3), points=16)


NEAR = {"a": np.linspace(0.1, 0.6, 5), "b": np.linspace(0.0, 0.7, 5), "c": np.full(5, 0.4)}
SCORERS = {
    "shared response": pr.scorers.SharedResponse(corrections=2),
    "raw residual": pr.scorers.RawResidual(),
    "candidate-wise": pr.scorers.CandidateWise(),
    "reversed": pr.scorers.ReversedResponse(),
    "direct solve": pr.scorers.DirectSolve(),
    "coarse solve": pr.scorers.DirectSolve(points=5),
    "ladder": pr.scorers.Ladder(),
    "common energy": pr.scorers.CommonEnergy(),
    "majorant": pr.scorers.AdaptedMajorant(),
}
WAYS = {
    **{name: lambda scorer=scorer: scorer(FIELD, library("field")).values for name, scorer in SCORERS.items()},
    "ladder of a wave": lambda: _ranking(WAVE, "wave").scores,
    "response": lambda: _ranking(effort="response").state,
    "uncertainty": lambda: _ranking(effort="response").uncertainty,
    "data": lambda: _ranking(uncertainty={"diffusion": 0.02}).uncertainty,
    "linear task": lambda: _ranking(task=pr.tasks.linear(_sensors)).scores,
    "rescored": lambda: _ranking().rescore(pr.tasks.linear(_sensors)).scores,
    "panel": lambda: [r.scores for r in pr.rank_panel([FIELD] * 2, [library("field")] * 2)],
    "adjoint gap": lambda: pr.adjoint_gap(_ranking(effort="response"), "m0", "m1"),
    "defect reduction": lambda: _ranking(effort="response").defect_reduction,
    "residual floor": lambda: pr.residual_floor(FIELD, library("field")["m1"], library("field")["m0"]),
    "check": lambda: pr.check(FIELD, library("field")["m1"], vary=["linear"]).floor,
    "validated": lambda: pr.certify(FIELD, _ranking(effort="response")).gaps.low,
    "Newton": lambda: pr.certify(_stationary(), pr.rank(_stationary(), NEAR), by=LocalNewton(degree=3)).gaps.low,
    "uncertain data": lambda: pr.certify(FIELD, _ranking(effort="response", uncertainty={"linear": 1e-3})).gaps.low,
    "enclosed": lambda: pr.certify(_stationary(), pr.rank(_stationary(), NEAR, corrections=2)).gaps.low,
    "own problem": lambda: pr.rank(_stationary(), NEAR).state,
    "built here": lambda: pr.rank(_wave_built_here(), np.ones((2, 3, 16)), effort="response").state,
    "coarser": lambda: np.asarray(FIELD.coarsen(points=5).diffusion),
    "coarser wave": lambda: np.asarray(WAVE.coarsen(points=8).initial),
    "wave a level lower": lambda: np.asarray(WAVE.coarser(1).initial),
}


@pytest.mark.parametrize("way", WAYS)
def test_every_way_in_computes_in_double_precision(way):
    """Not close to what double precision gives: the same, and in this type."""
    assert jnp.ones(1).dtype == jnp.float32
    found = np.asarray(WAYS[way]())
    assert found.dtype == np.float64
    with pr.double():
        np.testing.assert_array_equal(found, np.asarray(WAYS[way]()))
    assert jnp.ones(1).dtype == jnp.float32  # nobody's setting has changed


@pytest.mark.parametrize("name", ["sine-gordon", "marching, implicit dense", "assembled"])
def test_responses_of_every_kind_solve_to_double_precision(name):
    problem, state = CASES[name].problem, CASES[name].state(0)
    ranking = pr.rank(problem, {"a": state, "b": 1.001 * state}, effort="response", allow_unresolved=True)
    assert ranking.state.dtype == np.float64
    response = ranking.response
    assert float(response.algebraic_norm) <= 1e-8 * float(response.defect_norm)
