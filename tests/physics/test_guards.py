"""Users' functions that return something else are named."""

import numpy as np
import pytest

import physrank as pr
from libraries import GOOD, ROOT


def test_bad_user_functions():
    with pytest.raises(ValueError, match=r"residual returned shape \(1,\) for a state of shape \(3,\)"):
        pr.rank(pr.Stationary(lambda u: u[:1]), GOOD)
    with pytest.raises(ValueError, match=r"step returned shape \(2,\) for a state of shape \(3,\)"):
        pr.rank(pr.Marching(lambda u: u[:2], np.zeros(3)), {"a": np.zeros((4, 3))})
    with pytest.raises(ValueError, match="forcing has 2 rows; a trajectory of 4 rows takes 3 steps"):
        pr.rank(pr.Marching(lambda u, f: u + f, np.zeros(3), forcing=np.zeros((2, 3))), {"a": np.zeros((4, 3))})
    with pytest.raises(TypeError):
        pr.rank(ROOT, GOOD, tsk=None)  # unknown keywords are refused
