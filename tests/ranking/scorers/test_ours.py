"""Direct solves, on coarser grids and where they fail."""

import numpy as np
import pytest

import physrank as pr
from physrank import scorers
from problems import bratu
from scored import FIELD, WAVE, library


def test_direct_solve_on_coarser_grids():
    coarse = scorers.DirectSolve(points=5)(FIELD, library("field"))
    assert coarse.method == "direct solve, 5 points"
    assert np.all(np.abs(coarse.values / scorers.DirectSolve()(FIELD, library("field")).values - 1) < 1)
    wave = scorers.DirectSolve(points=16, substeps=1)(WAVE, library("wave"))
    assert wave.order == scorers.DirectSolve()(WAVE, library("wave")).order
    own = pr.Stationary(bratu, data=1.0, grid=pr.Grid.nodes(9), shape=(9,))
    on = pr.Stationary(bratu, data=1.0, grid=pr.Grid.nodes(5), shape=(5,))
    solved = scorers.DirectSolve(on=on)(own, {"a": np.zeros(9), "b": np.ones(9)})
    assert solved.best == "a"
    with pytest.raises(ValueError, match="pass DirectSolve"):
        scorers.DirectSolve(points=4)(own, {"a": np.zeros(9)})
    with pytest.raises(ValueError, match="must divide 2"):
        scorers.DirectSolve(substeps=3)(WAVE, library("wave"))


def test_failed_direct_solve_is_unresolved():
    hopeless = pr.Stationary(lambda u: u**2 + 1.0)  # no real root
    scores = scorers.DirectSolve()(hopeless, {"a": np.ones(2), "b": np.zeros(2)})
    assert "did not converge" in scores.unresolved
    with pytest.raises(pr.UnresolvedError):
        _ = scores.best
