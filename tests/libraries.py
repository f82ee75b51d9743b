"""Small problems with candidates around their solutions."""

from functools import cache

import numpy as np
import pytest

import physrank as pr
from problems import CASES


@cache
def library(name, count=4, scale=0.1):
    """Candidates around a plausible state."""
    case = SMALL[name]
    base, failed = pr.scorers.DirectSolve().solution(case.problem, case.state(0).shape)
    assert failed is None
    return {f"m{k}": base + scale * (k + 1) / count * case.state(100 + k) for k in range(count)}


SMALL = {
    name: CASES[name] for name in ("burgers", "reaction-diffusion 2-D", "stationary, dense", "marching, implicit dense")
}
every_case = pytest.mark.parametrize("name", SMALL)
GOOD = {"a": np.zeros(3), "b": np.ones(3)}
ROOT = pr.Stationary(lambda u: u**3 + u - 1.0)
