"""Reactions on cells: their values, their slopes, and how far those are from secants."""

import numpy as np
import pytest

from physrank.certificates.enclosures.discs import Disc
from physrank.certificates.enclosures.meshes import NODES, Mesh
from physrank.certificates.enclosures.reactions import Cubic, Own

MESH = Mesh((np.array([0.0, 0.25, 1.0]), np.array([0.0, 0.5, 2.0])))
FIELD = MESH.multilinear(Disc.of(np.random.default_rng(0).standard_normal((3, 3))))
CUBIC, SINH = Cubic(0.5, 2.0), Own(lambda u: np.sinh(u) + u)
EXACT = {
    CUBIC: (lambda u: 0.5 * u + 2 * u**3, lambda u: 0.5 + 6 * u**2),
    SINH: (lambda u: np.sinh(u) + u, lambda u: np.cosh(u) + 1),
}
PLACES = (-1.0, -0.75, -0.25, 0.0, 0.375, 1.0)


@pytest.mark.parametrize("reaction", [CUBIC, SINH], ids=["cubic", "sinh"])
def test_values_and_slopes_on_cells(reaction):
    u = MESH.values(FIELD, PLACES).centre
    for known, exact in zip((reaction.of(MESH, FIELD), reaction.slope(MESH, FIELD)), EXACT[reaction], strict=True):
        off = np.abs(MESH.values(known.field, PLACES).centre - exact(u)).max(axis=(0, 1))
        assert np.all(off <= known.error + 1e-12)
    assert np.allclose(reaction.plain(u)[0], EXACT[reaction][0](u)) and np.allclose(
        reaction.plain(u)[1], EXACT[reaction][1](u)
    )
    assert np.all(CUBIC.of(MESH, FIELD).error == 0) and NODES[3]


@pytest.mark.parametrize("reaction", [CUBIC, SINH], ids=["cubic", "sinh"])
def test_the_second_order_is_bounded_and_not_by_far(reaction):
    value, slope = EXACT[reaction]
    v, u = np.meshgrid(np.linspace(-1.5, 1.5, 61), np.linspace(-2, 2, 73), indexing="ij")
    with np.errstate(all="ignore"):
        bends = np.abs(value(u) - value(v) - slope(v) * (u - v)) / (u - v) ** 2
    largest = np.nanmax(bends[np.abs(u - v) > 1e-3])
    assert largest <= reaction.bend(1.5, 2.0) <= {CUBIC: 1.001, SINH: 8}[reaction] * largest


def test_solutions_are_no_larger_than_this():
    """−u″ + g(u) = f on the unit interval: per_force is that of the maximum, 1/8."""
    assert Cubic(0.0, 0.0).largest(8.0, 0.125) == pytest.approx(1.0, rel=1e-6)
    assert Cubic(100.0, 0.0).largest(8.0, 0.125) == pytest.approx(0.08, rel=1e-6)
    assert Cubic(0.0, 1000.0).largest(8.0, 0.125) == pytest.approx(0.2, rel=1e-6)
    assert Own(lambda u: u + 3.0).largest(8.0, 0.125) == pytest.approx(11 / 8, rel=1e-6)
