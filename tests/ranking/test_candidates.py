"""Candidates of any array kind and resolution, and everything bad that users pass in."""

import re

import jax.numpy as jnp
import numpy as np
import pytest
import xarray as xr

import physrank as pr
from helpers import solve
from libraries import GOOD, ROOT, SMALL, library
from problems import bratu, burgers, reaction_diffusion


def test_lift_axes_protect_channels():
    march = pr.Marching(lambda u: u, np.zeros((2, 16)), grid=pr.Grid.periodic(16))
    assert pr.rank(march, {"a": np.zeros((3, 2, 8)), "b": np.ones((3, 2, 16))}).outputs.shape == (2, 3, 2, 16)
    with pytest.raises(ValueError, match=r"Candidate 'a' has shape \(3, 1, 8\)"):
        pr.rank(march, {"a": np.zeros((3, 1, 8)), "b": np.ones((3, 2, 16))})


def test_candidates_of_different_resolution_rank_together():
    problem = burgers(points=64)
    truth = solve(problem)
    coarse = pr.lifts.lift(truth, (16,), "fourier")
    ranking = pr.rank(problem, {"off": truth + 0.05, "coarse": coarse, "way off": coarse + 0.3})
    assert ranking.order == ["coarse", "off", "way off"]
    field = reaction_diffusion(2, 14)
    truth = solve(field)
    small = pr.lifts.lift(truth, (8, 8), "sine")
    assert pr.rank(field, {"off": truth * 1.1, "small": small}).order == ["small", "off"]
    own = pr.Stationary(bratu, data=1.0, grid=pr.Grid.nodes(9), shape=(9,))
    assert pr.rank(own, {"a": np.zeros(5), "b": np.ones(9)}).outputs.shape == (2, 9)


def test_who_was_brought_to_the_grid_is_told_where_it_was_not_the_same_for_all():
    march = pr.Marching(lambda u: u, np.zeros(16), grid=pr.Grid.periodic(16))
    notes = pr.rank(march, {"coarse": np.zeros((3, 8)), "own": np.ones((3, 16)), "fine": np.zeros((3, 32))}).notes
    assert "coarse: given as 3 × 8, brought to 3 × 16: interpolated" in notes
    assert any(note.startswith("fine: given as 3 × 32, brought to 3 × 16: finer than") for note in notes)
    assert not any(note.startswith("own: given") for note in notes)
    together = pr.rank(march, {"a": np.zeros((3, 8)), "b": np.ones((3, 8))})
    assert not any("given as" in note for note in together.notes)


@pytest.mark.parametrize(
    "convert",
    [
        np.asarray,
        lambda v: v.astype(np.float32),
        lambda v: jnp.asarray(v, jnp.float32),
        lambda v: jnp.asarray(v, jnp.bfloat16),
        lambda v: xr.DataArray(v, dims=("t", "x")),
        lambda v: v.astype(np.float16),
        lambda v: v.tolist(),
    ],
    ids=[
        "numpy",
        "float32",
        "jax",
        "jax bfloat16",
        "xarray",
        "float16",
        "list",
    ],
)
def test_any_array_kind(convert):
    candidates = library("burgers")
    ranking = pr.rank(SMALL["burgers"].problem, {name: convert(v) for name, v in candidates.items()})
    plain = pr.rank(SMALL["burgers"].problem, candidates)
    assert ranking.scores.dtype == np.float64
    np.testing.assert_allclose(ranking.scores, plain.scores, rtol=0.05)


def test_integers_and_leading_axis():
    problem = pr.Stationary(lambda u: u - 2.0)
    ranking = pr.rank(problem, np.array([[1, 1], [2, 2], [5, 5]]))
    assert ranking.names == ("0", "1", "2")
    assert ranking.best == "1"
    named = xr.DataArray(np.array([[1.0, 1.0], [2.0, 2.0]]), dims=("candidate", "x"), coords={"candidate": ["p", "q"]})
    assert pr.rank(problem, named).best == "q"
    assert pr.rank(problem, [np.ones(2), 2 * np.ones(2)]).best == "1"


