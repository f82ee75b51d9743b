"""What a response leaves open: how far one further correction would move it, and what its tangent does not determine."""

import equinox as eqx
import numpy as np
from jaxtyping import Array, Float

from physrank.geometry.lifts import namespace
from physrank.physics import capabilities
from physrank.physics.problem import Problem
from physrank.physics.response import Correction, Response, residual_norm, respond
from physrank.physics.solvers import norm

LOST = 1e-3  # of a pattern, that two solves do not give back: a condition of about 3e14
WAVERS = 0.5  # of a tangent's hold on its weakest direction: when more of it changes, Newton's steps prove nothing


class Outlook(eqx.Module):
    """Estimates, none of them bounds."""

    movement: Array  # about how far one further correction would move the state
    contraction: Float[Array, ""]  # ‖movement‖ / ‖correction‖: above one, the correction did not come closer
    loose: Float[
        Array, ""
    ]  # the same where the equation says something: what follows the movement is about so much smaller
    # than it, and points anywhere. Zero for a march that has been solved: nothing follows
    defect_norm: Float[Array, ""]  # ‖A(s)‖_Y; NaN where it would cost as much as the answer it gives
    undetermined: Array | None  # a direction of unit size that the equation says nothing about; zero: there is none
    wavering: Array | None  # one in which the tangent is no longer what it was; zero: there is none

    @property
    def directions(self) -> dict[str, np.ndarray]:
        """In which nothing is known of the state, by cause."""
        named = {"undetermined": self.undetermined, "wavering": self.wavering}
        return {cause: np.asarray(direction) for cause, direction in named.items() if direction is not None}


def respond_and_look(problem: Problem, anchor: Array, variant: Correction) -> tuple[Response, Outlook]:
    """One response, and what it leaves open. Pure JAX for JAX problems: compile it, batch it."""
    response = respond(problem, anchor, variant)
    defect, movement = capabilities.refine(problem, response.base, response.state)
    size = norm(response.state)
    xp = namespace(size)
    free, weak = _directions(problem, response.base, response.state)
    # A state that was the solution already moves by round-off only: that is no failure to contract.
    least = 1e-12 * xp.where(xp.isfinite(size), size, 0.0) + np.finfo(size.dtype).tiny
    contraction = norm(movement) / xp.maximum(norm(response.correction), least)
    if capabilities.cheap_to_solve(problem):
        loose = xp.zeros_like(contraction)
    else:
        held, correction = without(free, movement), without(free, response.correction)
        loose = xp.minimum(norm(held) / xp.maximum(norm(correction), least), 1.0)
    return response, Outlook(movement, contraction, loose, _defect_norm(problem, response.state, defect), free, weak)


def without(direction: Array | None, vector: Array) -> Array:
    """A vector but for its part along a direction of unit size, or of none."""
    xp = namespace(vector)
    return vector if direction is None else vector - xp.sum(xp.real(xp.conj(direction) * vector)) * direction


def _defect_norm(problem: Problem, state: Array, defect: Array | None) -> Float[Array, ""]:
    if capabilities.cheap_to_solve(problem):  # the march has said all: another pass over it would say no more
        return namespace(state).full((), np.nan)
    return residual_norm(problem, problem.defect(state) if defect is None else defect)


def _directions(problem: Problem, base: Array, state: Array) -> tuple[Array | None, Array | None]:
    """What is not determined, and what is held otherwise at the state than where it was linearised."""
    if not isinstance(problem, capabilities.KnowsItsKernel):
        return None, None
    missing = problem.undetermined(base)
    size = norm(missing)
    xp = namespace(missing)
    # A pattern of entries of about one: what rounding takes from a tangent that determines everything is far less, and a
    # constant on a few nodes out of many is no more.
    lost = (size > LOST * np.sqrt(max(base.size, 1))) | ~xp.isfinite(size)
    free = xp.where(lost, missing / xp.where(size > 0, size, 1.0), xp.zeros_like(missing))
    weak, change = problem.wavering(base, state)
    return free, xp.where(~lost & (change > WAVERS), weak, xp.zeros_like(weak))
