"""`rank`: law 5, compilation, and the slips of those who call it."""

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import physrank as pr
from helpers import solve
from libraries import GOOD, ROOT, SMALL, every_case, library
from physrank import anchors
from physrank.ranking.settings import _plan
from physrank.rungs.effort import EFFORTS
from problems import burgers, reaction_diffusion


@every_case
@pytest.mark.parametrize("anchor", ["mean", "medoid"])
def test_permutation_permutes_everything(name, anchor):
    problem, candidates = SMALL[name].problem, library(name)
    plain = pr.rank(problem, candidates, anchor=anchor)
    shuffled = pr.rank(problem, {key: candidates[key] for key in ("m2", "m0", "m3", "m1")}, anchor=anchor)
    assert plain.order == shuffled.order
    for key in candidates:
        a, b = plain.scores[plain.names.index(key)], shuffled.scores[shuffled.names.index(key)]
        np.testing.assert_allclose(a, b, rtol=1e-9)
    np.testing.assert_allclose(plain.state, shuffled.state, rtol=1e-9, atol=1e-11)


def test_permutation_sabotaged():
    """An anchor that depends on the order breaks the law."""
    problem, candidates = SMALL["burgers"].problem, library("burgers")
    first = anchors.Anchor("first", lambda _, states: states[0])
    plain = pr.rank(problem, candidates, anchor=first)
    shuffled = pr.rank(problem, dict(reversed(candidates.items())), anchor=first)
    with pytest.raises(AssertionError):
        np.testing.assert_allclose(plain.state, shuffled.state, rtol=1e-9, atol=1e-11)


@every_case
def test_duplicates_change_nothing_else(name):
    problem, candidates = SMALL[name].problem, library(name)
    anchor = anchors.candidate("m1")  # the mean would move with a duplicate, and should
    plain = pr.rank(problem, candidates, anchor=anchor)
    doubled = pr.rank(problem, {**candidates, "copy": candidates["m2"]}, anchor=anchor)
    np.testing.assert_array_equal(doubled.scores[:4], plain.scores)
    assert doubled.scores[4] == doubled.scores[2]
    assert doubled.labels()[4, 2] == 0
    assert [n for n in doubled.order if n != "copy"] == plain.order
    assert doubled.order.index("m2") < doubled.order.index("copy")  # ties by order
    assert doubled.subspace.rank == plain.subspace.rank == 3


@settings(max_examples=15, deadline=None)
@given(st.permutations(range(4)), st.integers(0, 3))
def test_permutations_and_duplicates_drawn(permutation, copied):
    problem, candidates = SMALL["stationary, dense"].problem, library("stationary, dense")
    order = pr.rank(problem, candidates, anchor="m0").order
    shuffled = {f"m{k}": candidates[f"m{k}"] for k in permutation} | {"copy": candidates[f"m{copied}"]}
    assert [n for n in pr.rank(problem, shuffled, anchor="m0").order if n != "copy"] == order


def test_boundary_violations_belong_to_the_defect():
    field = reaction_diffusion(2, 6)
    truth = solve(field)
    lifted_edge = truth.copy()
    lifted_edge[0] += 0.2
    ranking = pr.rank(field, {"violates": lifted_edge, "holds": truth})
    assert ranking.best == "holds"
    np.testing.assert_allclose(ranking.state[0], 0, atol=1e-14)  # the response restores the boundary exactly


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda: pr.rank(GOOD, ROOT), "The order is rank(problem, candidates)"),
        (lambda: pr.rank(ROOT, GOOD, task="field"), "task must come from physrank.tasks"),
        (lambda: pr.tasks.field(metric=3.0), "metric must come from physrank.metrics"),
        (lambda: pr.rank(ROOT, GOOD, anchor=3), 'anchor must be "auto", "mean", "medoid"'),
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


def test_a_misspelt_until_costs_no_solve():
    solved = []

    def residual(u):
        solved.append(1)
        return u

    with pytest.raises(ValueError, match="until must be 'settled', 'certified'"):
        pr.rank(pr.Stationary(residual), {"a": np.ones(2)}, until="certifed")
    assert not solved


def test_a_further_correction_is_timed_and_counted():
    ranking = pr.rank(SMALL["burgers"].problem, library("burgers"), effort="response")
    again = ranking.corrected()
    assert again.scoring.seconds > ranking.rung.seconds > 0
    assert again.scoring.solves == 2 == again.corrections


def test_whoever_names_an_anchor_corrections_or_a_rule_means_the_response():
    auto, response = EFFORTS["auto"], EFFORTS["response"]
    assert [_plan(None, anchor, None, None) for anchor in (None, "auto", "mean")] == [auto, auto, response]
    assert _plan(None, None, 2, None) == _plan(None, "auto", None, "settled") == response
    assert _plan("solve", "mean", 2, "settled") == EFFORTS["solve"]  # unless the effort is named
