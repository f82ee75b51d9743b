"""Residual floors: how far a reference is from solving the stated equations."""

import numpy as np
import pytest

import physrank as pr
from exact import sod
from helpers import solve
from physrank.equations import conservative
from problems import shock_tube


def test_residual_floor_measures_operator_mismatch():
    """A reference by another discretisation does not solve ours: its defect, relative to the anchor's, is the floor."""
    problem, x = shock_tube(100)
    own = solve(problem)
    exact = np.stack([own[0], *(conservative(sod(x, t), 1.4) for t in np.linspace(0, 0.2, 11)[1:])])
    candidates = {"a": own * 1.05, "b": np.broadcast_to(own[0], own.shape)}
    ranking = pr.rank(problem, candidates, anchor="mean", allow_unresolved=True)
    assert ranking.residual_floor(own) < 1e-10
    assert 0.01 < ranking.residual_floor(exact) < 1
    assert pr.residual_floor(problem, exact) > pr.residual_floor(problem, own)


def test_residual_floor_refuses_what_it_cannot_compare():
    line = pr.equations.Burgers(np.sin(np.arange(8) * np.pi / 4), 0.1, [0.0, 0.1, 0.2], points=8)
    for shape in ((3, 16), (2, 8), (8,)):
        with pytest.raises(ValueError, match=r"reference has shape .*; expected a state of this problem, \(3, 8\)"):
            pr.residual_floor(line, np.zeros(shape))
    problem = pr.Marching(lambda u: 0.5 * u, np.zeros(3))  # which zero solves
    broken = np.ones((4, 3))
    broken[1, 2] = np.nan
    assert pr.residual_floor(problem, np.full((4, 3), 2.0), np.ones((4, 3))) == pytest.approx(2)
    with pytest.raises(ValueError, match=r"anchor has shape \(4, 2\)"):
        pr.residual_floor(problem, np.ones((4, 3)), np.ones((4, 2)))
    with pytest.raises(ValueError, match="defect of the reference is not finite"):
        pr.residual_floor(problem, broken)
    with pytest.raises(ValueError, match="defect of the anchor is not finite"):
        pr.residual_floor(problem, np.ones((4, 3)), broken)
    with pytest.raises(ValueError, match="anchor's defect is zero"):
        pr.residual_floor(problem, np.ones((4, 3)), np.zeros((4, 3)))
