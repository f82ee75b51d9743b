"""References in the manner of PDEBench: viscosity, Riemann problem, two resolutions, refusals."""

import equinox as eqx
import jax.numpy as jnp
import numpy as np
import pytest

import physrank as pr
from exact import sod
from laws import slope
from physrank.lab.inputs import ShockTube, random_flow_2d
from physrank.lab.references import pdebench


def test_hllc_generator_against_the_exact_riemann_solution():
    tube = ShockTube((1.0, 0.0, 1.0), (0.125, 0.0, 0.1), 0.5)
    x = (np.arange(200) + 0.5) / 200
    found = pdebench.flow(tube.primitive(200), np.linspace(0, 0.2, 3), "outflow", gamma=1.4)[-1]
    error = np.abs(found - sod(x, 0.2)).mean(axis=1)
    assert np.all(error < 0.01)
    # It is not the instrument's operator: its trajectory has a residual floor there.
    rows = pdebench.flow(tube.primitive(100), np.linspace(0, 0.2, 11), "outflow", gamma=1.4)
    conservative = pr.equations.conservative(rows, 1.4)
    problem = pr.equations.CompressibleFlow(conservative[0], np.linspace(0, 0.2, 11), "outflow", gamma=1.4, substeps=10)
    frozen = np.broadcast_to(conservative[0], conservative.shape)
    assert 0.005 < pr.residual_floor(problem, conservative, frozen) < 0.5


def test_hllc_keeps_a_resting_contact_and_is_symmetric_in_its_axes():
    x = (np.arange(32) + 0.5) / 32
    contact = np.stack([np.where(x < 0.5, 1.0, 3.0), 0 * x, 0 * x + 1])
    np.testing.assert_allclose(
        pdebench.flow(contact, np.array([0.0, 0.1]), "outflow", gamma=1.4)[-1], contact, atol=1e-12
    )
    fields = random_flow_2d("development", 1, cells=16)
    turned = np.stack([fields[0].T, fields[2].T, fields[1].T, fields[3].T])
    a = pdebench.flow(fields, np.array([0.0, 0.05]), "periodic", gamma=5 / 3, shear=0.01)[-1]
    b = pdebench.flow(turned, np.array([0.0, 0.05]), "periodic", gamma=5 / 3, shear=0.01)[-1]
    np.testing.assert_allclose(np.stack([b[0].T, b[2].T, b[1].T, b[3].T]), a, atol=1e-12)


def test_diffusion_reaction_generator_and_trapezoid_agree_to_their_orders():
    x = np.pi * (np.arange(16) + 0.5) / 16
    initial = np.stack([np.cos(x)[:, None] * np.cos(2 * x), 0.5 * np.cos(2 * x)[:, None] + 0 * x])
    times = np.linspace(0, 0.5, 11)
    tight = pdebench.diffusion_reaction(initial, times, rtol=1e-9, atol=1e-11)
    problem = pr.equations.DiffusionReaction(initial, times)
    state, _ = pr.scorers.DirectSolve().solution(problem, problem.state_shape)
    assert 1e-7 < np.abs(state - tight).max() < 1e-3  # what the frame spacing leaves


GAMMA, LENGTH = 1.4, 2.0


def gas(cells):
    """A smooth periodic state (density, two velocities, pressure) without symmetries."""
    angle = 2 * np.pi * (np.arange(cells) + 0.5) / cells
    x, y = np.meshgrid(angle, angle, indexing="ij")
    return np.stack(
        [
            1 + 0.4 * np.sin(x + 2 * y + 0.3),
            0.5 + 0.3 * np.cos(x - y) + 0.2 * np.sin(2 * x),
            -0.2 + 0.4 * np.sin(x + y + 1) + 0.2 * np.cos(2 * y),
            1 + 0.2 * np.cos(2 * x + y),
        ]
    )


def spectral_viscosity(fields, shear, bulk):
    """∂_j(ρ ν_ij ∂_j u_i) and ∂_j(u_i ρ ν_ij ∂_j u_i), ν_ij = η + (η/3 + ζ) δ_ij, by Fourier derivatives."""

    def derivative(values, axis):
        k = 2 * np.pi / LENGTH * np.fft.fftfreq(values.shape[0], 1 / values.shape[0])
        shape = (-1, 1) if axis == 0 else (1, -1)
        return np.fft.ifft(1j * k.reshape(shape) * np.fft.fft(values, axis=axis), axis=axis).real

    density, velocity = fields[0], fields[1:3]
    result = np.zeros_like(fields)
    for j in (0, 1):
        for i in (0, 1):
            stress = density * (4 / 3 * shear + bulk if i == j else shear) * derivative(velocity[i], j)
            result[1 + i] += derivative(stress, j)
            result[3] += derivative(velocity[i] * stress, j)
    return result


def reference_rate(fields, shear, bulk):
    state, spacing = pr.equations.conservative(fields, GAMMA), LENGTH / fields.shape[-1]
    return pdebench._rate(state, GAMMA, spacing, shear, bulk, "periodic")


