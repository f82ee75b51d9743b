"""Old names say the new one."""

import numpy as np
import pytest

import physrank as pr
from libraries import SMALL, library


def test_old_names_say_the_new_one():
    problem = SMALL["burgers"].problem
    for use, new in (
        (lambda: problem.lift_kind, "problem.grid.kind"),
        (lambda: problem.residual_floor, "physrank.residual_floor"),
        (lambda: pr.certificates.until, "physrank.certificates.Certified"),
        (lambda: pr.geometry.Bregman, "physrank.geometry.theory.Bregman"),
        (lambda: pr.plots, "physrank.report"),
        (lambda: pr.metrics.Rule, "physrank.metrics.Quadrature"),
        (lambda: pr.rank(problem, library("burgers")).library, "candidates"),
    ):
        with pytest.raises(AttributeError, match=f"is now.*{new}"):
            use()
    for keyword, new in (("lift", "Grid"), ("weights", "residual_weights"), ("implict", "implicit")):
        with pytest.raises(TypeError, match=new):
            pr.Marching(lambda u: u, np.zeros(3), **{keyword: 1})
    with pytest.raises(TypeError, match=r"grid\.axes"):
        np.sin(problem.grid)
