"""Marching problems: what they start from, and steps without a solution."""

import jax.numpy as jnp
import numpy as np
import pytest

import physrank as pr


def test_implicit_newton_fails_closed():
    """A step without a solution is reported, not returned as an ordinary trajectory."""
    hopeless = pr.Marching(lambda after, now: after**2 + 1.0 + 0 * now, np.zeros(2), implicit=True)
    scores = pr.scorers.DirectSolve()(hopeless, {"a": np.zeros((3, 2)), "b": np.ones((3, 2))})
    assert "did not converge" in scores.unresolved


def test_initial_states_of_other_kinds():
    march = pr.Marching(lambda u: 0.5 * u, jnp.array([1, 2, 3]))
    assert pr.scorers.DirectSolve()(march, {"a": np.zeros((3, 3)), "b": np.ones((3, 3))}).unresolved is None
    with pytest.raises(ValueError, match="Candidate 'a' is complex"):
        pr.rank(march, {"a": np.ones((3, 3)) * 1j})
    with pytest.raises(ValueError, match="length must be positive"):
        pr.equations.ReactionDiffusion(np.ones((4, 4)), np.ones((4, 4)), 1, 1, length=-1.0)
