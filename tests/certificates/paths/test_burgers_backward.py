"""Pairs of the Burgers certificate to second order, and order-sharp reversals that it must not follow."""

from itertools import pairwise

import numpy as np
import pytest

import physrank as pr
from burgers_flows import FINE, GRID, TIMES, T, cole_hopf, fine, holds, library_of, norm, problem_of
from physrank.certificates import BurgersEnergy
from physrank.certificates.paths.burgers import measure, reconstruct
from physrank.certificates.paths.burgers_backward import functionals
from physrank.certificates.paths.trigonometric import coefficients


def test_the_backward_equation_knows_the_error_in_each_direction():
    u = cole_hopf(1.5)
    ranking = pr.rank(problem_of(u), library_of(u, 0.4))
    path = reconstruct(problem_of(u), ranking.state)
    measures, found = measure(path), functionals(path, coefficients(ranking.outputs))
    unknown = found.unknown(measures.radii(), measures.radius())
    i, j = np.triu_indices(3, 1)
    error = u(TIMES[-1], FINE) - fine(ranking.state[-1])
    truth = 2 * np.pi * np.mean(error * fine(ranking.outputs[i] - ranking.outputs[j]), axis=-1)
    crude = measures.radius() * norm(fine(ranking.outputs[i] - ranking.outputs[j]))
    assert np.all(np.abs(truth - found.known) <= unknown)
    assert np.all(unknown < crude / 20)
    assert np.any(np.abs(truth) > unknown)  # without the known part it would be wrong


def test_close_losses_need_it():
    u = cole_hopf(1.5)
    exact = u(TIMES[:, None], GRID)
    wave = T * (0.6 * np.sin(2 * GRID) + 0.3 * np.sin(5 * GRID))
    library = {"plus": exact + 0.4 * wave, "minus": exact - 0.404 * wave, "loud": 1.4 * exact}
    ranking = pr.rank(problem_of(u), library, anchor="plus")
    crude, sharp = (BurgersEnergy(pairs=p)(problem_of(u), ranking) for p in (False, True))
    for enclosure in (crude, sharp):
        holds(enclosure, ranking, u(TIMES[-1], FINE))
    assert crude.gaps.signs[0, 1] == 0
    assert sharp.gaps.signs[0, 1] == 1
    assert np.all((sharp.gaps.low >= crude.gaps.low) & (sharp.gaps.high <= crude.gaps.high))


def test_half_of_the_second_order_is_not_enough():
    """From rest, a bump where z is steepest: ½ ∫ ⟨e², z_x⟩ is nearly all that its bound allows."""
    x, times = np.arange(96) * 2 * np.pi / 96, np.linspace(0, 0.05, 3)
    bump = 0.3 * np.exp(-8 * (x - np.pi) ** 2)
    problem = pr.equations.Burgers(bump, 0.01, times, points=96)
    still = np.zeros(problem.state_shape)
    outputs = coefficients(np.stack([np.sin(x), 0 * x]))
    path = reconstruct(problem, still)
    measures, found = measure(path), functionals(path, outputs)
    unknown = found.unknown(measures.radii(), measures.radius())[0]
    truth = pr.scorers.DirectSolve().solution(problem, problem.state_shape)[0][-1]
    missing = abs(2 * np.pi * np.mean(truth * np.sin(x)) - found.known[0])
    assert 0.8 * unknown < missing <= unknown


ROWS = np.linspace(0, 2, 401)
REST = pr.equations.Burgers(np.zeros(32), 1.0, ROWS, points=32, substeps=1)  # u = 0
RAMP = ROWS / 2  # ϑ, with ϑ(T) = 1


def decayed(values, rate):
    """∫_0^t e^{−rate (t − s)} values(s) ds at all rows, by the trapezoid rule."""
    step, decay = ROWS[1], np.exp(-rate * ROWS[1])
    total = [0.0]
    for before, after in pairwise(values):
        total.append(decay * total[-1] + step * (decay * before + after) / 2)
    return np.array(total)


def diagnostic_scores(candidates, midpoint):
    """‖C_T δ_v‖ of every candidate as its own anchor."""
    variant = pr.Correction(midpoint=midpoint)
    rankings = [pr.rank(REST, candidates, anchor=name, corrections=variant) for name in candidates]
    return [norm(r.response.correction[-1]) for r in rankings], rankings


def check_reversal(candidates, midpoint, reversed_):
    """Candidate-wise scores prefer the worse candidate exactly if the theory says so; certificates never do."""
    (first, second), rankings = diagnostic_scores(candidates, midpoint)
    true = [norm(v[-1]) for v in candidates.values()]
    assert true[0] < true[1]
    assert (first > second) == reversed_
    if reversed_:
        assert rankings[0].gaps[0, 1] < 0  # so does the shared score, with this anchor
    for ranking in (*rankings, pr.rank(REST, candidates, corrections=pr.Correction(midpoint=midpoint))):
        enclosure = BurgersEnergy()(REST, ranking)
        holds(enclosure, ranking, 0 * FINE)
        assert enclosure.gaps.signs[0, 1] >= 0
        assert BurgersEnergy(pairs=False)(REST, ranking).gaps.signs[0, 1] >= 0
    assert BurgersEnergy()(REST, pr.rank(REST, candidates, corrections=3)).gaps.signs[0, 1] == 1


@pytest.mark.parametrize("share", [0.9, 1.1])
def test_quadratic_reversal(share):
    """−d₁h and d₂h with d = ε ∓ cε²: reversed for c < κ/H = (I₁ − I₂)/4, h = ϑ (sin x − sin 2x)."""
    h = RAMP[:, None] * (np.sin(REST.grid.axes[0]) - np.sin(2 * REST.grid.axes[0]))
    one, two = (decayed(RAMP**2, k**2)[-1] for k in (1, 2))
    c, size = share * (one - two) / 4, 0.02
    candidates = {"v1": -(size - c * size**2) * h, "v2": (size + c * size**2) * h}
    check_reversal(candidates, midpoint=False, reversed_=share < 1)


@pytest.mark.parametrize("share", [0.9, 1.1])
def test_cubic_reversal(share):
    """−d₁h₁ and −d₂h₂ with d = ε ∓ cε³: the self-midpoint decoder is reversed for c < (γ₁ − γ₂)/2H, h_k = ϑ sin kx."""

    def gamma_over_h(k):
        q = k / 2 * decayed(RAMP**2, 4 * k**2)
        return k / 4 * decayed(RAMP * q, k**2)[-1]

    c, size = share * (gamma_over_h(1) - gamma_over_h(2)) / 2, 0.1
    h = [RAMP[:, None] * np.sin(k * REST.grid.axes[0]) for k in (1, 2)]
    candidates = {"v1": -(size - c * size**3) * h[0], "v2": -(size + c * size**3) * h[1]}
    check_reversal(candidates, midpoint=True, reversed_=share < 1)
