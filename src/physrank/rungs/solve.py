"""The yardstick as a rung: the equation itself solved, on the problem's grid or a coarser one."""

import time

import numpy as np
from jaxtyping import Array as JaxArray

from physrank import compute
from physrank.geometry.space import Array
from physrank.physics import NonlinearSolve, Problem, capabilities
from physrank.rungs.evidence import OnGrid
from physrank.rungs.rung import Question, Rung


def solve(
    problem: Problem,
    coarse: Problem,
    shape: tuple[int, ...],
    question: Question,
    name: str,
    guess: Array | None = None,
) -> Rung:
    """`coarse` is the problem itself or a coarser statement of it; `shape` that of a state of the problem."""
    started = time.perf_counter()
    state, failed = solution(problem, coarse, shape, guess)
    # Solved to round-off on its own grid: there is nothing left to move. A coarser one does not know how far it is off.
    found = OnGrid(state, state, movements={"linearisation": np.zeros_like(state)} if coarse is problem else {})
    seconds = time.perf_counter() - started
    return Rung(name, question, found, found.seen(question.task), solves=1, seconds=seconds, failed=failed)


def solution(
    problem: Problem, coarse: Problem, shape: tuple[int, ...], guess: Array | None = None
) -> tuple[Array, str | None]:
    """The solution on the problem's grid, and why it failed if it did; searched from `guess`, or from zero."""
    if shape is None:
        raise ValueError(
            f"{type(problem).__name__} does not say how large its states are; pass the shape of one instead of None."
        )
    own = coarse.state_shape or shape
    if guess is None:
        guess = np.zeros(tuple(n if n is not None else m for n, m in zip(own, shape, strict=True)))
    result = compute.run(_solve, coarse, guess)
    lifted = capabilities.raised(problem, result.state, shape)
    if lifted.shape != shape:
        raise ValueError(f"The coarse solution has shape {lifted.shape} after lifting; expected {shape}.")
    if not bool(result.converged):
        return lifted, "the direct solve did not converge"
    return lifted, None if bool(compute.run(_admissible, coarse, result.state)) else "the solution is not admissible"


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


def _admissible(problem: Problem, state: JaxArray) -> JaxArray:
    return capabilities.admissible(problem, state)


def _solve(problem: Problem, guess: JaxArray) -> NonlinearSolve:
    return problem.solve(guess)
