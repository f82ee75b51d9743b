"""Every scorer: one signature, clear refusals, marked candidates."""

import jax.numpy as jnp
import numpy as np
import pytest

import physrank as pr
from physrank import scorers
from scored import FIELD, PROBLEM, WAVE, library, truth

EVERY = [
    scorers.SharedResponse(),
    scorers.SharedResponse(corrections=2),
    scorers.RawResidual(),
    scorers.CandidateWise(),
    scorers.MeanCentrality(),
    scorers.MedoidCentrality(),
    scorers.ValidationLoss({"m0": 3.0, "m1": 1.0, "m2": 2.0}),
    scorers.ReversedResponse(),
    scorers.DirectSolve(),
    scorers.Ladder(),
]
OF_FIELDS = [scorers.CommonEnergy(), scorers.AdaptedMajorant()]  # a march has no dual norm
CASES = [("field", scorer) for scorer in [*EVERY, *OF_FIELDS, None]] + [("wave", scorer) for scorer in [*EVERY, None]]


def of_another(which):
    """The control that needs a ranking: of other candidates."""
    return scorers.WrongInput(pr.rank(PROBLEM[which], library(which, (0.2, 0.4, 0.1)), effort="response"))


def test_every_scorer_is_in_the_table():
    named = {type(scorer or of_another(which)).__name__ for which, scorer in CASES}
    assert named == set(scorers.__all__) - {"Case", "Scorer"}


@pytest.mark.parametrize("which, scorer", CASES, ids=lambda part: getattr(part, "name", part or "another"))
def test_one_signature(which, scorer):
    scorer = scorer or of_another(which)
    scores = scorer(PROBLEM[which], library(which), task=None, anchor="medoid")
    assert isinstance(scores, pr.Scores)
    assert scores.names == ("m0", "m1", "m2")
    assert scores.values.shape == (3,)
    assert scores.unresolved is None
    assert scores.best in scores.names
    broken = {**library(which), "m1": library(which)["m1"] * np.nan}
    marked = scorer(PROBLEM[which], broken)
    assert np.isnan(marked.values[1]) and np.isfinite(marked.values[[0, 2]]).all()
    assert sorted(marked.order) == ["m0", "m2"]
    # An excluded candidate has no part in anything: without it the others get the same scores.
    others = {name: state for name, state in broken.items() if name != "m1"}
    np.testing.assert_allclose(marked.values[[0, 2]], scorer(PROBLEM[which], others).values, rtol=1e-9)


@pytest.mark.parametrize("which", ["field", "wave"])
def test_physics_finds_the_order_of_true_errors(which):
    for scorer in (scorers.SharedResponse(), scorers.CandidateWise(), scorers.DirectSolve()):
        result = scorer(PROBLEM[which], library(which))
        space = pr.rank(PROBLEM[which], library(which))
        true = pr.geometry.scores_of(space.space, space.outputs, space.task.outputs(truth(which)[None])[0])
        assert result.order == [f"m{k}" for k in np.argsort(true)]
        np.testing.assert_allclose(result.values, true, rtol=0.1)


def test_refusals():
    with pytest.raises(ValueError, match="such as ReactionDiffusion; got Burgers"):
        scorers.CommonEnergy()(WAVE, library("wave"))
    with pytest.raises(ValueError, match="No validation loss for candidate 'm1'"):
        scorers.ValidationLoss({"m0": 1.0})(FIELD, library("field"))


def test_candidates_with_non_finite_scores_are_named():
    scores = scorers.RawResidual()(pr.Stationary(lambda u: jnp.log(u)), {"neg": -np.ones(3), "pos": np.ones(3)})
    assert scores.best == "pos"
    assert scores.excluded == {"neg": "its score is not finite"}
    assert "neg" in str(scores)
    assert scorers.ValidationLoss({"m0": np.nan, "m1": 1.0, "m2": 2.0})(FIELD, library("field")).excluded
