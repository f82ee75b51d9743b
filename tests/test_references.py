"""The references themselves: their viscosity, their two grids, the points they are read at, and how they refuse."""

import equinox as eqx
import jax.numpy as jnp
import numpy as np
import pytest

import physrank as pr
from laws import slope
from physrank.lab.inputs import BurgersInput, ReactionDiffusionInput, SineGordonInput, random_flow_2d
from physrank.lab.references import burgers, pdebench, reaction_diffusion, sine_gordon
from physrank.lab.references.reference import Reference, unresolved_pairs, unresolved_top1

GAMMA, LENGTH = 1.4, 2.0

# -- viscosity of compressible flow, instrument and reference -----------------------------------------------------------


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


# -- two grids ---------------------------------------------------------------------------------------------------------


def test_the_levels_are_the_stated_ones():
    assert burgers.LEVELS == {"first": ((768, 10), (1536, 20)), "second": ((1536, 20), (3072, 40))}
    assert reaction_diffusion.LEVELS == {"first": (511, 767), "second": (767, 1023)}
    assert sine_gordon.LEVELS == {"first": ((384, 6144), (768, 12288))}


LINES = {
    "burgers": (
        burgers,
        [BurgersInput.sample("development", k, "training") for k in range(2)],
        np.linspace(0, 0.2, 3),
        {"first": ((48, 4), (96, 8)), "second": ((96, 8), (192, 16))},
    ),
    "sine-gordon": (
        sine_gordon,
        [SineGordonInput.sample("development", k, "training") for k in range(2)],
        np.linspace(0, 1, 3),
        {"first": ((24, 40), (48, 80)), "second": ((48, 80), (96, 160))},
    ),
}


