"""Enclosed measures of a Burgers path: above the exact ones, in many digits, and close to those of the theorem."""

import mpmath
import numpy as np
import pytest

from burgers_flows import GRID, TIMES, cole_hopf, problem_of
from physrank.certificates.enclosures.rounding import Interval
from physrank.certificates.paths import burgers, burgers_enclosed, exact_times
from physrank.equations import Burgers

mp = mpmath.mpf


def pushed(t, x):
    return 0.3 * np.sin(x - 3 * t) + 0 * x


@pytest.mark.parametrize("forcing", [None, pushed])
def test_they_are_those_of_the_theorem_and_hardly_more(forcing):
    u = cole_hopf(1.3)
    problem = problem_of(u, forcing)
    path = burgers.reconstruct(problem, u(TIMES[:, None], GRID) * (1 + 1e-4 * TIMES[:, None]))
    usual, found = burgers.measure(path), burgers_enclosed.measure(problem, np.asarray(path.pieces))
    for name in ("residual", "truncation", "growth"):
        np.testing.assert_allclose(getattr(found, name), getattr(usual, name), rtol=1e-2, atol=1e-9)
    np.testing.assert_allclose(found.jumps[1:, 0], usual.jumps[:-1], rtol=1e-8, atol=1e-13)
    np.testing.assert_allclose(found.jumps[0, 0], usual.initial, atol=1e-13)
    assert np.all(found.jumps[:, 1:] < 1e-150)
    expected = usual.radii()[-1, -1]
    assert expected * (1 - 1e-6) <= found.radius() <= 1.01 * expected + 1e-9


def exact_norms(problem, pieces, j, i):
    """‖P_K r‖ and ‖|∂_x|⁻¹ (1 − P_K) r‖ at node i of substep j of the only row, without a force."""
    theta, count = exact_times.nodes(burgers_enclosed.NODES)[i], pieces.shape[-1]
    t, k = mp(theta.numerator) / theta.denominator, 2 * mpmath.pi / mp(problem.length)
    times = [mp(float(v)) for v in np.asarray(problem.times)]
    h = (times[1] - times[0]) / problem.substeps
    base = [mpmath.binomial(5, m) * t**m * (1 - t) ** (5 - m) for m in range(6)]
    slope = [mpmath.binomial(4, m) * t**m * (1 - t) ** (4 - m) for m in range(5)]
    c = [
        [mpmath.mpc(float(v.real), float(v.imag) if n else 0) for n, v in enumerate(pieces[0, m, j])] for m in range(6)
    ]
    at = [mpmath.fsum(base[m] * c[m][n] for m in range(6)) for n in range(count)]
    moving = [mpmath.fsum(5 * slope[m] * (c[m + 1][n] - c[m][n]) for m in range(5)) / h for n in range(count)]
    whole = dict(enumerate(at)) | {-n: mpmath.conj(v) for n, v in enumerate(at) if n}
    low = high = mp(0)
    for n in range(2 * count - 1):
        square = mpmath.fsum(whole[a] * whole[n - a] for a in whole if n - a in whole)
        r = 0.5j * n * k * square
        if n < count:
            r += moving[n] + mp(float(problem.viscosity)) * (n * k) ** 2 * at[n]
            low += abs(r) ** 2 * (2 if n else 1)
        else:
            high += 2 * abs(r / (n * k)) ** 2
    return mpmath.sqrt(low * mp(problem.length)), mpmath.sqrt(high * mp(problem.length))


def small_case(seed):
    random = np.random.default_rng(seed)
    problem = Burgers(np.zeros(8), 0.1, [0.0, 0.05], points=8, length=3.0)
    pieces = random.standard_normal((1, 6, 4, 3)) + 1j * random.standard_normal((1, 6, 4, 3))
    return problem, pieces


