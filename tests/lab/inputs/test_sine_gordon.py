"""The law of Sine–Gordon inputs, by moments over many seeds."""

import numpy as np
import pytest

from moments import X, gather, is_normal_with, is_uniform_on, power_law, samples, series, shifted
from physrank.lab.inputs import STRATA, SineGordonInput


@pytest.mark.parametrize("stratum", STRATA)
def test_sine_gordon(stratum):
    wide, far = shifted(stratum)
    cases = samples(SineGordonInput, stratum)
    scale = power_law(8, (0.9, 1.5), (0.35, 0.5), wide)
    is_normal_with(gather(cases, "initial_coefficients"), scale)
    is_normal_with(gather(cases, "velocity_coefficients"), scale / 2)
    is_normal_with(gather(cases, "forcing_coefficients"), [0.2, 0.1])
    is_uniform_on(gather(cases, "speed"), *(((0.5, 0.7), (1.3, 1.5)) if far else ((0.8, 1.2),)))


def test_sine_gordon_fields_are_their_series():
    case = SineGordonInput.sample("development", 7, "combined")
    np.testing.assert_allclose(case.initial(X), series(case.initial_coefficients, X), rtol=1e-12)
    np.testing.assert_allclose(case.velocity(X), series(case.velocity_coefficients, X), rtol=1e-12)
    np.testing.assert_allclose(case.forcing(0.3, X), series(case.forcing_coefficients, X), rtol=1e-12)
    assert case.forcing(np.zeros((3, 1)), X).shape == (3, 4)


def test_sine_gordon_inputs_follow_their_law():
    near, far = (
        [SineGordonInput.sample("development", k, s).speed for k in range(200)] for s in ("training", "parameter")
    )
    assert all(0.8 <= c <= 1.2 for c in near)
    assert all(0.5 <= c <= 0.7 or 1.3 <= c <= 1.5 for c in far)
    assert np.all(SineGordonInput.sample("development", 0, "training").initial_coefficients[:, 4:] == 0)
