"""Anchors: mean, medoid, a candidate, an array."""

import jax.numpy as jnp
import numpy as np
import pytest

import physrank as pr
from physrank import anchors
from physrank.ranking.candidates import Candidates
from problems import burgers


def test_anchors():
    states = {"a": [0.0, 0.0, 0.0], "b": [0.1, 0.0, 0.0], "c": [5.0, 5.0, 5.0]}
    problem = pr.Stationary(lambda u: u + 0.1 * u**3 - 0.05)
    anchor_of = lambda anchor: np.asarray(pr.rank(problem, states, anchor=anchor).response.anchor)  # noqa: E731
    np.testing.assert_allclose(anchor_of("mean"), [5.1 / 3, 5 / 3, 5 / 3])
    np.testing.assert_array_equal(anchor_of("medoid"), states["b"])
    np.testing.assert_array_equal(anchor_of("c"), states["c"])
    np.testing.assert_array_equal(anchor_of(np.array([1.0, 2.0, 3.0])), [1, 2, 3])
    # Euclidean: a, b and c pull equally often, b is between a and c in the first entry only.
    metric_states = {"a": [0.0, 0.0], "b": [1.0, 9.0], "c": [2.0, 0.0]}
    pick = lambda rule: np.asarray(pr.rank(pr.Stationary(lambda u: u), metric_states, anchor=rule).response.anchor)  # noqa: E731
    np.testing.assert_array_equal(pick(anchors.medoid()), metric_states["a"])
    np.testing.assert_array_equal(pick(anchors.medoid(pr.metrics.weights([1.0, 1e-6]))), metric_states["b"])
    with pytest.raises(ValueError, match=r"'d' is neither auto, mean, medoid nor a valid candidate \(a, b, c\)"):
        anchor_of("d")
    with pytest.raises(ValueError, match=r"shape \(2,\); expected \(3,\)"):
        anchor_of(np.zeros(2))
    with pytest.raises(ValueError, match="NaN or infinite"):
        anchor_of(np.array([np.nan, 0, 0]))


def test_medoid_ties_go_to_the_first():
    square = {"a": [0.0, 0.0], "b": [0.0, 1.0], "c": [1.0, 0.0], "d": [1.0, 1.0]}
    ranking = pr.rank(pr.Stationary(lambda u: u - 0.2), square, anchor="medoid")
    np.testing.assert_array_equal(ranking.response.anchor, square["a"])


def test_arrays_given_as_anchor_are_lifted():
    problem = burgers(points=64)
    coarse = np.zeros((6, 16))
    assert pr.rank(problem, {"a": coarse, "b": coarse + 0.1}, anchor=coarse).response.anchor.shape == (6, 64)


def test_the_medoid_minimises_distances_not_their_squares():
    """0, 1, 2, 3 and 20 on a line: the median is in the middle, whatever the last one is; squares would move towards it."""
    line = {name: [float(x)] for name, x in zip("abcde", (0, 1, 2, 3, 20), strict=True)}
    for rule in (anchors.medoid(), anchors.medoid(pr.metrics.weights([4.0]))):
        ranking = pr.rank(pr.Stationary(lambda u: u), line, anchor=rule)
        np.testing.assert_array_equal(ranking.response.anchor, [2.0])


def test_an_anchor_whose_defect_is_no_number_is_none():
    """A candidate so large that the equation overflows, beside one that is not."""
    problem = pr.Stationary(lambda u: jnp.exp(u) - jnp.exp(u / 2) * u - 1.0)
    found = pr.anchors.auto().of(Candidates.of({"huge": np.full(3, 1e4), "fine": np.full(3, 0.1)}, problem), problem)
    assert list(found.left_out) == ["huge"]
    np.testing.assert_array_equal(found.state, np.full(3, 0.1))