def residual_bounds(problem, pieces):
    kept = {}

    def keep(*given):
        kept["found"] = residuals(*given)
        return kept["found"]

    residuals = burgers_enclosed._residuals
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(burgers_enclosed, "_residuals", keep)
        burgers_enclosed.measure(problem, pieces)
    return kept["found"]


@pytest.mark.parametrize("seed", range(3))
def test_residuals_are_above_the_exact_ones(seed):
    """Any coefficients are a path: its residual is large, and known to the last places."""
    problem, pieces = small_case(seed)
    low, high = residual_bounds(problem, pieces)
    with mpmath.workdps(40):
        for j in range(4):
            for i in (0, 4, 10):
                exact = exact_norms(problem, pieces, j, i)
                for bound, value in zip((low, high), exact, strict=True):
                    assert value <= bound[0, j, i] <= value * (1 + 1e-11)


def test_the_steepest_slope_is_not_missed():
    problem, pieces = small_case(7)
    growth = burgers_enclosed.measure(problem, pieces).growth
    x = np.linspace(0, 3.0, 4001)
    wave = 2 * np.pi / 3.0 * np.arange(3)
    h = 0.05 / 4
    for j in range(4):
        slopes = [2 * np.real(np.exp(1j * np.outer(x, wave)) @ (1j * wave * pieces[0, m, j])) for m in range(6)]
        exact = h / 2 * np.mean([max(0.0, float(np.max(-s))) for s in slopes])
        assert exact <= growth[0, j] <= 1.3 * exact


def test_what_enters_early_grows():
    """Each contribution by e^{∫ g} from where it enters, truncation by its square."""
    ones = np.ones((2, 2))
    found = burgers_enclosed.EnclosedMeasures(0 * ones, 0 * ones, np.log(2) * ones, np.array([[1.0, 0], [0, 0]]))
    assert 16 <= found.radius() <= 16 * (1 + 1e-12)
    assert burgers_enclosed.EnclosedMeasures(0 * ones, 0 * ones, np.log(2) * ones, 0 * ones).radius(1.0) >= 16
    late = burgers_enclosed.EnclosedMeasures(np.array([[0, 0], [0, 1.0]]), 0 * ones, np.log(2) * ones, 0 * ones)
    assert 2 <= late.radius() <= 2 * (1 + 1e-12)
    squares = burgers_enclosed.EnclosedMeasures(0 * ones, np.array([[1.0, 0], [0, 0]]), np.log(2) * ones, 0 * ones)
    assert 16 <= squares.radius() <= 16 * (1 + 1e-12)


def test_norms_count_both_signs_of_a_wave():
    c = Interval.of(np.array([[3.0, 1.0], [0.0, 2.0]]))
    np.testing.assert_allclose(burgers_enclosed.norm(c, 2.0), np.sqrt(2 * (9 + 2 * 5)))


def test_residuals_are_integrated_and_what_they_are_off_by_is_in_them(monkeypatch):
    problem, pieces = small_case(3)
    (low, high), found = residual_bounds(problem, pieces), burgers_enclosed.measure(problem, pieces)
    h, weights = 0.05 / 4, exact_times.weights(burgers_enclosed.NODES)
    np.testing.assert_allclose(found.residual, h * np.sqrt(low**2 @ weights), rtol=1e-9)
    np.testing.assert_allclose(found.truncation, h * (high**2 @ weights) / 0.2, rtol=1e-9)
    square = burgers_enclosed.ProductGrid.square
    monkeypatch.setattr(
        burgers_enclosed.ProductGrid, "square", lambda *given: (lambda q, a, b: (q, a + 1e-3, b))(*square(*given))
    )
    wider = residual_bounds(problem, pieces)
    top = 2 * np.pi / 3.0 * 2 / 2  # ½ k_K, K = 2
    np.testing.assert_allclose(wider[0] - low, top * np.sqrt(3.0) * 1e-3, rtol=1e-6)
    np.testing.assert_allclose(wider[1] - high, np.sqrt(3.0) * 1e-3 / 2, rtol=1e-6)
