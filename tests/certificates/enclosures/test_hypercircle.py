"""Bounds by a function and a flux: cases in which they are all but equalities, so that nothing in them is too small."""

import numpy as np
import pytest

from physrank.certificates.enclosures.discs import Disc
from physrank.certificates.enclosures.hypercircle import Known, Medium, Primal, Side, Weighted
from physrank.certificates.enclosures.meshes import Mesh

CELLS = 256
LINE = Mesh((np.linspace(0, 1, CELLS + 1),))
X = LINE.axes[0]
P = 0.5 - X  # the flux of −p′ = 1, linear, so that it is one of the fluxes that are used
U = X * (1 - X) / 2  # of −u″ = 1
SQUARE, MEAN = 1 / 12, 1 / 12  # ∫ p² = ∫ u for these


def medium(a=1.0, off=0.0, mesh=LINE):
    ones = np.ones((1,) * mesh.dims + mesh.cells)
    return Medium(mesh, Known(Disc.of(a * ones), np.full(mesh.cells, off)))


def side(a, nodes, faces, source):
    """From values at nodes, fluxes at faces and a source with a number per cell."""
    field = np.broadcast_to(np.asarray(source, float), (1, CELLS))
    return Side(a, LINE.multilinear(Disc.of(nodes)), (LINE.faces(0, Disc.of(faces)),), Disc.of(field))


def primal(a, nodes, faces, source, off=0.0, linear=0.0, bend=0.0, slope=0.0):
    known = Known(Disc.of(np.zeros((1, CELLS))), np.full(CELLS, slope))
    return Primal(side(a, nodes, faces, source), np.full(CELLS, off), linear, bend, known)


ZERO = np.zeros(CELLS + 1)


def none(field):
    return Disc.of(0 * field.centre)


def missed(one, dual, truth, peak=0.0):
    """How much of the bound of a pair is used: one weight against none."""
    nothing = Side(one.medium, none(dual.value), tuple(map(none, dual.flux)), none(dual.source))
    computed = one.along(dual)
    return (truth - float(computed.centre)) / one.beyond(dual, nothing, peak)


def test_what_oscillates_within_cells():
    """−a e″ = P_1 on every cell: e′ vanishes between cells, and ‖e′‖ is h/√10 ‖P_1‖ where the bound says h/π."""
    a = medium(2.0)
    field = np.stack([np.zeros(CELLS), np.ones(CELLS)])
    found = Side(a, LINE.multilinear(Disc.of(ZERO)), (LINE.faces(0, Disc.of(ZERO)),), Disc.of(field))
    truth = np.sqrt(CELLS**-2 / 30 / 2)
    error = Primal(found, np.zeros(CELLS), 0.0, 0.0, Known(Disc.of(np.zeros((1, CELLS))), np.zeros(CELLS))).error
    assert truth <= error <= 1.01 * truth


def test_the_longest_side_of_a_cell_counts():
    """‖∇e‖ ≥ ∫ r v / ‖∇v‖ for any v: cells are ten times as long along x as along y."""
    mesh = Mesh((np.array([0.0, 1.0]), np.linspace(0, 4, 41)))
    field = np.zeros((2, 1, 1, 40))
    field[1] = 1.0  # 2x − 1
    faces = [np.zeros((2, 40)), np.zeros((1, 41))]
    flux = tuple(mesh.faces(d, Disc.of(s)) for d, s in enumerate(faces))
    found = Side(medium(mesh=mesh), mesh.multilinear(Disc.of(np.zeros((2, 41)))), flux, Disc.of(field))
    v = 8 / np.pi**2 / np.sqrt((2 * np.pi) ** 2 + (np.pi / 4) ** 2)  # sin(2πx) sin(πy/4)
    assert v <= found.waves.length == pytest.approx(np.sqrt(4 / 3) / np.pi, rel=1e-8)


def test_means_and_the_first_eigenvalue():
    """−a e″ = 1, where the bound knows no more than μ."""
    found = primal(medium(2.0), ZERO, ZERO, 1.0)
    assert np.sqrt(SQUARE / 2) <= found.error <= 1.11 * np.sqrt(SQUARE / 2)
    assert np.sqrt(1 / 120) / 2 <= found.distance <= 1.12 * np.sqrt(1 / 120) / 2
    box = Mesh((np.linspace(0, 2, 3), np.linspace(0, 0.5, 4)))
    exact = 3 * np.pi**2 * (1 / 4 + 4)
    assert (1 - 1e-6) * exact <= medium(3.0, mesh=box).rate <= exact
    assert medium(3.0, 1.0, mesh=box).rate == pytest.approx(exact * 2 / 3, rel=1e-6)  # the least of a


def test_a_strong_linear_reaction_holds_the_error():
    """−a e″ + λ e = −σ′ with σ = cos kπx and λ = a k²π²: x = E/2 and λ ‖e‖² = E²/4, as in the proof."""
    a, k = 2.0, 3
    sigma, linear = np.cos(k * np.pi * X), a * (k * np.pi) ** 2
    found = primal(medium(a), ZERO, sigma, -np.diff(sigma) * CELLS, linear=linear)
    truth = 1 / (2 * k * np.pi * a) / np.sqrt(2)
    assert (1 - 1e-3) * truth <= found.distance <= 1.01 * truth


