"""What a ranking says, what it keeps to itself when a solve failed, and the ways out of it."""

import json
import sys

import jax.numpy as jnp
import numpy as np
import pytest

import physrank as pr
from libraries import GOOD, ROOT, SMALL, every_case, library
from physrank import tasks
from problems import bratu


def test_scores_are_distances_to_the_proxy():
    case = SMALL["reaction-diffusion 2-D"]
    ranking = pr.rank(case.problem, library("reaction-diffusion 2-D"))
    h = 1 / 7
    w = np.outer([h / 2, *[h] * 6, h / 2], [h / 2, *[h] * 6, h / 2])  # tensor trapezoid, by hand
    expected = [np.sum(w * (ranking.proxy - v) ** 2) for v in library("reaction-diffusion 2-D").values()]
    np.testing.assert_allclose(ranking.scores, expected, rtol=1e-12)
    np.testing.assert_allclose(ranking.error_estimates**2, ranking.scores, rtol=1e-12)
    np.testing.assert_allclose(ranking.gaps[1, 0], ranking.scores[0] - ranking.scores[1])
    assert ranking.best == ranking.order[0] == ranking.names[int(np.argmin(ranking.scores))]
    np.testing.assert_array_equal(ranking.proxy, ranking.state)
    assert ranking.winners(1e9) == list(ranking.names)
    assert ranking.unresolved is None


@every_case
def test_rescoring_costs_no_solve_and_equals_ranking_anew(name, monkeypatch):
    problem, candidates = SMALL[name].problem, library(name)
    task = tasks.linear(lambda s: s.ravel()[:3] * 2.0, name="sensors")
    anew = pr.rank(problem, candidates, task=task)
    ranking = pr.rank(problem, candidates)
    monkeypatch.setattr(sys.modules["physrank.rungs.respond"], "one_response", None)  # any solve would fail now
    again = ranking.rescore(task)
    np.testing.assert_allclose(again.scores, anew.scores, rtol=1e-12)
    assert again.task.name == "sensors"
    assert ranking.task.name != "sensors"


def test_margins_are_the_error_a_pair_survives():
    ranking = pr.rank(ROOT, {"bad": np.array([1.0, np.nan, 1.0]), **GOOD}, invalid="exclude")
    direction = ranking.outputs[1] - ranking.outputs[2]
    step = ranking.margins[1, 2] * direction / ranking.space.norm(direction)
    for sign in (1, -1):
        moved = pr.geometry.scores_of(ranking.space, ranking.outputs[1:], ranking.proxy + sign * step)
        if sign * ranking.gaps[1, 2] < 0:
            assert moved[0] == pytest.approx(moved[1])  # exactly at the margin the pair ties
    assert np.isnan(ranking.margins[0, 1])


def test_one_candidate_has_nothing_to_rank():
    ranking = pr.rank(ROOT, {"only": np.zeros(3)})
    assert ranking.best == "only"
    assert any("nothing to rank" in note for note in ranking.notes)
    assert "nothing to rank" in str(ranking)


def test_equal_candidates_are_ties():
    ranking = pr.rank(ROOT, {"a": np.ones(3), "b": np.ones(3)})
    assert ranking.best == "a"
    assert ranking.labels()[0, 1] == 0
    assert ranking.subspace.rank == 0
    assert any("every pair is a tie" in note for note in ranking.notes)


def test_unconverged_response_is_marked_and_best_needs_permission(no_rescue):
    hard = pr.Stationary(bratu, data=1.0, solver=pr.Krylov(method="cg", max_steps=2))
    candidates = library("stationary, dense")
    ranking = pr.rank(hard, candidates)
    assert not ranking.response.converged
    assert "did not converge" in ranking.unresolved
    for ask in (lambda: ranking.best, lambda: ranking.order, lambda: ranking.winners(1.0), lambda: ranking.labels()):
        with pytest.raises(pr.UnresolvedError, match="allow_unresolved=True"):
            ask()
    assert ranking.choose(allow_unresolved=True) in candidates
    assert "UNRESOLVED" in str(ranking)
    assert ranking.to_dict()["unresolved"]
    allowed = pr.rank(hard, candidates, allow_unresolved=True)
    assert allowed.best == ranking.choose(allow_unresolved=True)
    assert allowed.unresolved


