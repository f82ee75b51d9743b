"""Which arrays are cut where, on one device that stands for many."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import Mesh

from physrank import _division, double


class Many:
    """As much of a mesh as lengths ask for."""

    size = 8


@pytest.fixture
def layout():
    return _division.Layout(Many(), (64, 64))  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize(
    "shape, anywhere, on_grid",
    [
        ((64, 64), 0, 0),
        ((5, 2, 64, 64), 2, 2),
        ((62, 62), 0, 0),  # the interior
        ((48, 64), 0, None),  # another grid: cut inside of programs, whole at their doors
        ((31, 31), None, None),  # too few for eight
        ((64,), None, None),
        ((), None, None),
    ],
)
def test_fields_are_cut_along_the_first_axis_of_space(layout, shape, anywhere, on_grid):
    assert (layout.cut(shape), layout.cut_on_grid(shape)) == (anywhere, on_grid)


def test_lengths_are_made_even(layout):
    assert [layout.even(n) for n in (1, 63, 64, 65)] == [8, 64, 64, 72]


def test_what_is_placed_is_collected(layout):
    """Also of a length that the devices do not divide: here one device plays three."""
    one = _division.Layout(Mesh(np.asarray(jax.devices()[:1], dtype=object), (_division.NAME,)), (5, 4))
    object.__setattr__(one, "even", lambda length: -(-length // 3) * 3)
    field, rest = np.arange(40.0).reshape(2, 5, 4), np.arange(3.0)

    def inside(tree):
        return _division.closed(_division.opened(tree, one), one)

    with double():
        pieces = _division.placed((field, rest, "word"), one)
        assert pieces[0].array.shape == (2, 6, 4) and pieces[0].length == 5
        again = _division.collected((*jax.jit(inside)(pieces[:2]), pieces[2]))
    np.testing.assert_array_equal(again[0], field)
    np.testing.assert_array_equal(again[1], rest)
    assert again[2] == "word"


def test_without_devices_nothing_is_divided():
    fold, unfold = _division.folding((4, 4))
    x = jnp.ones((4, 4))
    assert fold(x) is x and unfold(x) is x
    assert _division.of(object()) is None
