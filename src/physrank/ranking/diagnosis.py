"""What a user should know about a ranking although nothing is wrong with it."""

import numpy as np

from physrank.physics import Problem, capabilities
from physrank.ranking.candidates import Candidates
from physrank.rungs import Rung
from physrank.rungs.diagnosis import LARGE_CORRECTION


def notes(problem: Problem, candidates: Candidates, rung: Rung) -> tuple[str, ...]:
    """Facts that change how a ranking should be read."""
    outputs, space, response = rung.question.outputs, rung.question.space, rung.response
    found = []
    if int(candidates.valid.sum()) == 1:
        found.append("only one valid candidate: there is nothing to rank, but its error estimate stands")
    elif np.all(outputs[candidates.valid] == outputs[candidates.valid][0]):
        found.append("all candidates give the same output: every pair is a tie")
    found += [f"{_list(names, len(candidates.names))}: {concern}" for concern, names in candidates.concerns.items()]
    start = rung.base if response is None else np.asarray(response.anchor)
    before, after = rung.question.task.outputs(start[None])[0], rung.proxy
    change = float(space.norm_squared(after - before)) ** 0.5 / (float(space.norm_squared(before)) ** 0.5 or 1.0)
    if change > LARGE_CORRECTION:
        found.append(
            f"the correction changes the anchor's output by {change:.0%}: a linearisation may not reach that far (chaotic or "
            "very wrong); see whether corrections=2 agrees"
        )
    if response is not None and float(response.multiplier) == 0 and np.all(np.isfinite(rung.state)):
        found.append("the step length is zero: these scores are distances to the anchor, and no physics entered them")
    if capabilities.cheap_to_solve(problem):
        found.append("an explicit sweep solves this equation outright for less: compare scorers.DirectSolve()")
    return tuple(found)


def _list(names: tuple[str, ...], total: int) -> str:
    if len(names) == total > 1:
        return "all candidates"
    return ", ".join(names[:4]) + (f" and {len(names) - 4} more" if len(names) > 4 else "")