def test_non_finite_response_never_looks_like_a_ranking():
    singular = pr.Stationary(lambda u: jnp.log(u))  # undefined at the anchor
    ranking = pr.rank(singular, {"a": -np.ones(3), "b": -2 * np.ones(3)}, allow_unresolved=True)
    assert "not finite" in ranking.unresolved
    with pytest.raises(pr.UnresolvedError, match="no finite score"):
        _ = ranking.best
    json.dumps(ranking.to_dict(), allow_nan=False)


def test_a_correction_that_blows_up_is_unresolved():
    """Found by a user: a linearisation far from any solution must not look like a ranking."""
    far = pr.rank(pr.Stationary(lambda u: u**3 - 1.0), {"a": np.full(5, 1e-3), "b": np.full(5, 2e-3)})
    assert far.response.converged  # the linear system was solved; it just means nothing
    assert "raised the defect" in far.unresolved
    assert far.defect_reduction > 1e10
    assert far.to_dict()["order"] is None
    x = np.arange(64) * 2 * np.pi / 64
    wild = pr.equations.Burgers(np.sin(x), 1e-4, np.linspace(0, 2, 6), points=64)
    assert pr.rank(wild, {"a": np.tile(np.sin(x), (6, 1)), "b": np.zeros((6, 64))}, anchor="mean").unresolved
    # A large correction that the equation confirms is fine: any linear problem from a zero anchor.
    linear = pr.rank(pr.Stationary(lambda u: 2 * u - 6.0), {"a": np.zeros(3), "b": np.full(3, 1e-3)})
    assert linear.unresolved is None
    np.testing.assert_allclose(linear.state, 3.0)
    assert linear.defect_reduction < 1e-12


def test_inadmissible_response_is_unresolved_and_backtracking_resolves_it():
    problem = pr.Stationary(lambda x: x**2 - 4, admissible=lambda x: x < 3)
    candidates = {"a": [0.4], "b": [0.6]}
    assert "not admissible" in pr.rank(problem, candidates, effort="response").unresolved
    assert pr.rank(problem, candidates).unresolved is None  # the ladder ends with a solve
    nowhere = pr.Stationary(lambda x: x**2 - 4, admissible=lambda x: x < 1)
    assert "not admissible" in pr.rank(nowhere, candidates, effort="solve", allow_unresolved=True).unresolved
    damped = pr.rank(problem, candidates, corrections=pr.Correction(backtrack=(0.25, 0.5, 0.75, 1.0)))
    assert damped.unresolved is None
    assert damped.best == "b"


def test_json_xarray_and_report(tmp_path):
    ranking = pr.rank(SMALL["burgers"].problem, library("burgers"), effort="response")
    path = ranking.to_json(tmp_path / "r.json")
    stored = json.loads(path.read_text())
    assert stored["order"] == ranking.order
    assert stored["response"]["converged"] is True
    assert stored["candidates"]["m0"]["score"] == ranking.scores[0]
    assert [p.name for p in tmp_path.iterdir()] == ["r.json"]  # no temporary left
    data = ranking.to_xarray()
    assert list(data.candidate.values) == list(ranking.names)
    np.testing.assert_array_equal(data.gap.sel(candidate="m1", other="m0"), ranking.gaps[1, 0])
    for case in ("burgers", "reaction-diffusion 2-D"):
        shown = pr.rank(SMALL[case].problem, library(case), effort="response")
        page = shown.report(tmp_path / "r.html").read_text()
        assert f"Trust {shown.best}" in page
        assert "data:image/png;base64" in page
        assert "http" not in page  # self-contained
    assert ranking.plot().axes


def test_rescoring_does_not_carry_exclusions_from_one_task_to_the_next():
    problem = pr.Stationary(lambda u: u - 1.0)
    ranking = pr.rank(problem, {"a": np.full(3, 2.0), "b": np.full(3, -2.0)})
    logged = ranking.rescore(tasks.nonlinear(jnp.log, name="log"))
    assert logged.scoring.excluded == {"b": "its score is not finite"}
    assert logged.rescore(tasks.field()).scoring.excluded == {}
