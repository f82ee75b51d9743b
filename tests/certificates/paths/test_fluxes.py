"""Functions and fluxes on meshes: the orders that their methods have, jumps included."""

import numpy as np
import pytest

from physrank.certificates.paths.fluxes import Elements, refined


def none(u):
    return 0 * u, 0 * u


def test_layers_are_solved_exactly_at_the_nodes():
    """−(a u′)′ = 1: linear elements are exact at nodes in one dimension."""
    x = np.array([0.0, 0.1, 0.25, 0.5, 0.6, 1.0])
    a = np.array([1.0, 1.0, 100.0, 100.0, 3.0])
    elements = Elements((x,), a)
    u, inverse, used = elements.solved(np.ones(5), none, np.zeros(6))
    resistances = np.diff(x) / a
    middle = (x[1:] + x[:-1]) / 2
    constant = np.sum(resistances * middle) / np.sum(resistances)  # the flux is constant − x
    exact = np.concatenate([[0], np.cumsum(resistances * (constant - middle))])
    np.testing.assert_allclose(u, exact, atol=1e-14)
    assert used == 1 and inverse(elements.load(np.ones(6))).shape == (6,)
    (sigma,) = elements.flux(np.ones(5))
    np.testing.assert_allclose(-np.diff(sigma) / np.diff(x), 1, rtol=1e-12)
    np.testing.assert_allclose(sigma, constant - x, atol=0.02)


def test_second_order_in_two_dimensions():
    errors = []
    for cells in (8, 16, 32):
        x = np.linspace(0, 1, cells + 1)
        s = np.sin(np.pi * x)
        exact, middle = np.outer(s, s), np.sin(np.pi * (x[1:] + x[:-1]) / 2)
        force = 2 * np.pi**2 * np.outer(middle, middle) + np.outer(middle, middle) ** 3
        cube = lambda u: (u**3, 3 * u**2)  # noqa: E731
        elements = Elements((x, x), np.ones((cells, cells)))
        u, _, _ = elements.solved(force, cube, np.zeros_like(exact))
        flux = elements.flux(2 * np.pi**2 * np.outer(middle, middle))
        through = np.pi * np.outer(np.cos(np.pi * x), middle)
        errors.append([np.abs(u - exact).max(), np.abs(flux[0] - through).max(), np.abs(flux[1] - through.T).max()])
    orders = np.log2(np.array(errors)[1:] / np.array(errors)[:-1])
    assert np.all(np.abs(orders + 2) < 0.2) and np.all(np.array(errors)[-1] < 0.01)


@pytest.mark.parametrize("dims", [1, 3])
def test_loads_are_integrals(dims):
    axes = tuple(np.array([0.0, 0.2, 0.5, 1.0]) for _ in range(dims))
    elements = Elements(axes, np.ones((3,) * dims))
    ones = elements.load(np.ones((4,) * dims))
    np.testing.assert_allclose(ones, elements.lumped)
    np.testing.assert_allclose(elements.cell_load(np.ones((3,) * dims)), elements.lumped)


def test_meshes_become_fine_where_indicators_are():
    axes = (np.linspace(0, 1, 9), np.linspace(0, 1, 5))
    where = np.zeros((8, 4))
    where[2, 3] = 1.0
    x, y = refined(axes, where, 1000)
    assert np.array_equal(x, np.sort([*axes[0], 2.5 / 8])) and np.array_equal(y, np.sort([*axes[1], 0.875]))
    assert all(map(np.array_equal, refined(axes, where, 32), axes))
    everywhere = refined(axes, np.ones((8, 4)), 10_000)
    assert len(everywhere[0]) == 16 and len(everywhere[1]) == 9  # four fifths of the layers
    assert np.prod([len(x) - 1 for x in refined(axes, np.ones((8, 4)), 50)]) <= 50
