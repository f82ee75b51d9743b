"""A door to exponax: any of its steppers as an equation, with grid, metric and lift taken from the stepper."""

from typing import Any

import equinox as eqx
import numpy as np
from jaxtyping import Array, Float

from physrank._arrays import as_double
from physrank.equations._checks import finite_array, resolution_concerns, warn_under_resolved
from physrank.geometry.grid import Grid
from physrank.physics import Evolution, Marching
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

    def residual_energy(self, defect: Array) -> Float[Array, ""]:
        return self.marching.residual_energy(defect)

    def concerns(self, state: np.ndarray) -> list[str]:
        return initial_mismatch(state, np.asarray(self.initial)) + resolution_concerns(state)

    @property
    def grid(self) -> Grid:
        return Grid.periodic(self.initial.shape[1:], self.lengths)

    @property
    def state_shape(self) -> tuple[int | None, ...]:
        return (None, *self.initial.shape)
