"""Piecewise polynomials on tensor-product meshes: what is enclosed is what numbers say, and nothing is too small."""

import numpy as np
import pytest
from numpy.polynomial.legendre import leggauss, legval2d

from physrank.certificates.enclosures import meshes
from physrank.certificates.enclosures.discs import Disc, NotAnalytic
from physrank.certificates.enclosures.jets import evaluated
from physrank.certificates.enclosures.meshes import Mesh, added, length, summed

MESH = Mesh((np.array([0.0, 0.3, 1.0, 1.25]), np.array([0.0, 0.5, 0.7])))
POINTS, WEIGHTS = leggauss(6)


def on_cells(field):
    """Values of a field at Gauss points of every cell, `(6, 6, cells)`, by NumPy's own Legendre series."""
    s, t = np.meshgrid(POINTS, POINTS, indexing="ij")
    return np.moveaxis(legval2d(s, t, field.centre), (-2, -1), (0, 1))


def integrated(values):
    areas = np.multiply.outer(*(np.diff(x) for x in MESH.axes))
    return np.einsum("i,j,ijab->ab", WEIGHTS, WEIGHTS, values) * areas / 4


def random_field(seed, orders=(4, 4)):
    return Disc.of(np.random.default_rng(seed).standard_normal((*orders, *MESH.cells)))


def test_products_are_integrals():
    p, q = random_field(0), random_field(1, (2, 3))
    found = MESH.product(p, q)
    np.testing.assert_allclose(found.centre, integrated(on_cells(p) * on_cells(q)), rtol=1e-12, atol=1e-13)
    assert np.all(np.abs(found.centre - integrated(on_cells(p) * on_cells(q))) <= found.radius + 1e-13)


def test_multilinear_functions_and_their_slopes():
    nodes = np.meshgrid(*MESH.axes, indexing="ij")
    field = MESH.multilinear(Disc.of(2 + nodes[0] * 3 - nodes[1] + nodes[0] * nodes[1]))
    x, y = (np.broadcast_to(x.centre, (4, 4, *MESH.cells)) for x in MESH.coordinates(meshes.NODES[3]))
    np.testing.assert_allclose(MESH.values(field, meshes.NODES[3]).centre, 2 + 3 * x - y + x * y, rtol=1e-13)
    np.testing.assert_allclose(
        MESH.values(MESH.slope(field, 1), meshes.NODES[3]).centre, -1 + x, rtol=1e-12, atol=1e-13
    )
    faces = MESH.faces(1, Disc.of(np.broadcast_to(MESH.axes[1] ** 2, (3, 3))))
    np.testing.assert_allclose(MESH.slope(faces, 1).centre[0, 0], np.broadcast_to([0.5, 1.2], (3, 2)), rtol=1e-12)


@pytest.mark.parametrize("degree", [2, 3])
def test_interpolation_has_the_values(degree):
    field = random_field(2, (degree + 1, degree + 1))
    again = MESH.interpolated(MESH.values(field, meshes.NODES[degree]), degree)
    assert np.all(np.abs(again.centre - field.centre) <= again.radius) and again.radius.max() < 1e-12


FUNCTIONS = {
    "waves": lambda x, y: np.sin(3.0 * x + y * y),
    "a pole": lambda x, y: 1.0 / (2.6 - x) + 0.0 * y,
    "a power of high degree": lambda x, y: (x - 0.5) ** 9 * y**6,
}


@pytest.mark.parametrize("degree", [2, 3])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_are_within_their_error(name, degree):
    function = FUNCTIONS[name]
    places = lambda at: MESH.coordinates(at) if isinstance(at, tuple) else MESH.around(at)  # noqa: E731
    field, error = MESH.enclosed(lambda x: evaluated(function, x, gradient=False)[0], degree, places)
    x, y = (c.centre for c in MESH.coordinates(tuple(POINTS)))
    off = np.abs(on_cells(field) - function(*np.broadcast_arrays(x, y))).max(axis=(0, 1))
    assert np.all(off <= error * (1 + 1e-9) + 1e-14) and np.all(np.isfinite(error)) and off.max() > 1e-6


def test_the_tail_covers_the_worst_function():
    """1/(ζ − s) has the Taylor coefficients of Cauchy's inequality, all of one sign; interpolation makes it worse."""
    for reach in (3.0, 8.0, 32.0):
        for degree in (2, 3):
            s = np.linspace(-1, 1, 201)
            values = 1 / (reach - s)
            spread = 1 / (reach - reach * 0.999) - 1 / reach  # within R′ = 0.999 R, of the value in the middle
            nodes = np.array(meshes.NODES[degree])
            off = values - np.polyval(np.polyfit(nodes, 1 / (reach - nodes), degree), s)
            assert np.abs(off).max() <= spread * meshes._tail(1 / (0.999 * reach), degree, 1)
            plain = values - sum(s**k / reach ** (k + 1) for k in range(degree + 1))
            enlarged = meshes._tail(1 / reach, degree, 1) / (reach ** -(degree + 1) / (1 - 1 / reach))
            assert np.abs(plain).max() <= reach ** -(degree + 1) / (1 - 1 / reach) / reach * (1 + 1e-9) and enlarged > 2
    assert meshes._tail(1 / 8, 3, 2) > 2 * 8.0**-4


def test_discs_around_cells_hold_them_many_times():
    for reach in meshes.REACHES:
        x = MESH.around(reach)[0]
        off = np.abs(x.centre.ravel() + reach * np.diff(MESH.axes[0]) / 2 - x.centre.ravel())
        assert np.all(off <= x.radius.ravel())


def test_what_is_not_analytic_is_refused():
    places = lambda at: MESH.coordinates(at) if isinstance(at, tuple) else MESH.around(at)  # noqa: E731
    with pytest.raises(NotAnalytic, match="logarithm"):
        MESH.enclosed(lambda x: evaluated(lambda x, y: np.log(x + 0.01) + y, x, gradient=False)[0], 3, places)


def test_sums_and_lengths_hold_their_rounding():
    random = np.random.default_rng(3)
    half = random.standard_normal(500)
    found = summed(Disc.of(random.permutation(np.concatenate([half, -half]))))  # whose sum is zero
    assert 0 < abs(float(found.centre)) <= found.radius <= 1e-9
    for scale in (1e-290, 1e-170, 1.0, 1e300):
        assert length(np.full(100, scale)) >= 10 * scale * (1 - 1e-15) and length(np.full(100, scale)) <= 10.001 * scale
    assert length(np.array([np.nan])) == length(np.array([np.inf])) == np.inf and length(np.zeros(0)) == 0


def test_fields_of_different_orders_are_added():
    p, q = random_field(4, (1, 2)), random_field(5, (2, 1))
    np.testing.assert_allclose(on_cells(added(p, q)), on_cells(p) + on_cells(q), rtol=1e-12)
    assert np.all(MESH.sizes(p) >= np.abs(on_cells(p)).max(axis=(0, 1)))
