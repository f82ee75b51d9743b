"""Notes that tell of slips, and of corrections that reach too far."""

import re

import jax.numpy as jnp
import numpy as np
import pytest

import physrank as pr
from physrank.ranking.diagnosis import LARGE_CORRECTION
from problems import reaction_diffusion


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


REMARK = r"the correction changes the anchor's output by (\d+)%: a linearisation may not reach that far"


def remarked(ranking):
    found = [re.match(REMARK, note) for note in ranking.notes]
    return [int(match[1]) for match in found if match]


def growing(start, rows=10):
    states = [np.asarray(start, float)]
    for _ in range(rows - 1):
        states.append(1.5 * states[-1] - 0.1 * states[-1] ** 3)
    return np.stack(states)


def test_a_correction_that_changes_the_output_strongly_is_noted():
    """Small differences grow by half per step, towards ±√5: a slightly wrong start ends on the wrong side."""
    start = 0.05 * np.array([1.0, 1.2, 0.9])
    problem = pr.Marching(lambda u: 1.5 * u - 0.1 * u**3, start)
    astray = {"a": growing(-start), "b": growing(-0.9 * start)}
    ranking = pr.rank(problem, astray, task=pr.tasks.terminal(), allow_unresolved=True)
    anchor = np.mean([rows[-1] for rows in astray.values()], axis=0)
    change = np.linalg.norm(ranking.state[-1] - anchor) / np.linalg.norm(anchor)
    assert change > LARGE_CORRECTION
    assert remarked(ranking) == [pytest.approx(100 * change, abs=1)]
    near = {"a": growing(1.01 * start), "b": growing(0.98 * start)}
    assert remarked(pr.rank(problem, near, task=pr.tasks.terminal())) == []


def test_the_note_is_about_the_output_that_is_compared():
    """Only the last of three components grows: a task that looks at the others has nothing to note."""
    start = np.array([1.0, 1.0, 0.01])
    growth = jnp.array([1.0, 1.0, 2.0])
    problem = pr.Marching(lambda u: growth * u, start)
    rows = np.stack([np.array([1.0, 1.0, 0.01 * 2.0**n]) for n in range(5)])
    wrong = {"a": rows * np.array([1.0, 1.0, 0.1]), "b": rows * np.array([1.0, 1.01, 0.2])}
    last, others = (pr.tasks.linear(lambda s, i=i: s[-1, i]) for i in (slice(2, 3), slice(0, 2)))
    ranking = pr.rank(problem, wrong, task=last)
    assert remarked(ranking) == [567]  # 0.15 of the truth, corrected to all of it
    assert remarked(ranking.rescore(others)) == []
    assert remarked(pr.rank(problem, wrong)) == []  # the whole state hardly changes