@pytest.mark.parametrize("axis", ["candidate", "model", "member", "checkpoint"])
def test_names_of_axes_are_honoured(axis):
    """Whatever the order of a labelled array's axes, candidates come first, then time, then space."""
    named = library("burgers")
    plain = pr.rank(SMALL["burgers"].problem, named)
    array = xr.DataArray(np.stack(list(named.values())), dims=(axis, "time", "x"), coords={axis: list(named)})
    turned = pr.rank(SMALL["burgers"].problem, array.transpose("x", axis, "time"))
    assert turned.names == plain.names
    np.testing.assert_array_equal(turned.scores, plain.scores)
    one_by_one = {name: array.sel({axis: name}).transpose("x", "time") for name in named}
    np.testing.assert_array_equal(pr.rank(SMALL["burgers"].problem, one_by_one).scores, plain.scores)


@pytest.mark.parametrize(
    "candidates, message",
    [
        ({}, "No candidates"),
        ([], "No candidates"),
        ({**GOOD, "c": np.ones(4)}, r"Candidate 'c' has shape (4,); expected (3,), the shape of candidate 'a'"),
        (
            {**GOOD, "c": [0.0, np.nan, 1.0]},
            r"Candidate 'c' contains 1 NaN or infinite values, the first at index (1,)",
        ),
        ({**GOOD, "c": [0.0, np.inf, np.nan]}, r"contains 2 NaN or infinite values"),
        (
            {**GOOD, "c": np.array(["x", "y", "z"])},
            "must be an array of real numbers; got ndarray with dtype <U1",
        ),
        (np.float64(3.0), "needs a leading candidate axis"),
    ],
    ids=["none", "empty list", "shape", "nan", "inf", "strings", "scalar"],
)
def test_bad_candidates(candidates, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        pr.rank(ROOT, candidates)


def test_bad_shapes_of_a_trajectory():
    with pytest.raises(ValueError, match=r"Candidate 'b' has shape \(5, 32\); expected \(6, 32\)"):
        pr.rank(burgers(), {"a": np.zeros((6, 32)), "b": np.zeros((5, 32))})
    with pytest.raises(ValueError, match=r"'b' has shape \(32, 6\).*; expected \(6, 32\).*same axes in another order"):
        pr.rank(burgers(), {"a": np.zeros((6, 32)), "b": np.zeros((32, 6))})
    with pytest.raises(ValueError, match=r"Candidate 'a' has shape \(3, 5\); expected \(3, 7\)"):
        pr.rank(pr.Marching(lambda u: u, np.zeros(7)), {"a": np.zeros((3, 5))})


def test_excluded_candidates_stay_marked_and_do_not_touch_the_anchor():
    broken = np.array([1.0, np.nan, 1.0])
    ranking = pr.rank(ROOT, {"bad": broken, **GOOD}, invalid="exclude")
    clean = pr.rank(ROOT, GOOD)
    assert ranking.names == ("bad", "a", "b")
    assert np.isnan(ranking.scores[0])
    np.testing.assert_array_equal(ranking.scores[1:], clean.scores)
    np.testing.assert_array_equal(ranking.state, clean.state)
    assert ranking.order == clean.order
    assert ranking.labels().mask[0, 1]
    assert not ranking.labels().mask[1, 2]
    assert "NaN" in ranking.candidates.excluded["bad"]
    assert "excluded" in str(ranking)
    assert ranking.to_dict()["candidates"]["bad"]["excluded"]
    with pytest.raises(ValueError, match="Every candidate contains NaN"):
        pr.rank(ROOT, {"bad": broken}, invalid="exclude")
    with pytest.raises(ValueError, match='"raise" or "exclude"'):
        pr.rank(ROOT, GOOD, invalid="ignore")


def test_names_that_become_the_same_are_refused():
    arrays = np.stack([np.zeros(3), np.ones(3)])
    with pytest.raises(ValueError, match="names must differ; '1' appears twice"):
        pr.rank(ROOT, {1: arrays[0], "1": arrays[1]})
    twice = xr.DataArray(arrays, dims=("candidate", "x"), coords={"candidate": ["fno", "fno"]})
    with pytest.raises(ValueError, match="names must differ; 'fno' appears twice"):
        pr.rank(ROOT, twice)


def test_a_library_without_any_valid_candidate_is_refused():
    broken = {"a": np.full(3, np.nan), "b": np.full(3, np.inf)}
    with pytest.raises(ValueError, match=r"Every candidate contains NaN or infinity \(a, b\)"):
        pr.rank(ROOT, broken, invalid="exclude")
