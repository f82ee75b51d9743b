"""A field and a wave with candidates of known error, for the scorers."""

from functools import cache

import numpy as np

from helpers import solve
from problems import burgers, reaction_diffusion

PROBLEM = {"field": reaction_diffusion(2, 10), "wave": burgers()}
FIELD, WAVE = PROBLEM.values()


@cache
def truth(which):
    return solve(PROBLEM[which])


@cache
def library(which, scales=(0.3, 0.1, 0.2)):
    """Truth plus rough errors of increasing size, zero where the conditions hold by construction."""
    random, exact = np.random.default_rng(7), truth(which)
    result = {}
    for k, scale in enumerate(scales):
        error = random.standard_normal(exact.shape)
        if which == "field":
            error[[0, -1]] = 0
            error[:, [0, -1]] = 0
        else:
            error[0] = 0
        result[f"m{k}"] = exact + scale * error / np.linalg.norm(error)
    return result
