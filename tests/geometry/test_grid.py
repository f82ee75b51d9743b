"""Grids refuse what does not exist, interpolate the same inside compiled programs, and tell where a field ends."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import physrank as pr

GRIDS = {
    "periodic": pr.Grid.periodic((24, 16)),
    "sine": pr.Grid.nodes((25, 17)),
    "polynomial": pr.Grid.nodes((25, 17), kind="polynomial"),
    "cosine": pr.Grid.cells((24, 16)),
    "none": pr.Grid.cells((24, 16), kind=None),
}
every_grid = pytest.mark.parametrize("grid", GRIDS.values(), ids=GRIDS.keys())


def test_misspelt_interpolation_is_refused():
    with pytest.raises(ValueError, match="Unknown lift 'forier'"):
        pr.Marching(lambda u: u, np.zeros(4), grid=pr.Grid((4,), (1.0,), "periodic", "forier"))
    with pytest.raises(ValueError, match="trailing axes"):
        pr.Marching(lambda u: u, np.zeros(4), grid=pr.Grid.periodic(5))


@every_grid
def test_lifts_are_the_same_inside_compiled_programs(grid):
    field = np.random.default_rng(0).standard_normal((3, 2, 9, 11))
    for way in (grid.lift, grid.raised):
        expected, compiled = way(field), jax.jit(way)(field)
        assert isinstance(expected, np.ndarray) and compiled.dtype == np.float64
        np.testing.assert_allclose(compiled, expected, atol=1e-13)
    np.testing.assert_allclose(jax.jit(grid.tail)(field), grid.tail(field), rtol=1e-12)


def test_solutions_are_raised_where_candidates_are_not():
    field = np.random.default_rng(1).uniform(1, 2, (2, 8, 8))
    grid = GRIDS["none"]
    assert grid.lift(field) is field or np.array_equal(grid.lift(field), field)
    raised = grid.raised(field)
    assert raised.shape == (2, 24, 16) and raised.min() >= field.min() and raised.max() <= field.max()
    np.testing.assert_array_equal(GRIDS["cosine"].raised(field), GRIDS["cosine"].lift(field))


def wave(grid, mode, axis):
    """The mode of this grid's own series: the mode-th of as many as there are along the axis."""
    x, n = grid.axes[axis], grid.shape[axis]
    if grid.layout == "periodic":
        line = np.cos(2 * np.pi * mode * x)
    elif grid.kind == "sine":
        line = np.sin(np.pi * mode * x)
    else:
        line = np.cos(np.pi * mode * x)
    return np.ones(grid.shape) * np.moveaxis(line.reshape(n, 1), 0, axis), n


@every_grid
@pytest.mark.parametrize("axis", [0, 1])
def test_tail_is_the_share_of_the_top_third(grid, axis):
    low, n = wave(grid, 1, axis)
    high = wave(grid, int(0.45 * n if grid.layout == "periodic" else 0.9 * n), axis)[0]
    if grid.kind == "sine":  # a product of sines: the other axis has its first mode
        other = wave(grid, 1, 1 - axis)[0]
        low, high = low * other, high * other
    share = lambda s: s**2 / (1 + s**2)  # noqa: E731
    for size in (0.0, 0.01, 0.3):
        field = 3 * low + 3 * size * high + (0 if grid.kind == "sine" else 7)
        assert abs(grid.tail(field) - share(size)) < 0.1 * share(size) + 2e-4
    assert grid.tail(np.stack([low, high])) > 0.9  # the worst row or channel
    assert grid.tail(np.stack([low, 1e-5 * high])) < 0.1 + 2e-4  # but hardly one that is next to nothing


@every_grid
def test_tail_of_nothing_is_nothing(grid):
    for constant in (0.0, 1 / 3):
        flat = grid.tail(np.full((2, *grid.shape), constant))
        assert flat < (0.2 if grid.kind == "sine" and constant else 1e-8)


def test_tail_is_that_of_what_the_scheme_carries():
    grid, x = pr.Grid.periodic(48), np.arange(48) / 48
    field = np.cos(2 * np.pi * x) + 0.1 * np.cos(2 * np.pi * 12 * x)
    assert grid.tail(field) < 1e-20
    assert abs(grid.tail(field, 2 / 3) - 0.01 / 1.01) < 1e-12
    assert abs(jax.jit(grid.tail)(field, jnp.asarray(2 / 3)) - 0.01 / 1.01) < 1e-12


@pytest.mark.parametrize("make", [pr.Grid.periodic, pr.Grid.nodes, pr.Grid.cells])
def test_a_coarser_grid_carries_a_constant(make):
    """The rounding of one is no structure, however small the range; what lies on every other point is."""
    fine, rough = make((130, 130)), make((18, 18))
    for value in (0.0, 1 / 3, -0.7e-200):
        assert fine.missing(np.full(fine.shape, value), rough) < 1e-3
    assert fine.missing(1 + 1e-9 * (-1.0) ** np.arange(130) * np.ones(fine.shape), rough) > 0.1
