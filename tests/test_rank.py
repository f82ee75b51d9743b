"""`rank`: law 5, tasks, anchors, rescoring, lifts, the adjoint identity, and everything bad that users pass in."""

import html
import json
import re
import subprocess
import sys

import jax.numpy as jnp
import numpy as np
import pytest
import torch
import xarray as xr
from hypothesis import given, settings
from hypothesis import strategies as st

import physrank as pr
from physrank import anchors, tasks
from physrank.ranking import corrected
from problems import CASES, bratu, burgers, reaction_diffusion


def library(case, count=4, scale=0.1):
    """Candidates around a plausible state."""
    base, failed = pr.scorers.DirectSolve().solution(case.problem, case.state(0).shape)
    assert failed is None
    return {f"m{k}": base + scale * (k + 1) / count * case.state(100 + k) for k in range(count)}


SMALL = {
    name: CASES[name] for name in ("burgers", "reaction-diffusion 2-D", "stationary, dense", "marching, implicit dense")
}
LIBRARIES = {name: library(case) for name, case in SMALL.items()}
every_case = pytest.mark.parametrize("name", SMALL)


# -- law 5 -------------------------------------------------------------------------------------------------------------


@every_case
@pytest.mark.parametrize("anchor", ["mean", "medoid"])
def test_permutation_permutes_everything(name, anchor):
    problem, candidates = SMALL[name].problem, LIBRARIES[name]
    plain = pr.rank(problem, candidates, anchor=anchor)
    shuffled = pr.rank(problem, {key: candidates[key] for key in ("m2", "m0", "m3", "m1")}, anchor=anchor)
    assert plain.order == shuffled.order
    for key in candidates:
        a, b = plain.scores[plain.names.index(key)], shuffled.scores[shuffled.names.index(key)]
        np.testing.assert_allclose(a, b, rtol=1e-9)
    np.testing.assert_allclose(plain.state, shuffled.state, rtol=1e-9, atol=1e-11)


def test_permutation_sabotaged():
    """An anchor that depends on the order breaks the law."""
    problem, candidates = SMALL["burgers"].problem, LIBRARIES["burgers"]
    first = anchors.Anchor("first", lambda _, states: states[0])
    plain = pr.rank(problem, candidates, anchor=first)
    shuffled = pr.rank(problem, dict(reversed(candidates.items())), anchor=first)
    with pytest.raises(AssertionError):
        np.testing.assert_allclose(plain.state, shuffled.state, rtol=1e-9, atol=1e-11)


@every_case
def test_duplicates_change_nothing_else(name):
    problem, candidates = SMALL[name].problem, LIBRARIES[name]
    anchor = anchors.candidate("m1")  # the mean would move with a duplicate, and should
    plain = pr.rank(problem, candidates, anchor=anchor)
    doubled = pr.rank(problem, {**candidates, "copy": candidates["m2"]}, anchor=anchor)
    np.testing.assert_array_equal(doubled.scores[:4], plain.scores)
    assert doubled.scores[4] == doubled.scores[2]
    assert doubled.labels()[4, 2] == 0
    assert [n for n in doubled.order if n != "copy"] == plain.order
    assert doubled.order.index("m2") < doubled.order.index("copy")  # ties by order
    assert doubled.subspace.rank == plain.subspace.rank == 3


@every_case
def test_batch_equals_one_by_one(name):
    problem = SMALL[name].problem
    libraries = [{k: v * (1 + 0.02 * i) for k, v in LIBRARIES[name].items()} for i in range(5)]
    batch = list(pr.rank_panel([problem] * 5, libraries, chunk=2))  # the last chunk is padded
    assert len(batch) == 5
    for together, candidates in zip(batch, libraries, strict=True):
        alone = pr.rank(problem, candidates)
        scale = np.abs(alone.state).max()
        np.testing.assert_allclose(together.state, alone.state, rtol=0, atol=1e-12 * scale)
        np.testing.assert_allclose(together.scores, alone.scores, rtol=1e-9)
        assert int(together.response.iterations) == int(alone.response.iterations)


def test_batch_comparison_sabotaged():
    """Inputs that get each other's response are noticed: the comparison above can fail."""
    problem, base = SMALL["burgers"].problem, LIBRARIES["burgers"]
    libraries = [{k: v * f for k, v in base.items()} for f in (1.0, 1.02)]
    swapped = list(pr.rank_panel([problem] * 2, libraries))[::-1]
    with pytest.raises(AssertionError):
        for together, candidates in zip(swapped, libraries, strict=True):
            np.testing.assert_allclose(together.state, pr.rank(problem, candidates).state, rtol=0, atol=1e-12)


