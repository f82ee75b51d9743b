"""Growth with half of the viscosity: never below the top eigenvalue, whatever the weight, and close to it with a good one."""

from dataclasses import replace

import equinox as eqx
import jax.numpy as jnp
import numpy as np
import pytest

import physrank as pr
from helpers import solve
from physrank import compute
from physrank.certificates.paths.burgers import Measures, measure, reconstruct
from physrank.certificates.paths.burgers_growth import _measured, growth_with_half_viscosity, suited

NU, POINTS, ROWS, SUBSTEPS = 0.1, 96, 12, 2
DENSE = 2 * np.pi * np.arange(1000) / 1000


def problem_of(initial):
    return pr.equations.Burgers(initial, NU, np.linspace(0, 1, ROWS + 1), points=len(initial), substeps=SUBSTEPS)


def fronts(bump=0.0):
    """Two of them: an eigenfunction lives in one, φ in both. The problem's path, and its error at the end."""
    x = 2 * np.pi * np.arange(POINTS) / POINTS
    front = -0.6 * np.sin(x) + 0.3 * np.cos(2 * x)
    truth, state = (solve(problem_of(front + size * np.cos(x))) for size in (0.0, bump))
    return reconstruct(problem_of(front), state), np.sqrt(np.mean((state[-1] - truth[-1]) ** 2) * 2 * np.pi)


def small():
    """A path on few points, for coefficients of any kind."""
    return reconstruct(problem_of(np.zeros(8)), np.zeros((ROWS + 1, 8)))


def values(c, order=0, at=DENSE):
    k = np.arange(len(c))
    return np.real((2 * c * (1j * k) ** order) @ np.exp(1j * np.outer(k, at))) - np.real(c[0]) * (order == 0)


def top_eigenvalue(c, points=128):
    """Of ½ν ∂_xx − ½ ŝ_x, on a grid that resolves it."""
    k = np.minimum(np.arange(points), points - np.arange(points))
    bend = np.real(np.fft.ifft(-(k[:, None] ** 2) * np.fft.fft(np.eye(points), axis=0), axis=0))
    slope = values(c, 1, 2 * np.pi * np.arange(points) / points)
    return np.linalg.eigvalsh(NU / 4 * (bend + bend.T) - np.diag(slope) / 2)[-1]


def test_it_is_close_to_the_top_eigenvalue_and_far_below_the_largest_slope():
    path, _ = fronts()
    found, plain = growth_with_half_viscosity(path), measure(path).growth
    for row, substep in ((0, 0), (5, 1), (11, 1)):
        middle = np.asarray(path.pieces)[row, :, substep].mean(axis=0)  # ∫ ŝ dθ
        exact = top_eigenvalue(middle) * float(path.step[row])
        assert exact <= found[row, substep] <= 1.5 * exact
    assert found.sum() < 0.7 * plain.sum()


@pytest.mark.parametrize("size", [0.0, 0.3, 3.0])
def test_any_weight_gives_a_bound(size):
    """Compared with the maximum on a dense grid: rough weights on few points, where grid points miss it."""
    random, path = np.random.default_rng(1), small()
    shape = np.shape(path.pieces)
    for _ in range(3):
        pieces, weights = (
            s * (random.standard_normal(n) + 1j * random.standard_normal(n))
            for s, n in ((1.0, shape), (size, (shape[0], shape[-1])))
        )
        pieces[..., 0] = weights[:, 0] = 0
        found = compute.run(_measured, eqx.tree_at(lambda p: p.pieces, path, jnp.asarray(pieces)), weights)
        for row in range(shape[0]):
            helped = NU / 2 * (values(weights[row], 2) + values(weights[row], 1) ** 2)
            highest = [max(np.max(-values(c, 1) / 2 + helped), 0.0) for c in pieces[row, :, 0]]
            assert found[row, 0] >= float(path.step[row]) * np.mean(highest) * (1 - 1e-12)


def test_a_weight_between_grid_points_counts():
    """ψ = a cos(x − d): ψ_x² is largest between two points of the grid."""
    path = small()
    path = eqx.tree_at(lambda p: p.pieces, path, jnp.zeros_like(path.pieces))
    spacing = 2 * np.pi / path.line.grid
    weights = np.zeros((ROWS, path.line.degree + 1), complex)
    weights[:, 1] = 500 * np.exp(-1j * (spacing / 2 - np.pi / 2))  # of 1,000 cos(x − d), ψ_x² = 1e6 sin²(x − d)
    found = compute.run(_measured, path, weights)
    assert found[0, 0] >= float(path.step[0]) * NU / 2 * 1e6


def test_the_radius_with_it_holds_and_is_the_smaller_one():
    """An error that grows in a front."""
    path, error = fronts(bump=-1e-5)
    measures = measure(path)
    helped = replace(measures, viscous=growth_with_half_viscosity(path))
    assert error <= helped.radius() < 0.8 * measures.radius()
    assert np.all(helped.radii() <= measures.radii())
    worthless = replace(measures, viscous=np.full_like(measures.growth, np.nan))
    assert np.all(worthless.radii() == measures.radii())


def test_truncated_modes_count_twice_where_half_of_the_viscosity_absorbs_them():
    nothing = np.zeros((ROWS, SUBSTEPS))
    measures = Measures(
        nothing, nothing + 1e-4, nothing + 1, np.zeros(ROWS), np.zeros(()), np.zeros(()), viscous=nothing
    )
    np.testing.assert_allclose(measures.radius(), np.sqrt(2e-4 * ROWS * SUBSTEPS), rtol=1e-9)


def test_numbers_that_overflow_give_no_weight():
    path = small()
    assert not suited(eqx.tree_at(lambda p: p.pieces, path, jnp.full_like(path.pieces, np.inf))).any()
