"""The law of Burgers inputs, by moments over many seeds."""

import numpy as np
import pytest

from moments import SAMPLES, X, gather, is_normal_with, is_uniform_on, power_law, samples, series, shifted
from physrank.lab.inputs import STRATA, BurgersInput


@pytest.mark.parametrize("stratum", STRATA)
def test_burgers(stratum):
    wide, far = shifted(stratum)
    cases = samples(BurgersInput, stratum)
    is_normal_with(gather(cases, "initial_coefficients"), power_law(10, (0.55, 1.5), (0.30, 0.5), wide))
    is_normal_with(gather(cases, "forcing_coefficients"), [0.12, 0.06])
    is_uniform_on(gather(cases, "modulation"), (0, 0.35))
    is_uniform_on(gather(cases, "phase"), (0, 2 * np.pi))
    is_uniform_on(gather(cases, "viscosity"), *(((0.008, 0.018), (0.085, 0.110)) if far else ((0.025, 0.075),)))
    cycles = gather(cases, "cycles")
    assert set(cycles) == {1, 2}
    assert abs(np.mean(cycles) - 1.5) < 4.5 * 0.5 / np.sqrt(SAMPLES)
    assert {case.stratum for case in cases} == {stratum}


def test_burgers_fields_are_their_series():
    case = BurgersInput.sample("development", 7, "combined")
    assert case.initial_coefficients.shape == (2, 10)
    np.testing.assert_allclose(case.initial(X), series(case.initial_coefficients, X), rtol=1e-12)
    for t in (0.0, 0.03, 0.2):
        swing = 1 + case.modulation * np.sin(2 * np.pi * case.cycles * t / 0.2 + case.phase)
        np.testing.assert_allclose(case.forcing(t, X), swing * series(case.forcing_coefficients, X), rtol=1e-12)


def test_burgers_inputs_follow_their_law():
    for stratum in STRATA:
        cases = [BurgersInput.sample("development", k, stratum) for k in range(300)]
        wide, far = stratum in ("frequency", "combined"), stratum in ("parameter", "combined")
        spread = np.std([c.initial_coefficients for c in cases], axis=(0, 1))
        k = np.arange(1, 11)
        np.testing.assert_allclose(spread[:4], 0.55 * k[:4] ** -1.5, rtol=0.15)
        np.testing.assert_allclose(spread[4:], 0.30 * k[4:] ** -0.5 * wide, rtol=0.15)
        np.testing.assert_allclose(
            np.std([c.forcing_coefficients for c in cases], axis=(0, 1)), [0.12, 0.06], rtol=0.15
        )
        assert all(
            (0.008 <= c.viscosity <= 0.018 or 0.085 <= c.viscosity <= 0.110) if far else 0.025 <= c.viscosity <= 0.075
            for c in cases
        )
        assert all(0 <= c.modulation <= 0.35 and c.cycles in (1, 2) for c in cases)


def test_burgers_forcing_is_modulated_as_stated():
    case = BurgersInput.sample("development", 3, "training")
    t = np.linspace(0, 0.2, 9)[:, None]
    f = case.forcing(t, np.array([0.3]))
    swing = 1 + case.modulation * np.sin(2 * np.pi * case.cycles * t / 0.2 + case.phase)
    np.testing.assert_allclose(f / swing, np.broadcast_to(f[0] / swing[0], (9, 1)))