@pytest.mark.parametrize("chunk", [1, 2, 3])
def test_batches_of_every_width_at_working_size(chunk):
    """At 34² and above a batch of one lane once returned uninitialised memory: every width must agree with `rank`."""
    field = reaction_diffusion(2, 40)
    random = np.random.default_rng(0)
    libraries = [{k: random.standard_normal((42, 42)) for k in "ab"} for _ in range(3)]
    for together, candidates in zip(pr.rank_panel([field] * 3, libraries, chunk=chunk), libraries, strict=True):
        alone = pr.rank(field, candidates)
        assert int(together.response.iterations) == int(alone.response.iterations) > 0
        np.testing.assert_allclose(together.state, alone.state, rtol=0, atol=1e-10 * np.abs(alone.state).max())


@settings(max_examples=15, deadline=None)
@given(st.permutations(range(4)), st.integers(0, 3))
def test_permutations_and_duplicates_drawn(permutation, copied):
    problem, candidates = SMALL["stationary, dense"].problem, LIBRARIES["stationary, dense"]
    order = pr.rank(problem, candidates, anchor="m0").order
    shuffled = {f"m{k}": candidates[f"m{k}"] for k in permutation} | {"copy": candidates[f"m{copied}"]}
    assert [n for n in pr.rank(problem, shuffled, anchor="m0").order if n != "copy"] == order


# -- what a ranking says -----------------------------------------------------------------------------------------------


def test_scores_are_distances_to_the_proxy():
    case = SMALL["reaction-diffusion 2-D"]
    ranking = pr.rank(case.problem, LIBRARIES["reaction-diffusion 2-D"])
    h = 1 / 7
    w = np.outer([h / 2, *[h] * 6, h / 2], [h / 2, *[h] * 6, h / 2])  # tensor trapezoid, by hand
    expected = [np.sum(w * (ranking.proxy - v) ** 2) for v in LIBRARIES["reaction-diffusion 2-D"].values()]
    np.testing.assert_allclose(ranking.scores, expected, rtol=1e-12)
    np.testing.assert_allclose(ranking.error_estimates**2, ranking.scores, rtol=1e-12)
    np.testing.assert_allclose(ranking.gaps[1, 0], ranking.scores[0] - ranking.scores[1])
    assert ranking.best == ranking.order[0] == ranking.names[int(np.argmin(ranking.scores))]
    np.testing.assert_array_equal(ranking.proxy, ranking.state)
    assert ranking.winners(1e9) == list(ranking.names)
    assert ranking.unresolved is None


def test_burgers_default_task_is_the_terminal_state_in_periodic_l2():
    ranking = pr.rank(SMALL["burgers"].problem, LIBRARIES["burgers"])
    expected = [2 * np.pi / 32 * np.sum((ranking.state[-1] - v[-1]) ** 2) for v in LIBRARIES["burgers"].values()]
    np.testing.assert_allclose(ranking.scores, expected, rtol=1e-12)


def test_plain_tasks_use_the_mean_square():
    ranking = pr.rank(SMALL["burgers"].problem, LIBRARIES["burgers"], task=tasks.terminal())
    expected = [np.mean((ranking.state[-1] - v[-1]) ** 2) for v in LIBRARIES["burgers"].values()]
    np.testing.assert_allclose(ranking.scores, expected, rtol=1e-12)


@every_case
def test_rescoring_costs_no_solve_and_equals_ranking_anew(name, monkeypatch):
    problem, candidates = SMALL[name].problem, LIBRARIES[name]
    task = tasks.linear(lambda s: s.ravel()[:3] * 2.0, name="sensors")
    anew = pr.rank(problem, candidates, task=task)
    ranking = pr.rank(problem, candidates)
    monkeypatch.setattr(sys.modules["physrank.rungs.respond"], "one_response", None)  # any solve would fail now
    again = ranking.rescore(task)
    np.testing.assert_allclose(again.scores, anew.scores, rtol=1e-12)
    assert again.task.name == "sensors"
    assert ranking.task.name != "sensors"


