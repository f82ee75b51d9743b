"""What can be wrong with a response, and what a user should know although nothing is."""

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array as JaxArray

from physrank._precision import in_double
from physrank.geometry import TaskSpace
from physrank.geometry.space import Array
from physrank.physics import Problem, Response
from physrank.ranking.candidates import Library

LARGE_CORRECTION = 0.5  # ‖s − w‖ / ‖w‖ above which the nonlinear defect is consulted


@eqx.filter_jit
def _defect_norm(problem: Problem, state: JaxArray) -> JaxArray:
    return jnp.sqrt(problem.residual_energy(problem.defect(state)))


@in_double
def defect_reduction(problem: Problem, response: Response) -> float:
    """‖A(s)‖ / ‖A(w)‖: what the correction left of the nonlinear defect. Small is good; above one it did harm."""
    after = float(_defect_norm(problem, jnp.asarray(response.state)))
    before = float(response.defect_norm)
    return after / before if before > 0 else (0.0 if after == 0 else np.inf)


def unresolved(problem: Problem, response: Response) -> str | None:
    """Why a ranking from this response must not be trusted; None when it may be."""
    if not np.all(np.isfinite(response.state)):
        return (
            "the response is not finite: the anchor may be outside the equation's domain, its tangent singular, "
            "or the problem's data not finite"
        )
    if not response.solved:
        return (
            f"the linear solve did not converge: algebraic defect {float(response.algebraic_norm):.2g} against an anchor "
            f"defect of {float(response.defect_norm):.2g} after {int(response.iterations)} iterations; try a preconditioner, "
            'physrank.Dense(), another restart or max_steps, and method="cg" only for symmetric positive definite tangents'
        )
    if not response.accepted:
        return "no correction was acceptable: every multiplier was inadmissible or raised the defect"
    if not response.admissible:
        return "the corrected state is not admissible; try corrections=physrank.Correction(backtrack=(0.25, 0.5, 0.75, 1.0))"
    moved = float(np.linalg.norm(np.ravel(response.state - response.base)))
    if moved > LARGE_CORRECTION * float(np.linalg.norm(np.ravel(response.base))):
        # A linearisation is suspect when it moves the state this far; the equation itself can tell.
        remaining = defect_reduction(problem, response)
        if not remaining <= 1:
            grew = f"{remaining:.2g} times" if np.isfinite(remaining) else "beyond all numbers"
            return (
                f"the correction raised the defect {grew}: the anchor is too far from a solution for one "
                "linearisation; try another anchor, or corrections=physrank.Correction(backtrack=(0.25, 0.5, 0.75, 1.0))"
            )
    return None


def notes(
    problem: Problem,
    library: Library,
    response: Response,
    outputs: Array,
    space: TaskSpace,
    proxies: tuple[Array, Array],
) -> tuple[str, ...]:
    """Facts that change how a ranking should be read; `proxies` are the outputs of the anchor and of the proxy."""
    found = []
    if int(library.valid.sum()) == 1:
        found.append("only one valid candidate: there is nothing to rank, but its error estimate stands")
    elif np.all(outputs[library.valid] == outputs[library.valid][0]):
        found.append("all candidates give the same output: every pair is a tie")
    found += [f"{_list(names, len(library.names))}: {concern}" for concern, names in library.concerns.items()]
    before, after = proxies
    change = float(space.norm_squared(after - before)) ** 0.5 / (float(space.norm_squared(before)) ** 0.5 or 1.0)
    if change > LARGE_CORRECTION:
        found.append(
            f"the correction changes the anchor's output by {change:.0%}: a linearisation may not reach that far (chaotic or "
            "very wrong); see whether corrections=2 agrees"
        )
    if float(response.multiplier) == 0 and np.all(np.isfinite(response.state)):
        found.append("the step length is zero: these scores are distances to the anchor, and no physics entered them")
    if problem.cheap_to_solve:
        found.append("an explicit sweep solves this equation outright for less: compare scorers.DirectSolve()")
    return tuple(found)


def _list(names: tuple[str, ...], total: int) -> str:
    if len(names) == total > 1:
        return "all candidates"
    return ", ".join(names[:4]) + (f" and {len(names) - 4} more" if len(names) > 4 else "")
