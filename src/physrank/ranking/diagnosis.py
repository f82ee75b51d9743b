"""What a user should know about a ranking: notes of fact, and doubts about its verdict."""

from typing import Any

import numpy as np

from physrank.ranking.candidates import Candidates
from physrank.rungs import Rung

ALOOF = 3.0  # best estimated error over the spread of the candidates, from which it is worth a word
OUTLYING = 10.0  # times the usual estimated error, from which a candidate is not one of the others
USELESS = (
    "even the best candidate is as far from the solution as nothing at all (zero) would be: none of them is usable"
)
CAUSES = {
    "linearisation": "a further correction would move them as far as they are apart: correct again, or rank until='settled'",
    "algebra": "they differ by no more than the solve and its rounding leave",
    "undetermined": "the equation does not determine the direction in which they differ (a free constant? a nearly singular "
    "tangent?): add what fixes it, such as a mean or a boundary value",
    "wavering": "they differ in a direction in which the equation holds the corrected state quite otherwise than the anchor: "
    "a front that drifts, a fold, a state that is only metastable. The solution may be far although corrections are small: "
    "start closer to it (an anchor), or solve (effort='solve')",
    "data": "the stated uncertainty of the data could exchange them",
    "discretisation": "the grid is too coarse to separate them",
    "resolution": "the problem's own grid does not resolve its solution: more than 1 % of the variance lies where it ends; "
    "use more points",
    "unseen": "the problem's own grid sees something that the coarser ones do not",
}


def notes(candidates: Candidates, rung: Rung, left_out: dict[str, str]) -> tuple[str, ...]:
    """Facts that change how a ranking should be read."""
    response, found = rung.response, []
    if int(candidates.valid.sum()) == 1:
        found.append("only one valid candidate: there is nothing to rank, but its error estimate stands")
    elif rung.question.all_equal:
        found.append("all candidates give the same output: every pair is a tie")
    elif rung.failed is None and np.nanmin(rung.scores) >= rung.proxy_size**2 > 0:
        found.append(USELESS)
    found += [f"{_list(names, len(candidates.names))}: {concern}" for concern, names in candidates.concerns.items()]
    found += [f"{name} had no part in the anchor: {why}" for name, why in left_out.items()]
    if response is not None and float(response.multiplier) == 0 and np.all(np.isfinite(rung.state)):
        found.append("the step length is zero: these scores are distances to the anchor, and no physics entered them")
    return tuple(found)


def doubts(ranking: Any) -> tuple[str, ...]:
    """Why what was asked for may not be so, most telling first."""
    if ranking.unresolved:
        return (ranking.unresolved,)
    found: list[str] = []
    valid = np.flatnonzero(ranking.scoring.valid)
    rows = np.ix_(valid, valid)
    is_open = ~ranking.settled_pairs[rows]
    for cause, part in ranking.rung.parts.items():
        alone = is_open & (part[rows] >= 0.5 * ranking.rung.uncertainty[rows]) & (part[rows] > 0)
        if alone.any():
            count = int(np.triu(alone | alone.T, 1).sum())
            found.append(f"{count} pair{'s are' if count > 1 else ' is'} open: {CAUSES.get(cause, cause)}")
    if is_open.any() and not found:
        known = np.isfinite(ranking.rung.uncertainty[rows][is_open]).all()
        told = (
            "several causes together could exchange open pairs"
            if known
            else "how far this ranking may still move is not known"
        )
        found.append(told)
    return tuple(found + _aloof(ranking, valid) + list(ranking.rung.remarks))


def _aloof(ranking: Any, valid: np.ndarray) -> list[str]:
    """All candidates agree with each other and not with the physics: shift does that, and so does a wrong equation."""
    if len(valid) < 2:
        return []
    errors = np.sqrt(ranking.scoring.values[valid])
    agreeing = valid[errors <= OUTLYING * np.median(errors)]  # one absurd candidate must not hide that the others agree
    spread = float(np.nanmax(ranking.rung.question.distances[np.ix_(agreeing, agreeing)]))
    nearest = float(np.min(errors))
    size = float(ranking.space.norm(ranking.rung.question.measured(ranking.proxy)))
    if not (nearest > ALOOF * spread and spread > 1e-6 * size):
        return []
    return [
        f"every candidate is {nearest / spread:.1f} times as far from this equation's solution as they are from each other: "
        "inputs far from training do that, and so does a mis-stated equation (a coefficient, a length, the times, the "
        "forcing); physrank.check(problem, known) tells from one known solution",
    ]


def _list(names: tuple[str, ...], total: int) -> str:
    if len(names) == total > 1:
        return "all candidates"
    return ", ".join(names[:4]) + (f" and {len(names) - 4} more" if len(names) > 4 else "")