@pytest.mark.parametrize("name", LINES)
def test_pairs_solve_on_both_grids_and_keep_the_common_points(name, monkeypatch):
    module, cases, times, levels = LINES[name]
    monkeypatch.setattr(module, "LEVELS", levels)
    assert [r.difference for r in module.pairs(cases, times, 12)] == [
        r.difference for r in module.pairs(cases, times, 12, "first")
    ]
    for level, grids in levels.items():
        solved = [module.solve(cases, times, *grid)[..., :: grid[0] // 12] for grid in grids]
        found = module.pairs(cases, times, 12, level)
        assert len(found) == 2
        for reference, coarse, fine in zip(found, *solved, strict=True):
            np.testing.assert_array_equal(reference.coarse, coarse)
            np.testing.assert_array_equal(reference.fine, fine)
            assert reference.difference > 0
    first, second = (max(r.difference for r in module.pairs(cases, times, 12, level)) for level in levels)
    assert second < first / 3
    # A row starts as the input says, at the points of the small grid.
    x = np.arange(12) * 2 * np.pi / 12
    start = found[1].fine[0] if name == "burgers" else found[1].fine[0, 0]
    np.testing.assert_allclose(start, cases[1].initial(x), atol=1e-12)


@pytest.mark.parametrize("name", LINES)
def test_pairs_refuse_other_levels_and_points(name, monkeypatch):
    module, cases, times, levels = LINES[name]
    monkeypatch.setattr(module, "LEVELS", levels)
    with pytest.raises(ValueError, match=r"no level 'third' of resolution here; expected one of first, second"):
        module.pairs(cases, times, 12, "third")
    for points in (0, 7, 36, levels["first"][1][0]):  # the last divides only the fine grid
        with pytest.raises(ValueError, match=rf"points must divide the reference grid of \d+; got {points}\."):
            module.pairs(cases, times, points)


def test_reaction_diffusion_pair_solves_on_both_grids(monkeypatch):
    levels = {"first": (31, 63), "second": (63, 127)}
    monkeypatch.setattr(reaction_diffusion, "LEVELS", levels)
    case = ReactionDiffusionInput.sample("development", 1, "training")
    differences = []
    for level, (coarse, fine) in levels.items():
        found = reaction_diffusion.pair(case, 15, level)
        assert found.coarse.shape == (17, 17)
        for values, n in ((found.coarse, coarse), (found.fine, fine)):
            stride = (n + 1) // 16
            inner = reaction_diffusion.solve(case, n)[stride - 1 :: stride, stride - 1 :: stride]
            np.testing.assert_allclose(values, np.pad(inner, 1), atol=1e-9 * np.abs(inner).max())
        differences.append(found.difference)
    assert 3.5 < differences[0] / differences[1] < 4.5  # second order
    assert reaction_diffusion.pair(case, 15).difference == differences[0]
    with pytest.raises(ValueError, match=r"no level 'third' of resolution here"):
        reaction_diffusion.pair(case, 15, "third")


def averaged(fields, factor):
    """Block means of the conserved variables."""
    values = pr.equations.conservative(fields, GAMMA)
    for axis in range(1, values.ndim):
        values = sum(np.take(values, np.arange(s, values.shape[axis], factor), axis) for s in range(factor)) / factor
    return pr.equations.primitive(values, GAMMA)


@pytest.mark.parametrize("dims", [1, 2])
def test_flow_pair_solves_on_two_and_four_times_as_many_cells(dims):
    times, differences = np.array([0.0, 0.03, 0.06]), []
    for cells in (8, 16):
        start = gas(4 * cells)
        start = start if dims == 2 else start[[0, 1, 3], :, 0]
        options = {"gamma": GAMMA, "length": LENGTH, "shear": 0.01, "bulk": 0.005}
        found = pdebench.flow_pair(start, times, cells, "periodic", **options)
        fine = pdebench.flow(start, times, "periodic", **options)
        coarse = pdebench.flow(averaged(start, 2), times, "periodic", **options)
        np.testing.assert_allclose(found.fine, [averaged(row, 4) for row in fine], rtol=1e-12)
        np.testing.assert_allclose(found.coarse, [averaged(row, 2) for row in coarse], rtol=1e-12)
        np.testing.assert_allclose(found.fine[0], found.coarse[0], atol=1e-12)  # one and the same start
        differences.append(found.difference)
    assert 0 < differences[1] < differences[0] / 1.5
    with pytest.raises(ValueError, match="must have 64 cells per side"):
        pdebench.flow_pair(start[..., ::2], times, 16, "periodic", gamma=GAMMA)


def test_diffusion_reaction_pair_tightens_both_tolerances():
    x = np.pi * (np.arange(8) + 0.5) / 8
    initial = np.stack([np.cos(x)[:, None] * np.cos(2 * x), 0.5 * np.cos(2 * x)[:, None] + 0 * x])
    times = np.linspace(0, 2, 3)
    found = pdebench.diffusion_reaction_pair(initial, times)
    coarse, fine, exact = (
        pdebench.diffusion_reaction(initial, times, rtol=rtol, atol=atol)
        for rtol, atol in ((1e-3, 1e-6), (1e-6, 1e-9), (1e-10, 1e-12))
    )
    np.testing.assert_array_equal(found.coarse, coarse)
    np.testing.assert_allclose(found.fine, fine, rtol=1e-10)
    assert np.abs(found.fine - exact).max() < 0.05 * found.difference
    tighter = pdebench.diffusion_reaction_pair(initial, times, rtol=1e-5, atol=1e-8, threshold=0.1)
    np.testing.assert_allclose(
        tighter.fine,
        pdebench.diffusion_reaction(initial, times, rtol=1e-8, atol=1e-11, threshold=0.1),
        rtol=1e-10,
    )
    assert 0 < tighter.difference < found.difference


# -- failing closed ----------------------------------------------------------------------------------------------------


def test_what_is_not_a_number_is_unresolved():
    losses, changes = np.array([1.0, 2.0, 9.0]), np.array([0.1, 0.1, 0.1])
    assert not unresolved_pairs(losses, changes)[~np.eye(3, dtype=bool)].any()
    assert not unresolved_top1(losses, changes)
    for values, bars in (([1.0, np.nan, 9.0], changes), (losses, np.array([0.1, np.nan, 0.1]))):
        pairs = unresolved_pairs(np.array(values), np.asarray(bars))
        assert pairs[1].all()
        assert pairs[:, 1].all()
        assert not pairs[0, 2]
    for values, bars in (
        ([1.0, np.nan], [0.1, 0.1]),
        ([np.nan, np.nan, np.nan], [0.1, 0.1, 0.1]),
        ([1.0, 2.0, 9.0], [np.nan, 0.1, 0.1]),
        ([1.0, 2.0, 9.0], [0.1, np.nan, 0.1]),
    ):
        assert unresolved_top1(np.array(values), np.array(bars))
    # A reference with one NaN decides nothing.
    broken = Reference(coarse=np.array([0.0, 0.0]), fine=np.array([np.nan, 0.0]))
    found = broken.losses(pr.geometry.TaskSpace(np.ones(2)), np.array([[1.0, 0.0], [5.0, 0.0]]))
    assert unresolved_pairs(*found).all()
    assert unresolved_top1(*found)


def test_references_of_another_shape_are_refused():
    space = pr.geometry.TaskSpace(np.ones(2))
    trajectory = Reference(coarse=np.zeros((3, 2)), fine=np.ones((3, 2)))
    with pytest.raises(ValueError, match=r"reference has shape \(3, 2\), a candidate's output \(2,\)"):
        trajectory.losses(space, np.zeros((4, 2)))
    with pytest.raises(ValueError, match=r"reference has shape \(1,\), a candidate's output \(2,\)"):
        Reference(np.zeros(1), np.ones(1)).losses(space, np.zeros((4, 2)))  # would broadcast
    with pytest.raises(ValueError, match=r"coarse has shape \(3,\), fine \(2,\)"):
        Reference(np.zeros(3), np.zeros(2))


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


def test_residual_floor_refuses_what_it_cannot_compare():
    line = pr.equations.Burgers(np.sin(np.arange(8) * np.pi / 4), 0.1, [0.0, 0.1, 0.2], points=8)
    for shape in ((3, 16), (2, 8), (8,)):
        with pytest.raises(ValueError, match=r"reference has shape .*; expected a state of this problem, \(3, 8\)"):
            pr.residual_floor(line, np.zeros(shape))
    problem = pr.Marching(lambda u: 0.5 * u, np.zeros(3))  # which zero solves
    broken = np.ones((4, 3))
    broken[1, 2] = np.nan
    assert pr.residual_floor(problem, np.full((4, 3), 2.0), np.ones((4, 3))) == pytest.approx(2)
    with pytest.raises(ValueError, match=r"anchor has shape \(4, 2\)"):
        pr.residual_floor(problem, np.ones((4, 3)), np.ones((4, 2)))
    with pytest.raises(ValueError, match="defect of the reference is not finite"):
        pr.residual_floor(problem, broken)
    with pytest.raises(ValueError, match="defect of the anchor is not finite"):
        pr.residual_floor(problem, np.ones((4, 3)), broken)
    with pytest.raises(ValueError, match="anchor's defect is zero"):
        pr.residual_floor(problem, np.ones((4, 3)), np.zeros((4, 3)))