def test_prager_and_synge():
    """‖σ − a∇ũ‖² = ‖a∇u − a∇ũ‖² + ‖σ − a∇u‖², in the weight 1/a, for any ũ and any σ with the right divergence."""
    a, random = 3.0, np.random.default_rng(0)
    wrong = U / a + 0.05 * np.pad(random.standard_normal(CELLS - 1), 1)
    found = primal(medium(a), wrong, P + 0.3, 1.0)
    slopes = np.diff(wrong) * CELLS
    ends = np.stack([P[:-1] - a * slopes, P[1:] - a * slopes])
    off = np.sum((ends[0] ** 2 + ends[0] * ends[1] + ends[1] ** 2) / 3) / CELLS / a
    assert found.mismatch == pytest.approx(np.sqrt(off + 0.09 / a), rel=1e-7)
    assert np.sqrt(off) <= found.error and found.half == pytest.approx(found.mismatch / 2, rel=1e-4)


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_pairs_are_off_by_half_the_product_of_errors(sign):
    """q = p − ½(a∇ũ + σ): Cauchy and Schwarz lose nothing."""
    a, random = medium(2.0), np.random.default_rng(1)
    wrong = np.pad(random.standard_normal(CELLS - 1), 1) / 10
    sigma = P + 0.3
    tau, z = sign * (P - sigma / 2), sign * wrong / 2
    psi = -np.diff(tau) * CELLS
    means = np.diff(U / 2 - wrong) * CELLS * (tau[1:] + tau[:-1]) / 2
    truth = (
        np.sum(means + np.diff(P) * np.diff(tau) / (12 * 2.0)) / CELLS
    )  # ∫ e ψ = ∫ e′ τ, of linear functions on cells
    used = missed(primal(a, wrong, sigma, 1.0), side(a, z, tau, psi), truth)
    assert 0.999 <= sign * used <= 1.0 + 1e-4


def test_the_second_order_of_the_reaction_counts():
    """−u″ + γu³ = F, seen from ũ = 0, along ψ = 1: nothing but the reaction is missed."""
    strength, force = 20.0, 8.0
    u = np.zeros(CELLS - 1)
    laplace = CELLS**2 * (2 * np.eye(CELLS - 1) - np.eye(CELLS - 1, k=1) - np.eye(CELLS - 1, k=-1))
    for _ in range(12):
        u -= np.linalg.solve(laplace + np.diag(3 * strength * u**2), laplace @ u + strength * u**3 - force)
    found = primal(medium(), ZERO, ZERO, force, bend=strength * 1.001 * u.max())
    used = missed(found, side(found.medium, U, P, 1.0), np.sum(u) / CELLS, peak=U.max())
    assert -1 <= used <= -0.2


def test_what_the_dual_leaves_is_counted():
    """No dual function at all, seen from ũ = 0: weights with means on cells, and such without."""
    found = primal(medium(), ZERO, ZERO, 1.0)
    assert 0.8 <= missed(found, side(found.medium, ZERO, ZERO, 1.0), MEAN) <= 1.0
    slopes = 0.5 - (X[1:] + X[:-1]) / 2
    field = Disc.of(np.stack([np.zeros(CELLS), slopes]))
    waves = Side(found.medium, LINE.multilinear(Disc.of(ZERO)), (LINE.faces(0, Disc.of(ZERO)),), field)
    assert 0.8 <= missed(found, waves, np.sum(slopes**2) / CELLS**2 / 6) <= 1.0


def test_coefficients_that_vary_within_a_cell():
    """a = 3 + s across every cell, known to 0.1: it lies between 1.9 and 4.1."""
    field = np.stack([np.full(CELLS, 3.0), np.ones(CELLS)])
    found = Medium(LINE, Known(Disc.of(field), np.full(CELLS, 0.1)))
    np.testing.assert_allclose(found.least, 1.9, rtol=1e-6)
    assert np.all(found.least <= 1.9) and np.all(found.spread >= 1.1)


def test_what_is_known_up_to_a_radius_is_no_shorter():
    field = Disc(np.zeros((1, 4)), np.full((1, 4), 3.0))
    assert Weighted.of(field, np.ones((1, 4))).length >= 6


def test_what_sources_and_slopes_may_be_off_by():
    unknown = primal(medium(), ZERO, ZERO, 0.0, off=1.0)  # the force may be 1 where 0 is known
    assert unknown.error >= np.sqrt(SQUARE)
    dual = side(unknown.medium, U, P, 1.0)
    assert 0.8 <= missed(unknown, dual, MEAN) <= 1.0
    unsure = primal(medium(), ZERO, ZERO, 1.0, slope=9.0, linear=9.0)  # −u″ + 9u = 1, the slope taken for zero
    truth = (1 - np.tanh(1.5) / 1.5) / 9
    assert -1 <= missed(unsure, dual, truth) <= -0.3


DOUBTED = {  # a = 0.9 where 1 ± 0.1 is known: what ũ, the dual's function and its flux are
    "of a function": (U, U, P, U),
    "that stands for a in half of the misfit": (ZERO, ZERO, P, ZERO),
    "in both": (U, ZERO, P, U),
}


@pytest.mark.parametrize("name", DOUBTED)
def test_what_the_coefficient_may_be_off_by(name):
    wrong, z, tau, known = DOUBTED[name]
    found = primal(medium(1.0, 0.1), wrong, P, 1.0)
    truth = MEAN / 0.9 - np.sum(known) / CELLS
    assert found.error >= np.sqrt(0.9 * SQUARE) * (1 / 0.9 - (known is U))
    assert 0.97 <= missed(found, side(found.medium, z, tau, 1.0), truth) <= 1.0


def test_small_numbers_do_not_underflow():
    for scale in (1e-200, 1e-160, 1e-100, 1e100):
        found = primal(medium(), ZERO, ZERO, scale)
        assert found.error >= np.sqrt(SQUARE) * scale and found.half >= np.sqrt(SQUARE) * scale
        assert missed(found, side(found.medium, 0 * U, scale * P, scale), scale**2 * MEAN) <= 1