def test_nonlinear_task_keeps_both_proxies():
    case = SMALL["reaction-diffusion 2-D"]
    energy = tasks.nonlinear(lambda u: u**2)
    ranking = pr.rank(case.problem, LIBRARIES["reaction-diffusion 2-D"], task=energy)
    w = np.asarray(ranking.response.base)
    delta = ranking.state - w
    np.testing.assert_allclose(ranking.proxy_linear, w**2 + 2 * w * delta, rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(ranking.proxy_evaluated, (w + delta) ** 2, rtol=1e-12, atol=1e-15)
    assert np.abs(ranking.proxy_linear - ranking.proxy_evaluated).max() > 1e-6
    np.testing.assert_array_equal(ranking.proxy, ranking.proxy_evaluated)


def test_margins_are_the_error_a_pair_survives():
    ranking = pr.rank(ROOT, {"bad": np.array([1.0, np.nan, 1.0]), **GOOD}, invalid="exclude")
    direction = ranking.outputs[1] - ranking.outputs[2]
    step = ranking.margins[1, 2] * direction / ranking.space.norm(direction)
    for sign in (1, -1):
        moved = pr.geometry.scores_of(ranking.space, ranking.outputs[1:], ranking.proxy + sign * step)
        if sign * ranking.gaps[1, 2] < 0:
            assert moved[0] == pytest.approx(moved[1])  # exactly at the margin the pair ties
    assert np.isnan(ranking.margins[0, 1])


def test_candidates_lost_to_a_task_are_named():
    logs = pr.tasks.nonlinear(jnp.log)
    with np.errstate(all="ignore"):
        ranking = pr.rank(
            pr.Stationary(lambda u: u - 2.0), {"neg": -np.ones(3), "a": 5 * np.ones(3), "b": 8 * np.ones(3)}, task=logs
        )
    assert ranking.order == ["a", "b"]
    assert ranking.to_dict()["candidates"]["neg"]["excluded"] == "its score is not finite"


def test_lift_axes_protect_channels():
    march = pr.Marching(lambda u: u, np.zeros((2, 16)), grid=pr.Grid.periodic(16))
    assert pr.rank(march, {"a": np.zeros((3, 2, 8)), "b": np.ones((3, 2, 16))}).outputs.shape == (2, 3, 2, 16)
    with pytest.raises(ValueError, match=r"Candidate 'a' has shape \(3, 1, 8\)"):
        pr.rank(march, {"a": np.zeros((3, 1, 8)), "b": np.ones((3, 2, 16))})


def test_initial_states_of_other_kinds():
    march = pr.Marching(lambda u: 0.5 * u, jnp.array([1, 2, 3]))
    assert pr.scorers.DirectSolve()(march, {"a": np.zeros((3, 3)), "b": np.ones((3, 3))}).unresolved is None
    with pytest.raises(ValueError, match="initial is complex"):
        pr.Marching(lambda u: u, np.ones(3) * 1j)
    with pytest.raises(ValueError, match="length must be positive"):
        pr.equations.ReactionDiffusion(np.ones((4, 4)), np.ones((4, 4)), 1, 1, length=-1.0)


def test_adjoint_gap_refuses():
    ranking = pr.rank(ROOT, {"bad": np.array([1.0, np.nan, 1.0]), **GOOD}, invalid="exclude")
    for name in ("bad", "nobody"):
        with pytest.raises(ValueError, match=f"'{name}' is not among the valid candidates"):
            pr.adjoint_gap(ranking, "a", name)


def test_a_nonlinear_map_declared_linear_is_caught():
    with pytest.raises(ValueError, match="declared linear"):
        pr.rank(SMALL["burgers"].problem, LIBRARIES["burgers"], task=tasks.linear(lambda s: s[-1] ** 2))


@pytest.mark.parametrize("name", ["burgers", "reaction-diffusion 2-D", "marching, implicit dense", "stationary, dense"])
def test_one_response_equals_every_pairwise_adjoint(name):
    ranking = pr.rank(SMALL[name].problem, LIBRARIES[name])
    for i, j in ((0, 1), (2, 0), (1, 3)):
        estimate = pr.adjoint_gap(ranking, ranking.names[i], ranking.names[j])
        np.testing.assert_allclose(estimate, ranking.gaps[i, j], rtol=1e-7, atol=1e-12)


def test_adjoint_identity_needs_the_algebraic_defect():
    """With a sloppy solve the identity still closes, because ℓ is part of it."""
    problem = pr.Stationary(bratu, data=1.0, solver=pr.Krylov(rtol=1e-1, method="cg", max_steps=3))
    ranking = pr.rank(problem, LIBRARIES["stationary, dense"], allow_unresolved=True)
    assert ranking.unresolved
    honest = pr.Stationary(bratu, data=1.0)
    object.__setattr__(ranking, "problem", honest)
    estimate = pr.adjoint_gap(ranking, "m0", "m1")
    np.testing.assert_allclose(estimate, ranking.gaps[0, 1], rtol=1e-7)


# -- anchors -----------------------------------------------------------------------------------------------------------


def test_anchors():
    states = {"a": [0.0, 0.0, 0.0], "b": [0.1, 0.0, 0.0], "c": [5.0, 5.0, 5.0]}
    problem = pr.Stationary(lambda u: u + 0.1 * u**3 - 0.05)
    anchor_of = lambda anchor: np.asarray(pr.rank(problem, states, anchor=anchor).response.anchor)  # noqa: E731
    np.testing.assert_allclose(anchor_of("mean"), [5.1 / 3, 5 / 3, 5 / 3])
    np.testing.assert_array_equal(anchor_of("medoid"), states["b"])
    np.testing.assert_array_equal(anchor_of("c"), states["c"])
    np.testing.assert_array_equal(anchor_of(np.array([1.0, 2.0, 3.0])), [1, 2, 3])
    # Euclidean: a, b and c pull equally often, b is between a and c in the first entry only.
    metric_states = {"a": [0.0, 0.0], "b": [1.0, 9.0], "c": [2.0, 0.0]}
    pick = lambda rule: np.asarray(pr.rank(pr.Stationary(lambda u: u), metric_states, anchor=rule).response.anchor)  # noqa: E731
    np.testing.assert_array_equal(pick(anchors.medoid()), metric_states["a"])
    np.testing.assert_array_equal(pick(anchors.medoid(pr.metrics.weights([1.0, 1e-6]))), metric_states["b"])
    with pytest.raises(ValueError, match=r"'d' is neither mean, medoid nor a valid candidate \(a, b, c\)"):
        anchor_of("d")
    with pytest.raises(ValueError, match=r"shape \(2,\); expected \(3,\)"):
        anchor_of(np.zeros(2))
    with pytest.raises(ValueError, match="NaN or infinite"):
        anchor_of(np.array([np.nan, 0, 0]))


def test_medoid_ties_go_to_the_first():
    square = {"a": [0.0, 0.0], "b": [0.0, 1.0], "c": [1.0, 0.0], "d": [1.0, 1.0]}
    ranking = pr.rank(pr.Stationary(lambda u: u - 0.2), square, anchor="medoid")
    np.testing.assert_array_equal(ranking.response.anchor, square["a"])


# -- resolutions and array kinds ---------------------------------------------------------------------------------------


def test_candidates_of_different_resolution_rank_together():
    problem = burgers(points=64)
    truth = np.asarray(problem.solve(jnp.zeros((6, 64))).state)
    coarse = pr.lifts.lift(truth, (16,), "fourier")
    ranking = pr.rank(problem, {"off": truth + 0.05, "coarse": coarse, "way off": coarse + 0.3})
    assert ranking.order == ["coarse", "off", "way off"]
    field = reaction_diffusion(2, 14)
    truth = np.asarray(field.solve(jnp.zeros((16, 16))).state)
    small = pr.lifts.lift(truth, (8, 8), "sine")
    assert pr.rank(field, {"off": truth * 1.1, "small": small}).order == ["small", "off"]
    own = pr.Stationary(bratu, data=1.0, grid=pr.Grid.nodes(9), shape=(9,))
    assert pr.rank(own, {"a": np.zeros(5), "b": np.ones(9)}).outputs.shape == (2, 9)


@pytest.mark.parametrize(
    "convert",
    [
        np.asarray,
        lambda v: v.astype(np.float32),
        lambda v: torch.tensor(v, requires_grad=True),
        lambda v: torch.tensor(v).float(),
        lambda v: torch.tensor(v).to(torch.bfloat16),
        lambda v: jnp.asarray(v, jnp.float32),
        lambda v: jnp.asarray(v, jnp.bfloat16),
        lambda v: xr.DataArray(v, dims=("t", "x")),
        lambda v: v.astype(np.float16),
        lambda v: v.tolist(),
    ],
    ids=[
        "numpy",
        "float32",
        "torch grad",
        "torch float32",
        "torch bfloat16",
        "jax",
        "jax bfloat16",
        "xarray",
        "float16",
        "list",
    ],
)
def test_any_array_kind(convert):
    candidates = LIBRARIES["burgers"]
    ranking = pr.rank(SMALL["burgers"].problem, {name: convert(v) for name, v in candidates.items()})
    plain = pr.rank(SMALL["burgers"].problem, candidates)
    assert ranking.scores.dtype == np.float64
    np.testing.assert_allclose(ranking.scores, plain.scores, rtol=0.05)


def test_integers_and_leading_axis():
    problem = pr.Stationary(lambda u: u - 2.0)
    ranking = pr.rank(problem, np.array([[1, 1], [2, 2], [5, 5]]))
    assert ranking.names == ("0", "1", "2")
    assert ranking.best == "1"
    named = xr.DataArray(np.array([[1.0, 1.0], [2.0, 2.0]]), dims=("candidate", "x"), coords={"candidate": ["p", "q"]})
    assert pr.rank(problem, named).best == "q"
    assert pr.rank(problem, [np.ones(2), 2 * np.ones(2)]).best == "1"


# -- bad input ---------------------------------------------------------------------------------------------------------

GOOD = {"a": np.zeros(3), "b": np.ones(3)}
ROOT = pr.Stationary(lambda u: u**3 + u - 1.0)


@pytest.mark.parametrize(
    "candidates, message",
    [
        ({}, "No candidates"),
        ([], "No candidates"),
        ({**GOOD, "c": np.ones(4)}, r"Candidate 'c' has shape (4,); expected (3,), the shape of candidate 'a'"),
        (
            {**GOOD, "c": [0.0, np.nan, 1.0]},
            r"Candidate 'c' contains 1 NaN or infinite values, the first at index (1,)",
        ),
        ({**GOOD, "c": [0.0, np.inf, np.nan]}, r"contains 2 NaN or infinite values"),
        ({**GOOD, "c": np.ones(3) * 1j}, "Candidate 'c' is complex"),
        (
            {**GOOD, "c": np.array(["x", "y", "z"])},
            "must be an array of real numbers; got ndarray with dtype <U1",
        ),
        (np.float64(3.0), "needs a leading candidate axis"),
    ],
    ids=["none", "empty list", "shape", "nan", "inf", "complex", "strings", "scalar"],
)
def test_bad_candidates(candidates, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        pr.rank(ROOT, candidates)


def test_bad_shapes_of_a_trajectory():
    with pytest.raises(ValueError, match=r"Candidate 'b' has shape \(5, 32\); expected \(6, 32\)"):
        pr.rank(burgers(), {"a": np.zeros((6, 32)), "b": np.zeros((5, 32))})
    with pytest.raises(ValueError, match=r"Candidate 'a' has shape \(3, 5\); expected \(3, 7\)"):
        pr.rank(pr.Marching(lambda u: u, np.zeros(7)), {"a": np.zeros((3, 5))})


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


def test_excluded_candidates_stay_marked_and_do_not_touch_the_anchor():
    broken = np.array([1.0, np.nan, 1.0])
    ranking = pr.rank(ROOT, {"bad": broken, **GOOD}, invalid="exclude")
    clean = pr.rank(ROOT, GOOD)
    assert ranking.names == ("bad", "a", "b")
    assert np.isnan(ranking.scores[0])
    np.testing.assert_array_equal(ranking.scores[1:], clean.scores)
    np.testing.assert_array_equal(ranking.state, clean.state)
    assert ranking.order == clean.order
    assert ranking.labels().mask[0, 1]
    assert not ranking.labels().mask[1, 2]
    assert "NaN" in ranking.candidates.excluded["bad"]
    assert "excluded" in str(ranking)
    assert ranking.to_dict()["candidates"]["bad"]["excluded"]
    with pytest.raises(ValueError, match="Every candidate contains NaN"):
        pr.rank(ROOT, {"bad": broken}, invalid="exclude")
    with pytest.raises(ValueError, match='"raise" or "exclude"'):
        pr.rank(ROOT, GOOD, invalid="ignore")


def test_boundary_violations_belong_to_the_defect():
    field = reaction_diffusion(2, 6)
    truth = np.asarray(field.solve(jnp.zeros((8, 8))).state)
    lifted_edge = truth.copy()
    lifted_edge[0] += 0.2
    ranking = pr.rank(field, {"violates": lifted_edge, "holds": truth})
    assert ranking.best == "holds"
    np.testing.assert_allclose(ranking.state[0], 0, atol=1e-14)  # the response restores the boundary exactly


@pytest.mark.parametrize(
    "build, message",
    [
        (
            lambda: pr.equations.Burgers(np.zeros(8), -0.1, [0, 1]),
            "viscosity must be positive everywhere; got a minimum of -0.1",
        ),
        (lambda: pr.equations.Burgers(np.zeros(8), 0.0, [0, 1]), "viscosity must be positive"),
        (lambda: pr.equations.Burgers(np.zeros(8), [0.1, 0.2], [0, 1]), "viscosity must be one number"),
        (
            lambda: pr.equations.Burgers(np.zeros(8), 0.1, [0, 1, 0.5]),
            "times must increase strictly; got times[1] = 1, times[2] = 0.5",
        ),
        (lambda: pr.equations.Burgers(np.zeros(8), 0.1, [0.0]), "at least two entries"),
        (lambda: pr.equations.Burgers(np.zeros((8, 8)), 0.1, [0, 1]), "initial must be one-dimensional"),
        (lambda: pr.equations.Burgers([np.nan] * 8, 0.1, [0, 1]), "initial must be finite; got 8 NaN"),
        (lambda: pr.equations.Burgers(np.zeros(8), 0.1, [0, 1], np.full(8, np.inf)), "forcing must be finite"),
        (lambda: pr.equations.Burgers(np.zeros(8), 0.1, [0, 1], lambda t, x: t * x / 0 * 0), "forcing must be finite"),
        (lambda: pr.equations.Burgers(np.zeros(8), 0.1, [0, 1], np.zeros((5, 8))), "with 2 rows; got shape (5, 8)"),
        (lambda: pr.equations.Burgers(np.zeros(8) * 1j, 0.1, [0, 1]), "initial is complex"),
        (
            lambda: pr.equations.ReactionDiffusion(np.zeros((4, 4)), np.ones((4, 4)), 1, 1),
            "diffusion must be positive everywhere",
        ),
        (
            lambda: pr.equations.ReactionDiffusion(np.ones((4, 4)), np.ones((4, 5)), 1, 1),
            "forcing has shape (4, 5); expected (4, 4)",
        ),
        (
            lambda: pr.equations.ReactionDiffusion(np.ones((4, 4)), np.full((4, 4), np.nan), 1, 1),
            "forcing must be finite",
        ),
        (
            lambda: pr.equations.ReactionDiffusion(np.ones((4, 4)), np.ones((4, 4)), -1, 1),
            "linear must be one number ≥ 0",
        ),
        (
            lambda: pr.equations.ReactionDiffusion(np.ones((4, 4)), np.ones((4, 4)), 1, -1),
            "cubic must be one number ≥ 0",
        ),
        (lambda: pr.equations.ReactionDiffusion(np.ones((2, 2)), np.ones((2, 2)), 1, 1), "at least one interior node"),
        (lambda: pr.Correction(count=0), "whole number ≥ 1"),
        (lambda: pr.Correction(backtrack=(-1.0,)), "multipliers ≥ 0"),
        (lambda: pr.Correction(step=0.5, backtrack=(1.0,)), "either step or backtrack"),
    ],
)
def test_bad_physics(build, message):
    with np.errstate(all="ignore"), pytest.raises(ValueError, match=re.escape(message)):
        build()


def test_bad_user_functions():
    with pytest.raises(ValueError, match=r"residual returned shape \(1,\) for a state of shape \(3,\)"):
        pr.rank(pr.Stationary(lambda u: u[:1]), GOOD)
    with pytest.raises(ValueError, match=r"step returned shape \(2,\) for a state of shape \(3,\)"):
        pr.rank(pr.Marching(lambda u: u[:2], np.zeros(3)), {"a": np.zeros((4, 3))})
    with pytest.raises(ValueError, match="forcing has 2 rows; a trajectory of 4 rows takes 3 steps"):
        pr.rank(pr.Marching(lambda u, f: u + f, np.zeros(3), forcing=np.zeros((2, 3))), {"a": np.zeros((4, 3))})
    with pytest.raises(TypeError):
        pr.rank(ROOT, GOOD, tsk=None)  # unknown keywords are refused


# -- failed solves -----------------------------------------------------------------------------------------------------


def test_unconverged_response_is_marked_and_best_needs_permission():
    hard = pr.Stationary(bratu, data=1.0, solver=pr.Krylov(method="cg", max_steps=2))
    candidates = LIBRARIES["stationary, dense"]
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
    assert pr.rank(wild, {"a": np.tile(np.sin(x), (6, 1)), "b": np.zeros((6, 64))}).unresolved
    # A large correction that the equation confirms is fine: any linear problem from a zero anchor.
    linear = pr.rank(pr.Stationary(lambda u: 2 * u - 6.0), {"a": np.zeros(3), "b": np.full(3, 1e-3)})
    assert linear.unresolved is None
    np.testing.assert_allclose(linear.state, 3.0)
    assert linear.defect_reduction < 1e-12


def test_notes_tell_of_slips():
    start = np.sin(np.arange(7.0))
    march = pr.Marching(lambda u: 0.9 * u, start)
    rows = np.stack([0.9**n * start for n in range(4)])
    assert not any("first row" in note for note in pr.rank(march, {"a": rows, "b": rows * 1.01}).notes)
    late = pr.rank(march, {"a": rows[1:], "b": rows[1:] * 1.01})
    assert any(note.startswith("all candidates: the first row differs") for note in late.notes)
    field = reaction_diffusion(2, 6)
    truth = pr.scorers.DirectSolve().solution(field, (8, 8))[0]
    inner_only = pr.rank(field, {"inner": truth[1:-1, 1:-1], "whole": truth})
    assert any(note.startswith("inner: boundary values") for note in inner_only.notes)


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda: pr.rank(GOOD, ROOT), "The order is rank(problem, candidates)"),
        (lambda: pr.rank(ROOT, GOOD, task="field"), "task must come from physrank.tasks"),
        (lambda: pr.tasks.field(metric=3.0), "metric must come from physrank.metrics"),
        (lambda: pr.rank(ROOT, GOOD, anchor=3), 'anchor must be "mean", "medoid"'),
        (lambda: pr.rank(ROOT, {"mean": np.zeros(3)}, anchor="mean"), "both a kind of anchor and a candidate's name"),
        (lambda: pr.rank(ROOT, GOOD, corrections=1.5), "whole number ≥ 1 or a physrank.Correction"),
        (lambda: pr.rank(burgers(), np.zeros((6, 32))), "If this is a single prediction, name it"),
        (lambda: pr.rank(burgers(), {"a": np.zeros((32, 6))}), "has shape (32, 6) ((32, 32) on the problem's grid)"),
        (lambda: pr.Stationary(lambda u, d: u), "residual will be called as residual(state)"),
        (lambda: pr.Stationary(lambda u: u, data=1.0), "residual will be called as residual(state, data)"),
        (lambda: pr.Stationary(lambda u: u, solver="dense"), "solver must be physrank.Dense()"),
        (lambda: pr.Grid.nodes(3, kind="sin"), "Unknown lift 'sin'"),
        (lambda: pr.Marching(lambda a, b: a, np.zeros(3)), "step will be called as step(state)"),
        (lambda: pr.Marching(np.zeros(3), lambda u: u), "step must be a function"),
        (lambda: pr.Krylov("jacobi"), 'method must be "cg", "gmres" or "bicgstab"'),
        (lambda: pr.Correction(step=float("nan")), "step must be a finite number"),
        (lambda: pr.Correction(backtrack=True), "backtrack must list multipliers"),
    ],
)
def test_slips_get_clear_messages(call, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        call()


def test_arrays_given_as_anchor_are_lifted():
    problem = burgers(points=64)
    coarse = np.zeros((6, 16))
    assert pr.rank(problem, {"a": coarse, "b": coarse + 0.1}, anchor=coarse).response.anchor.shape == (6, 64)


def test_public_modules_import_by_name():
    code = "from physrank import anchors, metrics, scorers, tasks; import physrank.tasks; scorers.DirectSolve"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_old_names_say_the_new_one():
    problem = SMALL["burgers"].problem
    for use, new in (
        (lambda: problem.lift_kind, "problem.grid.kind"),
        (lambda: problem.residual_floor, "physrank.residual_floor"),
        (lambda: pr.certificates.until, "physrank.certificates.Certified"),
        (lambda: pr.geometry.Bregman, "physrank.geometry.theory.Bregman"),
        (lambda: pr.plots, "physrank.report"),
        (lambda: pr.rank(problem, LIBRARIES["burgers"]).library, "candidates"),
    ):
        with pytest.raises(AttributeError, match=f"is now.*{new}"):
            use()
    for keyword, new in (("lift", "Grid"), ("weights", "residual_weights"), ("implict", "implicit")):
        with pytest.raises(TypeError, match=new):
            pr.Marching(lambda u: u, np.zeros(3), **{keyword: 1})
    with pytest.raises(TypeError, match=r"grid\.axes"):
        np.sin(problem.grid)


def test_slow_packages_load_when_first_used():
    slow = ("matplotlib", "pandas", "xarray", "mpmath", "torch", "scipy.interpolate", "scipy.special")
    code = f"import sys, physrank; assert not [m for m in {slow} if m in sys.modules], sys.modules.keys() & set({slow})"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_inadmissible_response_is_unresolved_and_backtracking_resolves_it():
    problem = pr.Stationary(lambda x: x**2 - 4, admissible=lambda x: x < 3)
    candidates = {"a": [0.4], "b": [0.6]}
    assert "not admissible" in pr.rank(problem, candidates).unresolved
    damped = pr.rank(problem, candidates, corrections=pr.Correction(backtrack=(0.25, 0.5, 0.75, 1.0)))
    assert damped.unresolved is None
    assert damped.best == "b"


# -- ways out ----------------------------------------------------------------------------------------------------------


def test_json_xarray_and_report(tmp_path):
    ranking = pr.rank(SMALL["burgers"].problem, LIBRARIES["burgers"])
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
        shown = pr.rank(SMALL[case].problem, LIBRARIES[case])
        page = shown.report(tmp_path / "r.html").read_text()
        assert f"Trust {shown.best}" in page
        assert "data:image/png;base64" in page
        assert "http" not in page  # self-contained
    assert ranking.plot().axes


def test_report_escapes_names_and_shows_failure(tmp_path):
    ranking = pr.rank(ROOT, {"<script>alert(1)</script>": np.zeros(3), "b": np.ones(3)})
    assert "<script>" not in ranking.report(tmp_path / "r.html").read_text()
    hard = pr.Stationary(bratu, data=1.0, solver=pr.Krylov(method="cg", max_steps=2))
    page = pr.rank(hard, LIBRARIES["stationary, dense"]).report(tmp_path / "u.html").read_text()
    assert "<h1>Unresolved</h1>" in page
    assert "Trust" not in page


def test_no_global_state_is_touched():
    code = (
        "import jax, jax.numpy as jnp, numpy as np, physrank as pr;"
        "assert not jax.config.jax_enable_x64; r = pr.rank(pr.Stationary(lambda u: u - 1), np.zeros((2, 3)));"
        "assert r.scores.dtype == np.float64 and jnp.ones(1).dtype == jnp.float32 and not jax.config.jax_enable_x64;"
        "import sys; assert 'torch' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_inputs_do_not_recompile():
    """New data of the same shape reuse the compiled response."""
    count = 0

    def residual(u, data):
        nonlocal count
        count += 1  # runs only while tracing
        return u**3 + data["k"] * u - data["f"]

    for k in range(5):
        pr.rank(pr.Stationary(residual, data={"k": 1.0 + k, "f": np.full(3, float(k))}), GOOD)
        if k == 0:
            traced = count
    assert count == traced


# -- faults of the past ------------------------------------------------------------------------------------------------


def test_rescoring_does_not_carry_exclusions_from_one_task_to_the_next():
    problem = pr.Stationary(lambda u: u - 1.0)
    ranking = pr.rank(problem, {"a": np.full(3, 2.0), "b": np.full(3, -2.0)})
    logged = ranking.rescore(tasks.nonlinear(jnp.log, name="log"))
    assert logged.scoring.excluded == {"b": "its score is not finite"}
    assert logged.rescore(tasks.field()).scoring.excluded == {}


def test_the_report_contains_the_certificate(tmp_path):
    case = SMALL["reaction-diffusion 2-D"]
    ranking = pr.rank(case.problem, LIBRARIES["reaction-diffusion 2-D"], until="certified", max_corrections=2)
    page = ranking.report(tmp_path / "r.html").read_text(encoding="utf-8")
    assert "<h2>Certificate</h2>" in page
    assert "validated" in page
    assert all(html.escape(a.statement) in page for a in ranking.certificate.enclosure.assumptions)


def test_a_misspelt_until_costs_no_solve():
    solved = []

    def residual(u):
        solved.append(1)
        return u

    with pytest.raises(ValueError, match="until must be 'certified'"):
        pr.rank(pr.Stationary(residual), {"a": np.ones(2)}, until="certifed")
    assert not solved


def test_a_further_correction_is_timed_and_counted():
    ranking = pr.rank(SMALL["burgers"].problem, LIBRARIES["burgers"])
    again = corrected(ranking)
    assert again.scoring.seconds > ranking.rung.seconds > 0
    assert again.scoring.solves == 2 == again.corrections


def test_misspelt_interpolation_is_refused():
    with pytest.raises(ValueError, match="Unknown lift 'forier'"):
        pr.Marching(lambda u: u, np.zeros(4), grid=pr.Grid((4,), (1.0,), "periodic", "forier"))
    with pytest.raises(ValueError, match="trailing axes"):
        pr.Marching(lambda u: u, np.zeros(4), grid=pr.Grid.periodic(5))
