"""A library that grows by one candidate after another: how far anchor and proxy move, and what that changes."""

from typing import Any

import jax
import numpy as np

from physrank import compute, geometry, ranking
from physrank.geometry.space import Array
from physrank.ranking import Ranking


def grown(problem: Any, candidates: dict[str, Array]) -> dict[str, Array]:
    """One input: how far anchor and proxy move when a candidate joins, both in task space, and what that changes."""
    names, before, rows = list(candidates), None, []
    for size in range(2, len(names) + 1):
        found = ranking.rank(
            problem, {n: candidates[n] for n in names[:size]}, anchor="mean", corrections=1, allow_unresolved=True
        )
        if before is not None:
            rows.append(_joined(before, found))
        before = found
    return {name: np.array([row[name] for row in rows]) for name in rows[0]}


def _joined(before: Ranking, after: Ranking) -> dict[str, float]:
    """w' − w = (v − w)/(N + 1), and of older pairs G(q') − G(q) = 2⟨q' − q, y_i − y_j⟩: both exactly.

    q' − q itself is foreseen to first order in w' − w; `unforeseen` is what is missing, as a share of the move.
    """
    old, new = (np.asarray(one.response.anchor) for one in (before, after))
    number, joining = len(before.names), after.candidates.states[-1]
    space, moved = after.space, after.proxy - before.proxy
    products = space.inner(moved, before.outputs)
    exact = 2 * (products[:, None] - products[None, :])
    gaps, gaps_after = geometry.gap_matrix(before.scores), geometry.gap_matrix(after.scores[:number])
    upper = np.triu_indices(number, 1)
    scale = max(float(np.abs(after.scores).max()), np.finfo(float).tiny)
    change = compute.run(newton_derivative, after.problem, old, np.asarray(before.response.correction), new - old)
    anchors = after.task.outputs(np.stack([old, new, old + np.asarray(change)]))
    return {
        "anchor": float(space.norm(anchors[1] - anchors[0])),
        "proxy": float(space.norm(moved)),
        "unforeseen": float(
            space.norm(moved - (anchors[2] - anchors[0])) / max(space.norm(moved), np.finfo(float).tiny)
        ),
        "changed": int(np.sum(np.sign(gaps[upper]) != np.sign(gaps_after[upper]))),
        "older": len(upper[0]),
        "anchor identity": float(np.abs(new - old - (joining - old) / (number + 1)).max() / np.abs(new).max()),
        "gap identity": float(np.abs(gaps_after - gaps - exact).max() / scale),
    }


def newton_derivative(problem: Any, anchor: Any, correction: Any, direction: Any) -> Any:
    """Of the corrected state w − L⁻¹A(w) along a direction h: −L⁻¹ A″(w)[h, δ], with the correction δ at w."""
    tangent = lambda state: jax.jvp(problem.defect, (state,), (correction,))[1]  # noqa: E731
    bent = jax.jvp(tangent, (anchor,), (direction,))[1]
    return -problem.linearise(anchor)[1].solve(bent).value
