"""The yardstick as a rung: the equation itself solved, on the problem's grid or a coarser one."""

from dataclasses import replace

import equinox as eqx
import numpy as np
from jaxtyping import Array as JaxArray
from jaxtyping import Bool

from physrank import compute
from physrank.geometry.space import Array
from physrank.physics import Correction, Problem, capabilities, respond_and_look
from physrank.physics.rescue import SAID, rescue
from physrank.rungs.evidence import OnGrid
from physrank.rungs.question import Question
from physrank.rungs.rung import Rung

NAME = "solve on the problem's grid"


class Solved(eqx.Module):
    """A solution and how it was found."""

    state: JaxArray
    converged: Bool[JaxArray, ""]
    admissible: Bool[JaxArray, ""]

    @property
    def failed(self) -> str | None:
        """Why it must not be trusted; None: it may be."""
        if not bool(self.converged):
            return "the direct solve did not converge"
        return None if bool(self.admissible) else "the solution is not admissible"


def solved(problem: Problem, guess: JaxArray) -> Solved:
    """Pure JAX for JAX problems: compile it, batch it."""
    found = problem.solve(guess)
    return Solved(found.state, found.converged, capabilities.admissible(problem, found.state))


def retried(problem: Problem, guess: Array, found: Solved) -> tuple[Solved, tuple[str, ...]]:
    """The same by a direct solver where an iteration did not converge, with a word on it."""
    if bool(found.converged) or (other := rescue(problem, guess)) is None:
        return found, capabilities.remarks(problem)
    again = compute.run(solved, other, guess)
    return (again, (SAID,)) if bool(again.converged) else (found, ())


def solve_rung(problem: Problem, question: Question, found: Solved, seconds: float) -> Rung:
    """A solution on the problem's own grid, to round-off: nothing is left to move, unless its tangent is nearly singular."""
    state = np.asarray(found.state)
    evidence = OnGrid(state, state, movements={"linearisation": np.zeros_like(state)})
    if found.failed is None and isinstance(problem, capabilities.KnowsItsKernel):
        evidence = _looked(problem, evidence)
    return Rung(NAME, question, evidence, evidence.seen(question.task), 1, seconds, found.failed)


def _looked(problem: Problem, evidence: OnGrid) -> OnGrid:
    """A solve stops where the defect is small. Whether the solution is near as well, the next correction tells."""
    response, outlook = compute.run(respond_and_look, problem, evidence.state, Correction())
    movement = np.asarray(response.state) - evidence.state + np.asarray(outlook.movement)
    return replace(evidence, movements={"linearisation": movement}, free=outlook.directions)


def solution(problem: Problem, coarse: Problem, shape: tuple[int, ...] | None) -> tuple[Array, str | None]:
    """The solution on the problem's grid, for states of `shape`, and why it failed if it did."""
    if shape is None:
        raise ValueError(
            f"{type(problem).__name__} does not say how large its states are; pass the shape of one instead of None."
        )
    own = coarse.state_shape or shape
    guess = np.zeros(tuple(n if n is not None else m for n, m in zip(own, shape, strict=True)))
    found = compute.run(solved, coarse, guess)
    lifted = capabilities.raised(problem, found.state, shape)
    if lifted.shape != shape:
        raise ValueError(f"The coarse solution has shape {lifted.shape} after lifting; expected {shape}.")
    return lifted, found.failed


def coarsened(
    problem: Problem, *, points: int | None = None, substeps: int | None = None, rows: int | None = None
) -> Problem:
    """The problem as stated on a coarser grid, where it can be."""
    options = {"points": points, "substeps": substeps, "rows": rows}
    options = {key: value for key, value in options.items() if value is not None}
    if not options:
        return problem
    if not isinstance(problem, capabilities.Coarsens):
        raise ValueError(
            f"{type(problem).__name__} cannot be coarsened by itself; pass DirectSolve(on=coarser_problem)."
        )
    return problem.coarsen(**options)
