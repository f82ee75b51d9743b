"""The law of reaction–diffusion inputs, by moments over many seeds."""

import numpy as np
import pytest

from moments import X, gather, is_normal_with, is_uniform_on, samples, shifted
from physrank.lab.inputs import STRATA, ReactionDiffusionInput
from physrank.lab.inputs.reaction_diffusion import DIFFUSION_MODES, FORCING_MODES


@pytest.mark.parametrize(
    "stratum, scales, modes",
    [
        ("training", (0.12, 0.80), (5, 6)),
        ("frequency", (0.16, 0.90), (8, 9)),
        ("parameter", (0.26, 1.35), (5, 6)),
        ("combined", (0.26, 1.35), (8, 9)),
    ],
)
def test_reaction_diffusion(stratum, scales, modes):
    _, far = shifted(stratum)
    cases = samples(ReactionDiffusionInput, stratum)
    is_normal_with(gather(cases, "diffusion_coefficients"), scales[0] * (np.arange(8) < modes[0]))
    is_normal_with(gather(cases, "forcing_coefficients"), scales[1] * (np.arange(9) < modes[1]))
    is_uniform_on(gather(cases, "linear"), *(((0.30, 0.60), (1.80, 2.20)) if far else ((0.80, 1.40),)))
    is_uniform_on(gather(cases, "cubic"), *(((0.10, 0.25), (1.10, 1.40)) if far else ((0.40, 0.90),)))


def test_reaction_diffusion_fields_are_their_modes():
    rest = ReactionDiffusionInput(np.zeros(8), np.zeros(9), 1.0, 0.5, "training")
    np.testing.assert_array_equal(rest.diffusion(X / 5, X / 5), 1.25)
    np.testing.assert_array_equal(rest.forcing(X / 5, X / 5), 0.0)
    assert (len(set(DIFFUSION_MODES)), len(set(FORCING_MODES))) == (8, 9)
    assert max(map(max, DIFFUSION_MODES[:5])) == 2  # what training knows is the smoother part
    assert min(map(sum, DIFFUSION_MODES[5:])) > max(map(sum, DIFFUSION_MODES[:5]))
    assert min(map(sum, FORCING_MODES[6:])) > max(map(sum, FORCING_MODES[:6]))
    x, y = np.meshgrid([0.1, 0.35, 0.8], [0.25, 0.6], indexing="ij")
    for k, (p, q) in enumerate(DIFFUSION_MODES):
        one = ReactionDiffusionInput(0.3 * np.eye(8)[k], np.zeros(9), 1.0, 0.5, "training")
        wave = np.cos(p * np.pi * x) * np.cos(q * np.pi * y)
        np.testing.assert_allclose(one.diffusion(x, y), 0.25 + np.exp(0.3 * wave), rtol=1e-12)
    for k, (p, q) in enumerate(FORCING_MODES):
        one = ReactionDiffusionInput(np.zeros(8), 0.3 * np.eye(9)[k], 1.0, 0.5, "training")
        wave = 2 * np.sin(p * np.pi * x) * np.sin(q * np.pi * y)
        np.testing.assert_allclose(one.forcing(x, y), 0.3 * wave, rtol=1e-12)


def test_reaction_diffusion_forcing_modes_are_orthonormal():
    nodes = np.arange(1, 16) / 16  # sums over them are exact for these modes
    x, y = np.meshgrid(nodes, nodes, indexing="ij")
    waves = [ReactionDiffusionInput(np.zeros(8), e, 1.0, 0.5, "training").forcing(x, y).ravel() for e in np.eye(9)]
    np.testing.assert_allclose(np.array(waves) @ np.transpose(waves) / 16**2, np.eye(9), atol=1e-12)


def test_strata_are_what_they_say():
    for stratum in STRATA:
        cases = [ReactionDiffusionInput.sample("development", k, stratum) for k in range(200)]
        wide, far = stratum in ("frequency", "combined"), stratum in ("parameter", "combined")
        tail = np.stack([c.diffusion_coefficients[5:] for c in cases])
        assert np.all((tail != 0) == wide)
        assert all((0.3 <= c.linear <= 0.6 or 1.8 <= c.linear <= 2.2) if far else 0.8 <= c.linear <= 1.4 for c in cases)
        assert all((0.1 <= c.cubic <= 0.25 or 1.1 <= c.cubic <= 1.4) if far else 0.4 <= c.cubic <= 0.9 for c in cases)
        scale = np.std([c.diffusion_coefficients[:5] for c in cases])
        assert scale == pytest.approx(0.26 if far else 0.16 if wide else 0.12, rel=0.1)
