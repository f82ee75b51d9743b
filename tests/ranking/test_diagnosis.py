"""Notes that tell of slips, doubts about corrections that reach too far, and no nagging."""

import jax.numpy as jnp
import numpy as np

import physrank as pr
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


def growing(start, rows=10):
    states = [np.asarray(start, float)]
    for _ in range(rows - 1):
        states.append(1.5 * states[-1] - 0.1 * states[-1] ** 3)
    return np.stack(states)


def test_an_anchor_on_the_wrong_side_settles_nothing_that_is_not_so():
    """Small differences grow by half per step, towards ±√5: a slightly wrong start ends on the wrong side."""
    start = 0.05 * np.array([1.0, 1.2, 0.9])
    problem = pr.Marching(lambda u: 1.5 * u - 0.1 * u**3, start)
    astray = {"a": growing(-start), "b": growing(-0.9 * start)}
    ranking = pr.rank(problem, astray, task=pr.tasks.terminal(), allow_unresolved=True)
    truth = growing(start)[-1]
    distances = {name: np.linalg.norm(rows[-1] - truth) for name, rows in astray.items()}
    assert not ranking.settled or ranking.best == min(distances, key=distances.get)
    assert ranking.error_uncertainty > 0.5 * np.nanmin(ranking.error_estimates)
    near = pr.rank(problem, {"a": growing(1.01 * start), "b": growing(0.95 * start)}, task=pr.tasks.terminal())
    assert near.settled
    assert near.doubts == ()


def test_a_linear_problem_has_no_doubt_however_far_the_anchor_is():
    growth = jnp.array([1.0, 1.0, 2.0])
    problem = pr.Marching(lambda u: growth * u, np.array([1.0, 1.0, 0.01]))
    far = {"a": 50.0 * np.ones((6, 3)), "b": -49.0 * np.ones((6, 3)), "c": 52.0 * np.ones((6, 3))}
    ranking = pr.rank(problem, far, task=pr.tasks.terminal())
    assert ranking.settled
    assert not [text for text in ranking.doubts + ranking.notes if "linearis" in text or "explicit sweep" in text]
