"""The shared response: one linearised solve at the anchor, A'(w) δ = −A(w), and its variants."""

import math
from dataclasses import dataclass, replace

import equinox as eqx
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from physrank import compute
from physrank.geometry.lifts import namespace
from physrank.physics import capabilities
from physrank.physics.problem import Problem


@dataclass(frozen=True)
class Correction:
    """How the anchor is corrected. The default, one full correction, is the method.

    - `count`: how many corrections, each linearised at the previous result.
    - `midpoint`: linearise a second time at w + δ/2 and solve again with the same defect: cubic instead of quadratic
      error for smooth equations, at twice the cost.
    - `step`: take s = w + step · δ (a partial correction, or an extrapolation above one).
    - `backtrack`: multipliers to choose from; the largest one whose state is admissible and whose defect is not larger
      than before wins. Needs no reference.
    """

    count: int = 1
    midpoint: bool = False
    step: float = 1.0
    backtrack: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        if not (isinstance(self.count, int) and self.count >= 1):
            raise ValueError(f"corrections must be a whole number ≥ 1; got {self.count!r}.")
        if not (isinstance(self.step, int | float) and math.isfinite(self.step)):
            raise ValueError(f"step must be a finite number; got {self.step!r}.")
        if self.backtrack is not None:
            if np.ndim(self.backtrack) != 1:
                raise ValueError(
                    f"backtrack must list multipliers, such as (0.25, 0.5, 0.75, 1.0); got {self.backtrack!r}."
                )
            multipliers = tuple(sorted({float(m) for m in self.backtrack}))
            if not multipliers or multipliers[0] < 0:
                raise ValueError(
                    f"backtrack needs multipliers ≥ 0, such as (0.25, 0.5, 0.75, 1.0); got {self.backtrack!r}."
                )
            if self.step != 1.0:
                raise ValueError("Give either step or backtrack: backtracking chooses the step itself.")
            object.__setattr__(self, "backtrack", multipliers)

    @property
    def solves(self) -> int:
        """Linear solves it takes."""
        return self.count * (2 if self.midpoint else 1)

    @property
    def name(self) -> str:
        """In a few words, for headers."""
        parts = ["1 correction" if self.count == 1 else f"{self.count} corrections"]
        parts += ["midpoint"] if self.midpoint else []
        parts += [f"step {self.step:g}"] if self.step != 1 else []
        parts += ["backtracking"] if self.backtrack is not None else []
        return ", ".join(parts)


class Response(eqx.Module):
    """The corrected state with everything needed to judge it."""

    anchor: Array  # w, where the first correction started
    base: Array  # where the last correction was linearised: the anchor, unless there were several
    state: Array  # s = base + multiplier · correction
    correction: Array  # δ of the last solve, before any step length
    algebraic_defect: (
        Array  # ℓ = L δ + A(base), L where it was solved; from L itself, never a solver's running estimate
    )
    algebraic_norm: Float[Array, ""]  # ‖ℓ‖_Y
    defect_norm: Float[Array, ""]  # ‖A(anchor)‖_Y
    iterations: Int[Array, ""]  # of all linear solves together
    multiplier: Float[Array, ""]  # the step length of the last correction
    accepted: Bool[Array, ""]  # False: backtracking found no acceptable multiplier, and a correction did not move
    solved: Bool[Array, ""]  # every linear solve reached the tolerance
    admissible: Bool[Array, ""]  # s makes physical sense
    variant: Correction = eqx.field(static=True)  # how it was corrected, and how often

    @property
    def converged(self) -> Bool[Array, ""]:
        """The response can be trusted as a solution of its linear system, and as a physical state."""
        return self.solved & self.admissible & self.accepted

    def __repr__(self) -> str:
        if not isinstance(self.state, np.ndarray) or self.solved.ndim:  # traced or batched: no numbers to show
            return super().__repr__()
        return (
            f"Response(converged={bool(self.converged)}, algebraic_norm={float(self.algebraic_norm):.3g}, "
            f"defect_norm={float(self.defect_norm):.3g}, iterations={int(self.iterations)}, "
            f"multiplier={float(self.multiplier):g}, state of shape {self.state.shape})"
        )


def respond(problem: Problem, anchor: Array, variant: Correction) -> Response:
    """Correct the anchor as `variant` says. Pure JAX for JAX problems: compile it, batch it."""
    once = replace(variant, count=1)
    response = _correct(problem, anchor, once)
    for _ in range(1, variant.count):
        response = chained(response, _correct(problem, response.state, once))
    return response


def chained(before: Response, after: Response) -> Response:
    """A response and the correction of its result, as one response from the first anchor."""
    count = before.variant.count + after.variant.count
    return replace(
        after,
        anchor=before.anchor,
        defect_norm=before.defect_norm,
        iterations=before.iterations + after.iterations,
        solved=before.solved & after.solved,
        accepted=before.accepted & after.accepted,
        variant=replace(after.variant, count=count),
    )


def _correct(problem: Problem, base: Array, variant: Correction) -> Response:
    defect, solve = capabilities.correct(problem, base)
    iterations, solved = solve.iterations, solve.solved
    if variant.midpoint:
        solve = problem.linearise(base + solve.value / 2)[1].solve(-defect)
        iterations, solved = iterations + solve.iterations, solved & solve.solved
    size = residual_norm(problem, defect)
    multiplier, accepted = _step(problem, base, solve.value, size, variant)
    state = base + multiplier * solve.value
    return Response(
        anchor=base,
        base=base,
        state=state,
        correction=solve.value,
        algebraic_defect=solve.defect,
        algebraic_norm=residual_norm(problem, solve.defect),
        defect_norm=size,
        iterations=iterations,
        multiplier=multiplier,
        accepted=accepted,
        solved=solved,
        admissible=capabilities.admissible(problem, state),
        variant=variant,
    )


def _step(
    problem: Problem, base: Array, delta: Array, size: Float[Array, ""], variant: Correction
) -> tuple[Float[Array, ""], Bool[Array, ""]]:
    """The step length, as given or the largest acceptable multiplier, and whether there was one."""
    xp = namespace(base)
    if variant.backtrack is None:
        return xp.asarray(variant.step), xp.asarray(True)
    multipliers = xp.asarray(variant.backtrack)

    def acceptable(multiplier: Float[Array, ""]) -> Bool[Array, ""]:
        state = base + multiplier * delta
        return capabilities.admissible(problem, state) & (residual_norm(problem, problem.defect(state)) <= size)

    good = compute.each(acceptable, multipliers, problem)
    return xp.max(xp.where(good, multipliers, 0.0)), xp.any(good)


def residual_norm(problem: Problem, defect: Array) -> Float[Array, ""]:
    """‖r‖_Y, scaled before squaring."""
    xp = namespace(defect)
    size = xp.max(xp.abs(defect), initial=0.0)
    unit = xp.where((size > 0) & xp.isfinite(size), size, 1.0)
    return unit * xp.sqrt(problem.residual_energy(defect / unit))