_rate = eqx.filter_jit(lambda problem, *arguments: problem.rate(*arguments))


def instrument_rate(fields, shear, bulk):
    state = pr.equations.conservative(fields, GAMMA)
    problem = pr.equations.CompressibleFlow(state, [0.0, 1e-4], "periodic", gamma=GAMMA, length=LENGTH)
    with pr.double():
        return np.asarray(_rate(problem, *map(jnp.asarray, (state, GAMMA, shear, bulk))))


@pytest.mark.parametrize("rate", [reference_rate, instrument_rate])
@pytest.mark.parametrize("shear, bulk", [(0.03, 0.0), (0.0, 0.02), (0.03, 0.02)])
def test_viscosity_is_the_density_weighted_one_at_second_order(rate, shear, bulk):
    errors, cells = [], np.array([24, 36, 54])
    for n in cells:
        fields = gas(n)
        found, expected = (
            rate(fields, shear, bulk) - rate(fields, 0.0, 0.0),
            spectral_viscosity(fields, shear, bulk),
        )
        np.testing.assert_allclose(found[0], 0, atol=1e-12)  # mass does not diffuse
        errors.append(np.abs(found - expected)[1:].max(axis=(1, 2)) / np.abs(expected)[1:].max(axis=(1, 2)))
    for channel in np.transpose(errors):
        assert abs(slope(1 / cells, channel) - 2) < 0.1
    assert np.all(errors[-1] < 0.02)


def averaged(fields, factor):
    """Block means of the conserved variables."""
    values = pr.equations.conservative(fields, GAMMA)
    for axis in range(1, values.ndim):
        values = sum(np.take(values, np.arange(s, values.shape[axis], factor), axis) for s in range(factor)) / factor
    return pr.equations.primitive(values, GAMMA)


@pytest.mark.parametrize("dims", [1, 2])
def test_flow_reference_solves_on_two_and_four_times_as_many_cells(dims):
    times, differences = np.array([0.0, 0.03, 0.06]), []
    for cells in (8, 16):
        start = gas(4 * cells)
        start = start if dims == 2 else start[[0, 1, 3], :, 0]
        options = {"gamma": GAMMA, "length": LENGTH, "shear": 0.01, "bulk": 0.005}
        found = pdebench.flow_reference(start, times, cells, "periodic", **options)
        fine = pdebench.flow(start, times, "periodic", **options)
        coarse = pdebench.flow(averaged(start, 2), times, "periodic", **options)
        np.testing.assert_allclose(found.fine, [averaged(row, 4) for row in fine], rtol=1e-12)
        np.testing.assert_allclose(found.coarse, [averaged(row, 2) for row in coarse], rtol=1e-12)
        np.testing.assert_allclose(found.fine[0], found.coarse[0], atol=1e-12)  # one and the same start
        differences.append(found.difference)
    assert 0 < differences[1] < differences[0] / 1.5
    with pytest.raises(ValueError, match="must have 64 cells per side"):
        pdebench.flow_reference(start[..., ::2], times, 16, "periodic", gamma=GAMMA)


def test_diffusion_reaction_reference_tightens_both_tolerances():
    x = np.pi * (np.arange(8) + 0.5) / 8
    initial = np.stack([np.cos(x)[:, None] * np.cos(2 * x), 0.5 * np.cos(2 * x)[:, None] + 0 * x])
    times = np.linspace(0, 2, 3)
    found = pdebench.diffusion_reaction_reference(initial, times)
    coarse, fine, exact = (
        pdebench.diffusion_reaction(initial, times, rtol=rtol, atol=atol)
        for rtol, atol in ((1e-3, 1e-6), (1e-6, 1e-9), (1e-10, 1e-12))
    )
    np.testing.assert_array_equal(found.coarse, coarse)
    np.testing.assert_allclose(found.fine, fine, rtol=1e-10)
    assert np.abs(found.fine - exact).max() < 0.05 * found.difference
    tighter = pdebench.diffusion_reaction_reference(initial, times, rtol=1e-5, atol=1e-8, threshold=0.1)
    np.testing.assert_allclose(
        tighter.fine,
        pdebench.diffusion_reaction(initial, times, rtol=1e-8, atol=1e-11, threshold=0.1),
        rtol=1e-10,
    )
    assert 0 < tighter.difference < found.difference


def test_flow_refuses_what_is_not_a_gas():
    start, times = random_flow_2d("development", 0, cells=8), np.array([0.0, 0.01])
    for channel in (0, 3):
        bad = start.copy()
        bad[channel, 2, 3] *= -1
        with pytest.raises(ValueError, match="density or pressure that is not positive: expected primitive"):
            pdebench.flow(bad, times, "periodic", gamma=GAMMA)
    for boundary in ("reflecting", "wall", ""):
        with pytest.raises(ValueError, match=f'boundary must be "periodic" or "outflow"; got {boundary!r}'):
            pdebench.flow(start, times, boundary, gamma=GAMMA)
