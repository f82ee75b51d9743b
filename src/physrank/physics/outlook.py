"""What a response leaves open: how far one further correction would move it, and what its tangent does not determine."""

import equinox as eqx
import numpy as np
from jaxtyping import Array, Float

from physrank.geometry.lifts import namespace
from physrank.physics import capabilities
from physrank.physics.problem import Problem
from physrank.physics.response import Correction, Response, residual_norm, respond
from physrank.physics.solvers import norm


class Outlook(eqx.Module):
    """Estimates, none of them bounds."""

    movement: Array  # about how far one further correction would move the state
    contraction: Float[Array, ""]  # ‖movement‖ / ‖correction‖: above one, the correction did not come closer
    defect_norm: Float[Array, ""]  # ‖A(s)‖_Y; NaN where it would cost as much as the answer it gives
    undetermined: Array | None  # a direction of unit size that the equation says nothing about; zero: there is none


def respond_and_look(problem: Problem, anchor: Array, variant: Correction) -> tuple[Response, Outlook]:
    """One response, and what it leaves open. Pure JAX for JAX problems: compile it, batch it."""
    response = respond(problem, anchor, variant)
    movement = capabilities.refine(problem, response.base, response.state)
    size = norm(response.state)
    xp = namespace(size)
    round_off = 1e-12 * xp.where(xp.isfinite(size), size, 0.0)
    # A state that was the solution already moves by round-off only: that is no failure to contract.
    contraction = norm(movement) / xp.maximum(norm(response.correction), round_off + np.finfo(size.dtype).tiny)
    return response, Outlook(
        movement, contraction, _defect_norm(problem, response.state), _free(problem, response.base)
    )


def _defect_norm(problem: Problem, state: Array) -> Float[Array, ""]:
    if capabilities.cheap_to_solve(problem):  # the march has said all: another pass over it would say no more
        return namespace(state).full((), np.nan)
    return residual_norm(problem, problem.defect(state))


def _free(problem: Problem, base: Array) -> Array | None:
    if not isinstance(problem, capabilities.KnowsItsKernel):
        return None
    missing = problem.undetermined(base)
    size = norm(missing)
    xp = namespace(missing)
    lost = size > 0.1 * np.sqrt(max(base.size, 1))  # of a pattern of entries ±1
    return xp.where(lost | ~xp.isfinite(size), missing / xp.where(size > 0, size, 1.0), xp.zeros_like(missing))
