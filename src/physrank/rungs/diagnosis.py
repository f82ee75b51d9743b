"""What can be wrong with a response: why an answer must not be trusted."""

from typing import Any

import numpy as np
from jaxtyping import Array as JaxArray

from physrank import compute
from physrank._arrays import to_numpy
from physrank.physics import Outlook, Problem, Response, fits
from physrank.physics.response import residual_norm

UNCHANGED = 1 + 1e-9  # of a defect computed twice, by two programs
SUSPECT = 0.3  # of a correction that a further one would move: from there on, a march is asked for its defect after all
LARGE_CORRECTION = 0.5  # ‖s − w‖ / ‖w‖ above which a response that did not look ahead consults the defect


def defect_reduction(problem: Problem, response: Response) -> float:
    """‖A(s)‖ / ‖A(w)‖: what the correction left of the nonlinear defect. Small is good; above one it did harm."""
    after, before = defect_norm(problem, np.asarray(response.state)), float(response.defect_norm)
    return _ratio(after, before)


def residual_floor(problem: Problem, reference: Any, anchor: Any = None) -> float:
    """‖A(reference)‖_Y, relative to ‖A(anchor)‖_Y when an anchor is given.

    Zero for the problem's own solution. A reference made by another discretisation has a floor: below it, a small
    defect no longer means a small error.

    ```python
    print(pr.residual_floor(problem, reference, anchor=prediction))
    ```
    """
    norms = []
    for name, state in (("reference", reference), ("anchor", anchor)):
        if state is None:
            continue
        state = to_numpy(name, state, allow_complex=True)
        if not fits(state.shape, problem.state_shape):
            raise ValueError(
                f"{name} has shape {state.shape}; expected a state of this problem, {problem.state_shape}."
            )
        norms.append(defect_norm(problem, state))
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
    return residual_norm(problem, problem.defect(state))


def known_reduction(response: Response, outlook: Outlook | None) -> float | None:
    """`defect_reduction` where the response already found it out."""
    if outlook is None or not np.isfinite(outlook.defect_norm):
        return None
    return _ratio(float(outlook.defect_norm), float(response.defect_norm))


def unresolved(problem: Problem, response: Response, outlook: Outlook | None) -> str | None:
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
    return _too_far(problem, response, outlook)


def _too_far(problem: Problem, response: Response, outlook: Outlook | None) -> str | None:
    """Whether the correction came no closer to a solution: then the linearisation did not reach."""
    remedy = "try another anchor, or corrections=physrank.Correction(backtrack=(0.25, 0.5, 0.75, 1.0))"
    reduction = known_reduction(response, outlook)
    suspect = _large(response) if outlook is None else not float(outlook.contraction) <= SUSPECT
    if reduction is None and suspect:  # the equation itself can tell
        reduction = defect_reduction(problem, response)
    if outlook is not None and outlook.undetermined is not None and np.any(outlook.undetermined):
        return None  # it moves where nothing holds it: that leaves pairs open, but is no failure to linearise
    small = 1e-12 * max(float(np.abs(response.state).max(initial=0.0)), np.finfo(float).tiny)
    if reduction is not None and reduction > UNCHANGED and float(np.abs(response.correction).max(initial=0.0)) > small:
        grew = f"{reduction:.2g} times" if np.isfinite(reduction) else "beyond all numbers"
        return f"the correction raised the defect {grew}: the anchor is too far from a solution to linearise once; {remedy}"
    if outlook is not None and not np.isfinite(outlook.contraction):
        return f"nobody can tell how far a further correction would move it: it is not finite; {remedy}"
    return None


def _large(response: Response) -> bool:
    unit = max(float(np.abs(response.base).max(initial=0.0)), np.finfo(float).tiny)
    moved, size = (float(np.linalg.norm(np.ravel(x / unit))) for x in (response.state - response.base, response.base))
    return moved > LARGE_CORRECTION * size


def _ratio(after: float, before: float) -> float:
    return after / before if before > 0 else (0.0 if after == 0 else np.inf)
