"""Enclosed growth with half of the viscosity: above the maximum on a dense grid, and that of the theorem."""

import numpy as np
import pytest

import physrank as pr
from helpers import solve
from physrank.certificates.paths import burgers, burgers_growth
from physrank.certificates.paths.burgers_enclosed import EnclosedMeasures, measure
from physrank.certificates.paths.burgers_growth_enclosed import growth_with_half_viscosity
from trials import terminal

NU, LENGTH, STEP = 0.1, 3.0, 0.05 / 4
WAVE = 2 * np.pi / LENGTH
DENSE = np.linspace(0, LENGTH, 4001)
SMALL = pr.equations.Burgers(np.zeros(8), NU, [0.0, 0.05], points=8, length=LENGTH)


def values(c, order):
    k = WAVE * np.arange(len(c))
    return np.real((2 * c * (1j * k) ** order) @ np.exp(1j * np.outer(k, DENSE)))


@pytest.mark.parametrize("size", [0.0, 0.3, 3.0])
def test_any_weight_gives_a_bound(size):
    random = np.random.default_rng(1)
    for _ in range(3):
        pieces, weights = (
            s * (random.standard_normal(n) + 1j * random.standard_normal(n))
            for s, n in ((1.0, (1, 6, 4, 3)), (size, (1, 3)))
        )
        pieces[..., 0] = weights[:, 0] = 0
        found = growth_with_half_viscosity(SMALL, pieces, weights)
        helped = NU / 2 * (values(weights[0], 2) + values(weights[0], 1) ** 2)
        for j in range(4):
            highest = np.mean([max(np.max(-values(c, 1) / 2 + helped), 0.0) for c in pieces[0, :, j]])
            assert STEP * highest <= found[0, j] <= 2 * STEP * highest


def test_a_weight_between_grid_points_counts():
    """ψ = a cos(kx − d): ψ_x² is largest between two points of the grid."""
    weights = np.zeros((1, 3), complex)
    weights[0, 1] = 500 * np.exp(-1j * (np.pi / 12 - np.pi / 2))  # twelve points; ψ_x² = (1000 k)² sin²(kx − d)
    found = growth_with_half_viscosity(SMALL, np.zeros((1, 6, 4, 3), complex), weights)
    assert found[0, 0] >= STEP * NU / 2 * (1000 * WAVE) ** 2


def front(size=1.6):
    x = 2 * np.pi * np.arange(48) / 48
    problem = pr.equations.Burgers(-size * np.sin(x), 2 * NU, np.linspace(0, 1, 5), points=48, substeps=4)
    return problem, solve(problem)


def test_it_is_that_of_the_theorem_and_hardly_more():
    problem, state = front()
    path = burgers.reconstruct(problem, state)
    pieces, weights = np.asarray(path.pieces), burgers_growth.suited(path)
    usual, found = (
        burgers_growth.growth_with_half_viscosity(path),
        growth_with_half_viscosity(problem, pieces, weights),
    )
    np.testing.assert_allclose(found, usual, rtol=1e-2)
    assert found.sum() < 0.8 * measure(problem, pieces).growth.sum()


def test_truncated_modes_count_twice_where_half_of_the_viscosity_absorbs_them():
    nothing = np.zeros((3, 2))
    found = EnclosedMeasures(nothing, nothing + 1e-4, nothing + 1, nothing, viscous=nothing)
    np.testing.assert_allclose(found.radius(), np.sqrt(2e-4 * 6), rtol=1e-9)
    assert found.radius() >= np.sqrt(2e-4 * 6)
    worthless = EnclosedMeasures(nothing, nothing + 1e-4, nothing + 1, nothing, viscous=nothing + np.nan)
    assert worthless.radius() == EnclosedMeasures(nothing, nothing + 1e-4, nothing + 1, nothing).radius()


def test_the_certificate_of_a_front_uses_it(monkeypatch):
    """The state is another's solution: what it is off by in the beginning grows as the front steepens."""
    (problem, truth), (_, state) = front(), front(1.6016)
    by, ranking = pr.certificates.ValidatedBurgers(), terminal(problem, state, np.stack([state[-1], truth[-1]]))
    bound = by(problem, ranking).state_bound
    monkeypatch.setattr("physrank.certificates.burgers_validated.STEEP", np.inf)
    assert bound < 0.9 * by(problem, ranking).state_bound
    assert bound >= np.sqrt(np.mean((state[-1] - truth[-1]) ** 2) * 2 * np.pi)
