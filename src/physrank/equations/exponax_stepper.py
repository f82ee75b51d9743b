"""A door to exponax: any of its steppers as an equation, with grid, metric and lift taken from the stepper."""

from typing import Any

import equinox as eqx
import numpy as np
from jaxtyping import Array

from physrank import _optional
from physrank._arrays import as_double
from physrank.equations._checks import finite_array, resolution_concerns, warn_under_resolved
from physrank.geometry.grid import Grid
from physrank.geometry.lifts import lift
from physrank.physics import Evolution, Marching
from physrank.physics.levels import altered
from physrank.physics.marching import initial_mismatch


class ExponaxStepper(Evolution):
    """Whatever an `exponax` stepper steps, on its periodic box.

        u_{n+1} = stepper(u_n)

    | | |
    |---|---|
    | state | `(rows, channels, *space)`, first row the initial state; one row per call of the stepper |
    | defect | the initial state; then w_{n+1} − stepper(w_n) |
    | response | exact derivative of the stepper, one forward sweep |
    | raw norm | cell volume · Σ |r|² |
    | task | terminal state, periodic L², channels summed |
    | limits | build the stepper inside `physrank.double()`: it computes its coefficients when built |

    For several stepper calls per stored row, pass `exponax.RepeatedStepper(stepper, count)`.
    """

    output = "terminal"
    cheap_to_solve = True  # one explicit sweep
    any_substeps = True

    stepper: Any
    initial: Array
    lengths: tuple[float, ...] = eqx.field(static=True)

    def __init__(self, stepper: Any, initial: Any):
        missing = [name for name in ("domain_extent", "num_points", "num_spatial_dims") if not hasattr(stepper, name)]
        if missing:
            raise ValueError(
                f"Expected an exponax stepper; {type(stepper).__name__} has no {missing[0]}. For other maps use Marching."
            )
        start = finite_array("initial", initial)
        shape = (int(stepper.num_channels), *[int(stepper.num_points)] * int(stepper.num_spatial_dims))
        if start.shape != shape:
            raise ValueError(f"initial has shape {start.shape}; this stepper expects (channels, *space) = {shape}.")
        warn_under_resolved("initial", start)
        self.stepper = as_double(stepper)
        self.initial = as_double(start)
        self.lengths = (float(stepper.domain_extent),) * int(stepper.num_spatial_dims)

    @property
    def marching(self) -> Marching:
        cell = float(np.prod(self.lengths)) / int(np.prod(self.grid.shape))
        return Marching(self.stepper, self.initial, residual_weights=cell)

    def concerns(self, state: np.ndarray) -> list[str]:
        return initial_mismatch(state, np.asarray(self.initial)) + resolution_concerns(state)

    @property
    def steps_per_row(self) -> int:
        return int(getattr(self.stepper, "num_sub_steps", 1))

    def stated_on(self, points: int, substeps: int, rows: int) -> "ExponaxStepper":
        """The same stepper, its coefficients computed anew."""
        if points == self.grid.shape[-1] and substeps == self.steps_per_row and rows == 1:
            return self
        single = self.stepper.stepper if hasattr(self.stepper, "num_sub_steps") else self.stepper
        step = _rebuilt(single, points, self.lengths[0], self.stepper.dt * rows / substeps)
        stepper = step if substeps == 1 else _optional.load("exponax").RepeatedStepper(step, substeps)
        initial = lift(self.initial, (points,) * len(self.lengths), "fourier")
        return altered(self, stepper=as_double(stepper), initial=as_double(initial))

    @property
    def carried(self) -> Any:
        """The part of the spectrum that the stepper fills: less than one where it removes aliases."""
        return getattr(getattr(self.stepper, "stepper", self.stepper), "dealiasing_fraction", 1.0)

    def check_stable(self) -> None:
        """Whether an exponential integrator is stable depends on the solution: its result says so."""

    def can_halve(self, times: int) -> bool:
        del times
        return hasattr(getattr(self.stepper, "stepper", self.stepper), "_integrator")  # which is made anew

    @property
    def grid(self) -> Grid:
        return Grid.periodic(self.initial.shape[1:], self.lengths)

    @property
    def state_shape(self) -> tuple[int | None, ...]:
        return (None, *self.initial.shape)


def _rebuilt(stepper: Any, points: int, extent: float, dt: Any) -> Any:
    """What exponax's own constructor does, with the numbers that the stepper has kept: another grid and another step."""
    if not hasattr(stepper, "_integrator"):
        raise ValueError(
            f"{type(stepper).__name__} cannot be built anew: it is not one of exponax's spectral steppers."
        )
    derivative = _optional.load("exponax").spectral.build_derivative_operator(stepper.num_spatial_dims, extent, points)
    anew = altered(stepper, num_points=points, dt=dt, dx=extent / points)
    operator = anew._build_linear_operator(derivative)
    integrator = type(stepper._integrator)
    if hasattr(stepper._integrator, "_nonlinear_fun"):
        return altered(anew, _integrator=integrator(dt, operator, anew._build_nonlinear_fun(derivative)))
    return altered(anew, _integrator=integrator(dt, operator))
