"""The laws of inputs in the manner of PDEBench."""

import numpy as np
import pytest

from moments import SAMPLES, gather, is_standard_normal, is_uniform_on
from physrank.lab.inputs import ShockTube, diffusion_reaction_cells, random_flow_2d


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


def test_pdebench_inputs():
    cells = diffusion_reaction_cells("development", 0)
    assert cells.shape == (2, 128, 128)
    assert abs(cells.mean()) < 0.03
    assert abs(cells.std() - 1) < 0.02
    tube = ShockTube.sample("development", 1).primitive(64)
    assert tube.shape == (3, 64)
    assert np.all(tube[[0, 2]] > 0)
    fields = random_flow_2d("development", 2)
    mach = np.sqrt(np.mean(np.sum(fields[1:3] ** 2, axis=0))) / np.sqrt(5 / 3)
    assert mach == pytest.approx(0.1, rel=1e-6)
    assert fields[[0, 3]].min() > 0.7
    np.testing.assert_allclose(fields[[0, 3]].std(axis=(1, 2)), 0.05, rtol=1e-6)


def test_a_shock_tube_has_its_values_at_cell_centres():
    """Two cells with centres ¼ and ¾: a diaphragm at 0.2 is left of both, one at 0.3 between them."""
    for place, density in ((0.2, [2.0, 2.0]), (0.3, [1.0, 2.0])):
        assert ShockTube((1.0, 0.0, 1.0), (2.0, 0.0, 1.0), place).primitive(2)[0].tolist() == density
