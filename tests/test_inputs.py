"""The laws of the inputs, by moments over many seeds: every scale, interval, mode count and share that is stated.

Seeds are fixed, so nothing here is random; tolerances are 4.5 standard errors of the moment that is tested.
"""

import numpy as np
import pytest

from physrank.lab.inputs import (
    STRATA,
    BurgersInput,
    ReactionDiffusionInput,
    ShockTube,
    SineGordonInput,
    diffusion_reaction_cells,
    random_flow_2d,
    stream,
)
from physrank.lab.inputs.reaction_diffusion import DIFFUSION_MODES, FORCING_MODES

SAMPLES = 1200


def samples(kind, stratum):
    return [kind.sample("development", k, stratum) for k in range(SAMPLES)]


def gather(cases, name):
    return np.array([getattr(case, name) for case in cases])


def is_standard_normal(values):
    values, error = np.ravel(values), 4.5 / np.sqrt(np.size(values))
    assert abs(np.mean(values)) < error
    assert abs(np.mean(values**2) - 1) < error * np.sqrt(2)
    assert abs(np.mean(values**4) - 3) < error * np.sqrt(96)  # not uniform, not two-valued


def is_normal_with(values, scale):
    """Mode by mode (last axis) and all together."""
    scale = np.asarray(scale)
    assert np.all(values[..., scale == 0] == 0)
    unit = values[..., scale > 0] / scale[scale > 0]
    for mode in range(unit.shape[-1]):
        is_standard_normal(unit[..., mode])
    is_standard_normal(unit)


def is_uniform_on(values, *intervals):
    """Inside the union, up to its ends, each interval with its share, and each uniform in its first two moments."""
    values = np.ravel(values)
    lengths = np.array([high - low for low, high in intervals])
    counted = 0
    for (low, high), share in zip(intervals, lengths / lengths.sum(), strict=True):
        unit = (values[(values >= low) & (values <= high)] - low) / (high - low)
        counted += len(unit)
        assert abs(len(unit) / len(values) - share) < 4.5 * np.sqrt(share * (1 - share) / len(values)) + 1e-12
        assert unit.min() < 12 / len(unit)
        assert unit.max() > 1 - 12 / len(unit)
        assert abs(unit.mean() - 1 / 2) < 4.5 * np.sqrt(1 / 12 / len(unit))
        assert abs(np.mean((unit - 1 / 2) ** 2) - 1 / 12) < 4.5 * np.sqrt(1 / 180 / len(unit))
    assert counted == len(values)


def shifted(stratum):
    """Whether modes are added, whether parameters move."""
    return stratum in ("frequency", "combined"), stratum in ("parameter", "combined")


def power_law(modes, low, high, wide):
    """`low` = (scale, exponent) for modes 1–4, `high` for the rest, which only some strata have."""
    k = np.arange(1, modes + 1)
    return np.where(k <= 4, low[0] * k ** -low[1], high[0] * k ** -high[1] * wide)


def series(coefficients, x):
    return sum(a * np.cos(k * x) + b * np.sin(k * x) for k, (a, b) in enumerate(np.transpose(coefficients), start=1))


X = np.array([0.0, 0.4, 1.7, 5.0])


# -- the equations of the study ----------------------------------------------------------------------------------------


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


# -- in the manner of PDEBench -----------------------------------------------------------------------------------------


def test_shock_tubes():
    tubes = [ShockTube.sample("development", k) for k in range(SAMPLES)]
    for states in (gather(tubes, "left"), gather(tubes, "right")):
        is_uniform_on(np.log10(states[:, 0]), (-1, 1))
        is_uniform_on(states[:, 1], (-1, 1))
        is_uniform_on(np.log10(states[:, 2]), (-1, 1))
        assert abs(np.corrcoef(states[:, 0], states[:, 2])[0, 1]) < 4.5 / np.sqrt(SAMPLES)
    assert all(tube.left != tube.right for tube in tubes)
    is_uniform_on(gather(tubes, "diaphragm"), (0.3, 0.7))


