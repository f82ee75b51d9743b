"""The validated certificate of Burgers against known solutions, beside the theorem, and closed on failure."""

import numpy as np
import pytest

import physrank as pr
from burgers_flows import FINE, GRID, NU, TIMES, cole_hopf, holds, library_of, problem_of
from helpers import solve
from physrank.certificates import BurgersEnergy, ValidatedBurgers, intersect
from trials import terminal

AS_IT_IS = pr.Correction(step=0.0)


@pytest.mark.parametrize("corrections", [1, 2, 3])
def test_cole_hopf(corrections):
    u = cole_hopf(1.5)
    problem = problem_of(u)
    ranking = pr.rank(problem, library_of(u), corrections=corrections)
    found, theorem = (by(problem, ranking) for by in (ValidatedBurgers(), BurgersEnergy(pairs=False)))
    holds(found, ranking, u(TIMES[-1], FINE))
    assert found.kind == "validated" and found.target == theorem.target
    assert found.state_bound <= 1.01 * theorem.state_bound + 1e-10
    certificate = pr.certify(problem, ranking, by=ValidatedBurgers())
    assert certificate.kind == "validated"
    assert corrections == 1 or certificate.settled
    both = intersect({"validated": certificate, "theorem": pr.certify(problem, ranking)})
    assert both.kind == "theorem" and both.settled


@pytest.mark.parametrize("seed", range(4))
def test_any_state(seed):
    random = np.random.default_rng(seed)
    u = cole_hopf(1.5)
    exact = u(TIMES[:, None], GRID)
    state = exact + random.standard_normal(exact.shape) * [1e-6, 1e-3, 0.1, 1e-9][seed]
    library = {"itself": state, "rival": 0.9 * state, "third": 1.2 * state}
    ranking = pr.rank(problem_of(u), library, anchor=state, corrections=AS_IT_IS)
    holds(ValidatedBurgers()(problem_of(u), ranking), ranking, u(TIMES[-1], FINE))


def test_gaps_are_those_of_the_theorem():
    """Means included, which count once; the last row has a mode that the path drops."""
    random, wave = np.random.default_rng(0), cole_hopf(1.5)(0.0, GRID)
    problem = pr.equations.Burgers(wave + 0.3, NU, TIMES, points=len(GRID))
    state = solve(problem) + 0.1 * (TIMES[:, None] == TIMES[-1]) * np.cos((len(GRID) // 2 - 2) * GRID)
    ranking = terminal(problem, state, state[-1] + random.standard_normal((3, 1)) * (1 + np.cos(GRID)))
    found, theorem = (by(problem, ranking) for by in (ValidatedBurgers(0.1), BurgersEnergy(0.1, pairs=False)))
    np.testing.assert_allclose(found.state_bound, theorem.state_bound, rtol=1e-2)
    middle, width = ((lambda g, s=s: (g.high + s * g.low) / 2) for s in (1, -1))
    np.testing.assert_allclose(middle(found.gaps), middle(theorem.gaps), rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(width(found.gaps), width(theorem.gaps), rtol=1e-2)


def test_a_grid_without_a_fast_transform():
    """The proof needs no transform: 2 · 37 points are as good as others."""
    x = np.arange(74) * 2 * np.pi / 74
    u = cole_hopf(2.0)
    exact = u(TIMES[:, None], x)
    problem = pr.equations.Burgers(exact[0], 0.1, TIMES, points=74)
    ranking = terminal(problem, exact, np.stack([exact[-1] * 1.1, exact[-1] * 0.8]))
    assert pr.certify(problem, ranking).failed
    assert pr.certify(problem, ranking, by=ValidatedBurgers()).best == "c0"


def test_a_wider_force_certifies_less():
    u = cole_hopf(1.5)
    ranking = pr.rank(problem_of(u), library_of(u), corrections=2)
    bounds = [ValidatedBurgers(error)(problem_of(u), ranking).state_bound for error in (0.0, 1e-3, 1.0)]
    assert bounds[1] - bounds[0] >= 1e-3 and bounds[2] - bounds[0] >= 1
    with pytest.raises(ValueError, match="forcing_error"):
        ValidatedBurgers(-1.0)


def test_it_is_closed_with_a_reason():
    u = cole_hopf(1.5)
    ranking = pr.rank(problem_of(u), library_of(u))
    other = pr.equations.SineGordon(np.zeros(8), np.zeros(8), TIMES, points=8)
    wrong = ValidatedBurgers()(other, ranking)  # pyright: ignore[reportArgumentType]
    assert any("Burgers" in a.statement for a in wrong.assumptions if not a.holds) and not wrong.gaps.signs.any()
    x = np.arange(32) * np.pi / 16
    steep = np.tile(-300 * np.sin(x), (13, 1))
    problem = pr.equations.Burgers(-np.sin(x), 1e-3, np.linspace(0, 3, 13), points=32, substeps=8)
    ranking = terminal(problem, steep, np.stack([steep[-1], 0 * x, -steep[-1]]))
    found = ValidatedBurgers()(problem, ranking)
    assert not found.gaps.signs.any()
    assert found.state_bound == np.inf
