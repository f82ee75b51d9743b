"""What the theory says can go wrong, or moves with the library: reversals, wrong branches, changes of the anchor."""

import jax.numpy as jnp
import numpy as np
import pytest

import physrank as pr
from physrank import compute, geometry
from physrank.geometry import Ball, FiniteSet, GapIntervals, Sum, TaskSpace, gap_intervals
from physrank.physics import Correction, respond

CURVATURE = 0.8  # of the scalar equation A(x) = x + a x², root 0


def bent(x):
    return x + CURVATURE * x**2


def straightened(x):
    """y − a y² of the residual y: same root, same candidates, other coordinate."""
    return bent(x) - CURVATURE * bent(x) ** 2


def estimated_errors(residual, candidates):
    """The size of every candidate's own correction: a decoder's estimate of the error |v|."""
    found = pr.scorers.CandidateWise()(pr.Stationary(residual), candidates[:, None])
    assert found.unresolved is None
    return np.sqrt(found.values)


def reversal(rho, c):
    """S5: candidates at distances ρ ∓ cρ² on either side of the root, where the estimate errs by ±aρ²."""
    return np.array([-(rho - c * rho**2), rho + c * rho**2])


@pytest.mark.parametrize("rho", [1e-2, 1e-3])
def test_directional_reversal(rho):
    candidates = reversal(rho, 0.5 * CURVATURE)
    true, estimated = np.abs(candidates), estimated_errors(bent, candidates)
    assert true[0] < true[1]
    assert estimated[0] > estimated[1]
    np.testing.assert_allclose(true[1] - true[0], 2 * 0.5 * CURVATURE * rho**2, rtol=1e-9)  # the gap is of order ρ²
    # Intervals as wide as the estimates' actual errors abstain; half as wide would certify the wrong order.
    radius = np.sum(np.abs(estimated - true))
    assert GapIntervals.around(geometry.gap_matrix(estimated), radius).winner is None
    assert GapIntervals.around(geometry.gap_matrix(estimated), radius / 4).winner == 1
    # Beyond c = [b(θ_1) − b(θ_2)] / 2a, here a, the truth is far enough apart to survive.
    kept = estimated_errors(bent, reversal(rho, 1.5 * CURVATURE))
    assert kept[0] < kept[1]


def test_reversal_depends_on_the_residuals_coordinate():
    """Newton's error on |v| is a ρ² in the given coordinate and O(ρ³) in the straightened one."""
    rhos = np.array([1e-2, 1e-3])
    given, straight = (np.abs(estimated_errors(f, -rhos) - rhos) for f in (bent, straightened))
    np.testing.assert_allclose(given, CURVATURE * rhos**2, rtol=0.05)
    assert np.log10(straight[0] / straight[1]) > 2.9
    estimated = estimated_errors(straightened, reversal(1e-3, 0.5 * CURVATURE))
    assert estimated[0] < estimated[1]


def test_zero_residual_on_the_wrong_branch():
    """S5: A(x) = x² − 1, truth 1, candidate −1: residual 0, response 0, error 2. Only a branch radius opens the choice."""
    space, outputs, truth = TaskSpace(np.ones(1)), np.array([[-1.0], [1.1]]), np.ones(1)
    ranking = pr.rank(pr.Stationary(lambda x: x**2 - 1), outputs, anchor="0")
    proxy = ranking.proxy
    assert float(ranking.response.defect_norm) == 0 and space.norm(proxy - truth) == 2
    assert ranking.best == "0"
    true_gap = geometry.gaps_of(space, outputs, truth)[0, 1]
    assert true_gap < 0  # the other candidate is better
    by_residual = gap_intervals(space, outputs, proxy, Ball(0.0))
    assert by_residual.winner == 0  # a radius made from the residual alone certifies the wrong one
    for branches in (FiniteSet([[0.0], [2.0]]), Sum((Ball(0.0), Ball(2.0)))):
        honest = gap_intervals(space, outputs, proxy, branches)
        assert honest.winner is None
        np.testing.assert_allclose(honest.low[0, 1], true_gap, rtol=1e-12)


DATA = np.array([0.3, -1.0, 2.0, 0.8])
CUBIC = pr.Stationary(lambda w: w + w**3 - jnp.asarray(DATA))  # entry by entry


def response(w):
    return compute.run(respond, CUBIC, w, Correction()).correction


def corrected(w):
    return compute.run(respond, CUBIC, w, Correction()).state


def test_anchor_derivative_and_sensitivity():
    """DN(w)[h] = −A′(w)⁻¹ A″(w)[h, δ_w], and ‖N(w′) − N(w)‖ ≤ βKη‖w′ − w‖ along the segment."""
    random = np.random.default_rng(0)
    w, h = random.standard_normal(4), random.standard_normal(4)
    slope = (corrected(w + 1e-6 * h) - corrected(w - 1e-6 * h)) / 2e-6
    np.testing.assert_allclose(slope, -6 * w * h * response(w) / (1 + 3 * w**2), rtol=1e-6, atol=1e-9)
    for _ in range(20):
        w, other = random.standard_normal((2, 4))
        segment = w + np.linspace(0, 1, 21)[:, None] * (other - w)
        beta = np.max(1 / (1 + 3 * segment**2))
        curvature = np.max(np.abs(6 * segment))
        eta = np.max([np.linalg.norm(response(at)) for at in segment])
        change = np.linalg.norm(corrected(other) - corrected(w))
        assert change <= 1.05 * beta * curvature * eta * np.linalg.norm(other - w)


def test_augmenting_the_library_moves_gaps_by_the_proxys_change():
    """w_{N+1} − w_N = (v_{N+1} − w_N)/(N + 1), and G_ij(q_{N+1}) − G_ij(q_N) = 2⟨q_{N+1} − q_N, y_i − y_j⟩_M."""
    random = np.random.default_rng(1)
    space, library = TaskSpace(random.uniform(0.2, 3.0, 4)), random.standard_normal((5, 4))
    old, new = library[:4].mean(axis=0), library.mean(axis=0)
    np.testing.assert_allclose(new - old, (library[4] - old) / 5, atol=1e-14)
    q, q_new, outputs = corrected(old), corrected(new), library[:4]
    moved = geometry.gaps_of(space, outputs, q_new) - geometry.gaps_of(space, outputs, q)
    expected = np.array([[2 * space.inner(q_new - q, yi - yj) for yj in outputs] for yi in outputs])
    np.testing.assert_allclose(moved, expected, atol=1e-12)
    assert np.max(np.abs(moved)) > 1e-3
    # Whoever states the proxy's change as an uncertainty gets intervals that hold for the larger library's proxy.
    intervals = gap_intervals(space, outputs, q, Ball(float(space.norm(q_new - q)) * (1 + 1e-12)))
    gaps = geometry.gaps_of(space, outputs, q_new)
    assert np.all((gaps >= intervals.low) & (gaps <= intervals.high))