@pytest.mark.parametrize("length", [1.0, 4.0])
def test_a_diaphragm_stands_where_it_says(length):
    tube = ShockTube((1.0, 0.2, 3.0), (0.5, -0.1, 0.4), 0.38)
    cells = tube.primitive(50, length)
    np.testing.assert_array_equal(cells[:, :19], np.tile(np.array(tube.left)[:, None], 19))
    np.testing.assert_array_equal(cells[:, 19:], np.tile(np.array(tube.right)[:, None], 31))


def test_diffusion_reaction_cells_are_standard_normal_and_independent():
    cells = np.stack([diffusion_reaction_cells("development", k, cells=32) for k in range(8)])
    for field in (0, 1):
        is_standard_normal(cells[:, field])
    for shifted_cells in (cells[:, ::-1], np.roll(cells, 1, 2), np.roll(cells, 1, 3), np.roll(cells, 1, 0)):
        assert abs(np.mean(cells * shifted_cells)) < 4.5 * np.sqrt(2 / cells.size)


def coefficients(fields):
    """Fourier coefficients of the modes that 16 cells carry, of fields given at cell centres."""
    n = fields.shape[-1]
    k = np.arange(-7, 8)
    centred = np.exp(-1j * np.pi * k / n)
    return np.fft.fft2(fields)[:, k[:, None], k[None, :]] / n**2 * centred[:, None] * centred


def test_random_flow_is_one_field_on_every_grid():
    for index in range(4):
        coarse, fine = (random_flow_2d("development", index, cells=n) for n in (16, 64))
        np.testing.assert_allclose(coefficients(coarse), coefficients(fine), atol=1e-14)
        assert not np.allclose(coarse, random_flow_2d("development", index + 1, cells=16))
    k = np.abs(np.arange(-7, 8))
    active = ((k >= 1) & (k <= 4))[:, None] & ((k >= 1) & (k <= 4))
    assert np.abs(coefficients(fine)[1:3][:, ~active]).max() < 1e-14
    assert np.abs(coefficients(fine)[1:3][:, active]).min() > 0


@pytest.mark.parametrize("cells", [16, 32])
@pytest.mark.parametrize("mach, gamma", [(0.1, 5 / 3), (0.3, 1.4)])
def test_random_flow_has_its_mach_number(cells, mach, gamma):
    fields = np.stack([random_flow_2d("development", k, cells, mach, gamma) for k in range(20)])
    assert fields.shape == (20, 4, cells, cells)
    speed_squared = np.mean(np.sum(fields[:, 1:3] ** 2, axis=1), axis=(1, 2))
    np.testing.assert_allclose(np.sqrt(speed_squared / gamma), mach, rtol=1e-10)  # sound of ρ = p = 1 is √γ
    np.testing.assert_allclose(np.mean(fields[:, 1] ** 2), np.mean(fields[:, 2] ** 2), rtol=1e-10)
    np.testing.assert_allclose(fields[:, [0, 3]].mean(axis=(2, 3)), 1.0, rtol=1e-12)
    np.testing.assert_allclose(fields[:, [0, 3]].std(axis=(2, 3)), 0.05, rtol=1e-10)
    assert not np.allclose(fields[:, 0], fields[:, 3])


def test_random_flow_amplitudes_fall_with_the_wavenumber():
    power = np.mean([np.abs(coefficients(random_flow_2d("development", k, 16))[1:3]) ** 2 for k in range(150)], (0, 1))
    low, high = power[7 + 1, 7 + 1], power[7 + 4, 7 + 4]
    assert 7 < low / high < 20  # 1/(p² + q²) is 16; scaling each field to unit variance takes a part of it


# -- refusals ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [BurgersInput, ReactionDiffusionInput, SineGordonInput])
def test_unknown_names_are_refused(kind):
    with pytest.raises(ValueError, match=r"no stratum 'amplitude'; expected one of training, frequency"):
        kind.sample("development", 0, "amplitude")
    with pytest.raises(ValueError, match=r"no population 'test'; expected one of training, validation"):
        kind.sample("test", 0, "training")


def test_unknown_streams_are_refused():
    with pytest.raises(ValueError, match=r"no equation 'heat'; expected one of burgers"):
        stream("heat", "development", 0)
    for sample in (ShockTube.sample, diffusion_reaction_cells, random_flow_2d):
        with pytest.raises(ValueError, match="no population 'test'"):
            sample("test", 0)
