"""Periodic Sine–Gordon equation in phase space."""

from functools import lru_cache
from typing import Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from physrank._arrays import as_double
from physrank.equations._checks import (
    Substeps,
    clear_keywords,
    finite_array,
    increasing_times,
    positive,
    resolution_concerns,
    stated_substeps,
    warn_under_resolved,
    whole_number,
)
from physrank.equations._sampling import lifted_forcing, resample_forcing, sample_forcing
from physrank.geometry.grid import Grid
from physrank.geometry.lifts import lift
from physrank.physics import Evolution, Marching
from physrank.physics.levels import altered, every
from physrank.physics.marching import initial_mismatch
from physrank.physics.schemes import velocity_verlet
from physrank.physics.transforms import FOURIER_FROM, inverse_waves, irfft, rfft, waves


class SineGordon(Evolution):
    """Sine–Gordon on a periodic interval, as a first-order system.

        u_t = v,   v_t = c² u_xx − sin u + f

    | | |
    |---|---|
    | state | `(times, 2, points)`: displacement and velocity, first row at `times[0]` |
    | defect | both initial fields; then w_{n+1} − Φ_n(w_n), displacement and velocity, for every stored row |
    | flow | Fourier in space, velocity Verlet in time, `substeps` per stored row |
    | response | exact block-triangular derivative of that map, one forward sweep |
    | raw norm | Δx Σ (|r_u|² + |r_v|²) over all rows; map defects contain their time step, no further time weight |
    | task | terminal displacement and velocity, periodic L², velocity weight one |
    | good values | c = 1 on [0, 2π], |u| ≲ 2π, 384 points, substeps of about 5e-3 |
    | limits | explicit: c · k_max · Δt/substeps < 2, checked; kinks must be resolved |

    Main arguments: `initial` and `velocity` at `times[0]`, values on a periodic grid or functions of x; `times`; `speed` c;
    `forcing`, a function f(t, x), values on `(x)` or on `(times, x)`.

    Other arguments: `length` of the interval; `points` of the common grid; `substeps` between stored rows, a
    number or "auto": a multiple of 4, at most half the stable step.
    """

    output = "terminal"
    cheap_to_solve = True  # one explicit sweep

    initial: Array  # (2, points)
    speed: Float[Array, ""]
    times: Array
    forcing: Array  # (steps, substeps + 1, points): values at the ends of substeps
    length: float = eqx.field(static=True)
    points: int = eqx.field(static=True)
    substeps: int = eqx.field(static=True)

    @clear_keywords
    def __init__(
        self,
        initial: Any,
        velocity: Any,
        times: Any,
        speed: float = 1.0,
        forcing: Any = None,
        *,
        length: float = 2 * np.pi,
        points: int = 384,
        substeps: Substeps = 4,
    ):
        points = whole_number("points", points, 4)
        time_values, c = increasing_times(times), positive("speed", speed)
        length = float(positive("length", length))
        x = np.arange(points) * length / points
        fields = []
        for name, given in (("initial", initial), ("velocity", velocity)):
            field = finite_array(name, given(x) if callable(given) else given)
            if field.ndim != 1:
                raise ValueError(f"{name} must be one-dimensional, values on a periodic grid; got shape {field.shape}.")
            fields.append(lift(field, (points,), "fourier"))
            warn_under_resolved(name, fields[-1])
        self.initial = as_double(np.stack(fields))
        self.speed = as_double(c)
        self.times = as_double(time_values)
        self.length, self.points = length, points
        substeps = stated_substeps(substeps, 2 * self._crossings(), 4)
        self.forcing = as_double(sample_forcing(forcing, time_values, x, np.linspace(0, 1, substeps + 1)))
        self.substeps = substeps
        self.check_stable()

    def check_stable(self) -> None:
        needed = int(np.floor(self._crossings())) + 1
        if self.substeps < needed:
            raise ValueError(
                f"{self.substeps} substeps per row are unstable: velocity Verlet on {self.points} points needs a substep "
                f"below {self._longest / self._crossings():.3g}. Use substeps={needed} or more."
            )

    @property
    def _longest(self) -> float:
        return float(np.diff(np.asarray(self.times)).max())

    def _crossings(self) -> float:
        """The longest row in stable steps, 2 / the fastest frequency of u_tt = c² u_xx − u, the stiffest that sine can be."""
        return float(np.hypot(float(self.speed) * np.pi * self.points / self.length, 1.0)) * self._longest / 2

    def flow(self, now: Array, speed: Array, row: tuple[Array, Array]) -> Array:
        """Φ_n: one stored row to the next."""
        forcing, interval = row
        wavenumber = 2 * np.pi / self.length * jnp.arange(self.points // 2 + 1, dtype=float)

        def acceleration(u: Array, force: Array) -> Array:
            if self.points < FOURIER_FROM:
                curvature = u @ (_curvature(self.points) / self.length**2)
            else:
                curvature = irfft(-(wavenumber**2).astype(complex) * rfft(u), n=self.points)
            return speed**2 * curvature - jnp.sin(u) + force

        return jnp.stack(velocity_verlet(acceleration, now[0], now[1], forcing, interval, self.substeps))

    @property
    def marching(self) -> Marching:
        return Marching(
            self.flow,
            self.initial,
            self.speed,
            forcing=(self.forcing, jnp.diff(self.times)),
            residual_weights=self.length / self.points,
        )

    def concerns(self, state: np.ndarray) -> list[str]:
        return initial_mismatch(state, np.asarray(self.initial)) + resolution_concerns(state)

    @property
    def steps_per_row(self) -> int:
        return self.substeps

    def stated_on(self, points: int, substeps: int, rows: int) -> "SineGordon":
        kept = every(rows, len(self.times))
        force = resample_forcing(self.forcing, self.times, kept, substeps + 1)
        return altered(
            self,
            initial=as_double(lift(self.initial, (points,), "fourier")),
            times=self.times[kept],
            forcing=lifted_forcing(force, points),
            points=points,
            substeps=substeps,
        )

    @property
    def grid(self) -> Grid:
        return Grid.periodic(self.points, self.length)

    @property
    def state_shape(self) -> tuple[int, ...]:
        return (self.times.shape[-1], 2, self.points)


@lru_cache(maxsize=16)
def _curvature(points: int) -> np.ndarray:
    """What a row of values is multiplied with to have its second derivative: to the spectrum and back in one product,
    on an interval of length one."""
    rate = -((2 * np.pi * np.arange(points // 2 + 1)) ** 2)
    return np.hstack([rate * part for part in waves(points)]) @ np.vstack(inverse_waves(points))
