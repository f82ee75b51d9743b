"""A state that does not fit is refused with the step that is missing, and that step mends it."""

import numpy as np
import pytest

import physrank as pr
from physrank.models.fitting import check_fit

GRID = pr.Grid.periodic(8, 2 * np.pi)
MARCH = pr.equations.Burgers(np.sin, 0.1, np.linspace(0, 0.1, 5), points=16)
ROOT = pr.Stationary(lambda u: u - 1.0, shape=(2, 8), grid=GRID)
RANDOM = np.random.default_rng(0)


@pytest.mark.parametrize("shape, problem", [((5, 16), MARCH), ((5, 8), MARCH), ((2, 8), ROOT), ((2, 4), ROOT)])
def test_states_of_any_resolution_that_can_be_lifted_pass(shape, problem):
    check_fit(RANDOM.standard_normal(shape), problem)


@pytest.mark.parametrize(
    "shape, problem, hint, mended",
    [
        ((1, 5, 16), MARCH, r"y\[:, 0\]", lambda v: v[0]),
        ((5, 16, 1), MARCH, r"y\[:, :, :, 0\]", lambda v: v[:, :, 0]),
        ((4, 16), MARCH, "initial state", lambda v: np.concatenate([v[:1], v])),
        ((16, 5), MARCH, r"permute\(0, 2, 1\)", lambda v: v.T),
        ((8, 2), ROOT, r"transpose\(0, 2, 1\)", lambda v: v.T),
        ((7, 16), MARCH, "decode=, a function", lambda v: v[:5]),
    ],
)
def test_the_step_that_is_missing_is_named(shape, problem, hint, mended):
    state = RANDOM.standard_normal(shape)
    with pytest.raises(ValueError, match=hint):
        check_fit(state, problem)
    check_fit(mended(state), problem)
