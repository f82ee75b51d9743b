"""Libraries that grow, and nonlinear quantities, on a small problem whose errors are known."""

import numpy as np
import pytest

import physrank as pr
from physrank import compute
from physrank.lab.equations import EQUATIONS
from physrank.lab.studies import beyond
from physrank.lab.studies._kit import growing
from physrank.physics import Correction, respond


@pytest.fixture(scope="module")
def made():
    equation = EQUATIONS["burgers"]
    problem = equation.problem(equation.population("development", 1)[0], 32)
    truth = pr.scorers.DirectSolve().solution(problem, problem.state_shape)[0]
    time, x = np.linspace(0, 1, len(truth))[:, None], np.arange(32) * np.pi / 16
    shapes = [np.sin(x), np.cos(2 * x), np.sin(3 * x + 1), np.cos(x + 2)]
    return problem, truth, {f"v{k}": truth + (0.05 + 0.03 * k) * time * shape for k, shape in enumerate(shapes)}


def test_a_candidate_that_joins_moves_the_anchor_by_its_share(made):
    problem, _, candidates = made
    row = growing.grown(problem, candidates)
    assert [len(row[name]) for name in ("anchor", "proxy", "changed")] == [2, 2, 2]  # the third and the fourth
    assert row["older"].tolist() == [1, 3]
    assert max(row["anchor identity"].max(), row["gap identity"].max()) < 1e-13
    assert np.all(row["proxy"] < 0.1 * row["anchor"])  # near a root the anchor's moves are damped
    assert row["unforeseen"][1] < row["unforeseen"][0] < 1  # the larger the library, the smaller the step


def test_the_corrected_state_moves_with_its_anchor_as_its_derivative_says(made):
    problem, truth, candidates = made
    anchor, h = np.mean(list(candidates.values()), axis=0), candidates["v1"] - truth
    corrected = lambda w: np.asarray(compute.run(respond, problem, w, Correction()).state)  # noqa: E731
    change = np.asarray(compute.run(growing.newton_derivative, problem, anchor, corrected(anchor) - anchor, h))
    measured = (corrected(anchor + 1e-3 * h) - corrected(anchor - 1e-3 * h)) / 2e-3
    size = np.linalg.norm(measured)
    assert np.linalg.norm(measured - change) < 1e-5 * size < 1e-5 * np.linalg.norm(h)
    assert np.linalg.norm(measured + change) > size  # the sign matters


def test_both_proxies_of_a_nonlinear_quantity_are_judged(made):
    problem, truth, candidates = made
    found = beyond.asked(pr.rank(problem, candidates, anchor="mean", corrections=1), truth)
    for name in beyond.QUANTITIES:
        losses, linear, evaluated = (found[f"{name} {way}"] for way in ("losses", "linear", "evaluated"))
        assert losses.shape == linear.shape == evaluated.shape == (4,)
        assert found[f"{name} apart"] > 0  # Q is not linear
        np.testing.assert_allclose(evaluated, losses, rtol=0.2, atol=1e-6)
    energies = np.array([np.mean((v[-1] ** 2 / 2 - truth[-1] ** 2 / 2) ** 2) for v in candidates.values()])
    np.testing.assert_allclose(found["energy density losses"], energies)
