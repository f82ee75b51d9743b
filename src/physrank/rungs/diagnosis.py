"""What can be wrong with a response: why an answer must not be trusted."""

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array as JaxArray

from physrank import compute
from physrank.physics import Problem, Response, fits

LARGE_CORRECTION = 0.5  # ‖s − w‖ / ‖w‖ above which the nonlinear defect is consulted


def defect_reduction(problem: Problem, response: Response) -> float:
    """‖A(s)‖ / ‖A(w)‖: what the correction left of the nonlinear defect. Small is good; above one it did harm."""
    after, before = defect_norm(problem, np.asarray(response.state)), float(response.defect_norm)
    return after / before if before > 0 else (0.0 if after == 0 else np.inf)


def residual_floor(problem: Problem, reference: np.ndarray, anchor: np.ndarray | None = None) -> float:
    """‖A(reference)‖_Y, relative to ‖A(anchor)‖_Y when an anchor is given.

    Zero for the problem's own solution. A reference made by another discretisation has a floor: below it, a small
    defect no longer means a small error.
    """
    norms = []
    for name, state in (("reference", reference), ("anchor", anchor)):
        if state is None:
            continue
        if not fits(np.shape(state), problem.state_shape):
            raise ValueError(
                f"{name} has shape {np.shape(state)}; expected a state of this problem, {problem.state_shape}."
            )
        norms.append(defect_norm(problem, np.asarray(state, np.float64)))
        if not np.isfinite(norms[-1]):
            raise ValueError(f"The defect of the {name} is not finite: is it in the problem's own variables?")
    if anchor is None:
        return norms[0]
    if norms[1] == 0:
        raise ValueError("The anchor's defect is zero: it solves the problem, and nothing can be relative to it.")
    return norms[0] / norms[1]


def defect_norm(problem: Problem, state: np.ndarray) -> float:
    """‖A(state)‖_Y."""
    return float(compute.run(_defect_norm, problem, state))


def _defect_norm(problem: Problem, state: JaxArray) -> JaxArray:
    return jnp.sqrt(problem.residual_energy(problem.defect(state)))


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
