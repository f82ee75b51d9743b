"""What names of axes mean, and how axes without names are told by lengths."""

import itertools

import pytest

from physrank import _axes

ROLES = {
    "model": "candidate",
    "Trajectory": "sample",
    "T": "time",
    "lead_time": "time",
    "component": "channel",
    "lat": "space",
}


@pytest.mark.parametrize("name, role", ROLES.items())
def test_roles(name, role):
    assert _axes.role(name) == role


def test_every_order_of_axes_comes_to_the_same():
    wanted = ("candidate", "sample", "time", "channel", "x", "y", "z")
    for dims in itertools.permutations(wanted):
        assert tuple(dims[k] for k in _axes.order(dims)) == wanted


def test_space_of_other_names_stays_as_it_lies():
    assert _axes.order(("lon", "lat", "time")) == [2, 0, 1]
    assert _axes.order(("y", "lat", "x")) == [0, 1, 2]  # which of them goes first is not ours to say


@pytest.mark.parametrize(
    "shape, lengths, dims",
    [
        ((5, 6, 7), {"t": 5, "x": 6, "y": 7}, ("t", "x", "y")),
        ((7, 6, 5), {"t": 5, "x": 6, "y": 7}, ("y", "x", "t")),
        ((3, 5, 6), {"t": 5, "x": 6}, ("sample", "t", "x")),
        ((5, 2, 6, 6), {"t": 5, "x": 6, "y": 6}, ("t", "channel", "x", "y")),
        ((3, 5, 6, 2), {"t": 5, "x": 6}, ("sample", "t", "x", "channel")),
        ((6, 2), {"x": 6}, ("x", "channel")),
        ((3, 6), {"x": 6}, None),  # samples or times
        ((6, 6), {"t": 6, "x": 6}, None),
        ((3, 4, 5, 6), {"t": 5, "x": 6}, None),  # two axes too many
        ((5, 6), {"t": 5, "x": 7}, None),
        ((5, 6), {"t": 5}, None),
        ((6, 6), {"x": 6}, None),
        ((5, 6), {}, None),
    ],
)
def test_axes_by_lengths(shape, lengths, dims):
    assert _axes.inferred(shape, lengths) == dims
