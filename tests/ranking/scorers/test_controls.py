"""Controls against their definitions; they pass failure on."""

import numpy as np

import physrank as pr
from physrank import scorers
from problems import bratu, reaction_diffusion
from scored import FIELD, library


def test_reversed_response_goes_the_other_way():
    forward = pr.rank(FIELD, library("field"))
    found = scorers.ReversedResponse()(FIELD, library("field"))
    w, delta = np.asarray(forward.response.anchor), np.asarray(forward.response.correction)
    expected = forward.space.norm_squared(w - delta - forward.outputs)
    np.testing.assert_allclose(found.values, expected, rtol=1e-10)


def test_wrong_input_uses_the_other_state():
    other = pr.rank(reaction_diffusion(2, 10, cubic=0.1), library("field"))
    found = scorers.WrongInput(other)(FIELD, library("field"))
    expected = other.space.norm_squared(other.state - np.stack(list(library("field").values())))
    np.testing.assert_allclose(found.values, expected, rtol=1e-12)


def test_wrong_input_passes_failure_on(no_rescue):
    hard = pr.Stationary(bratu, data=1.0, solver=pr.Krylov("cg", max_steps=2))
    candidates = {"a": np.linspace(0, 1, 9), "b": np.ones(9)}
    other = pr.rank(hard, candidates)
    assert other.unresolved
    assert scorers.WrongInput(other)(pr.Stationary(bratu, data=1.0), candidates).unresolved
