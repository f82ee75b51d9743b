"""Periodic viscous Burgers equation."""

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
from physrank.equations._sampling import resample_forcing, sample_forcing
from physrank.geometry.grid import Grid
from physrank.geometry.lifts import lift, shorter_spectrum
from physrank.physics import Evolution, Marching
from physrank.physics.levels import altered, every
from physrank.physics.marching import initial_mismatch
from physrank.physics.schemes import integrating_factor_rk4
from physrank.physics.transforms import FOURIER_FROM, inverse_waves, irfft, rfft, waves

RK4_LIMIT = 2.8  # of |u| k Δt on the imaginary axis
FASTER = 1.5  # so much faster than the initial state "auto" expects the solution and its candidates to become


class Burgers(Evolution):
    """Viscous Burgers on a periodic interval.

        u_t − ν u_xx + u u_x = f,   u(0) = u₀

    | | |
    |---|---|
    | state | `(times, points)`, first row at `times[0]` |
    | defect | initial mismatch; then w_{n+1} − Φ_n(w_n) for the flow Φ_n from `times[n]` to `times[n+1]` |
    | flow | Fourier, ⅔ dealiasing, integrating-factor RK4, `substeps` per stored row |
    | response | exact derivative of that flow, one forward sweep |
    | raw norm | Δx Σ|r⁰|² + Δx Σ_n Δt_n Σ|rⁿ|², with rⁿ = (w_{n+1} − Φ_n(w_n)) / Δt_n, the PDE defect of row n |
    | task | terminal state, periodic L² |
    | good values | ν from 0.008 to 0.1 on [0, 2π], |u| ≲ 2, 384 points, 4 substeps of about 1e-3 |
    | limits | needs fronts resolved: about ν ≥ 0.3 |u| Δx; explicit in u u_x: |u| Δt/substeps · points ≤ 8 on 2π, checked |

    Main arguments: `initial`, values on any equispaced periodic grid (endpoint not repeated) or a function of x;
    `viscosity`; `times`; `forcing`, a function f(t, x), values on `(x)` for a constant force or on `(times, x)`.

    Other arguments: `length` of the interval; `points` of the common grid, to which candidates of other resolution are
    Fourier-lifted; `substeps` of the flow between stored rows, a number or "auto": a multiple of 4, stable for 1.5 times the
    initial speed.
    """

    output = "terminal"
    cheap_to_solve = True  # one explicit sweep
    carried = 2 / 3  # of the spectrum
    sheds_substeps = True  # fourth order

    initial: Array
    viscosity: Float[Array, ""]
    times: Array
    forcing: Array  # spectra, (steps, 2 · substeps + 1, points // 2 + 1): values at ends and middles of substeps
    length: float = eqx.field(static=True)
    points: int = eqx.field(static=True)
    substeps: int = eqx.field(static=True)

    @clear_keywords
    def __init__(
        self,
        initial: Any,
        viscosity: float,
        times: Any,
        forcing: Any = None,
        *,
        length: float = 2 * np.pi,
        points: int = 384,
        substeps: Substeps = 4,
    ):
        viscosity_value = positive("viscosity", viscosity)
        if viscosity_value.ndim:
            raise ValueError(f"viscosity must be one number; got shape {viscosity_value.shape}.")
        time_values = increasing_times(times)
        points, length = whole_number("points", points, 4), float(positive("length", length))
        x = np.arange(points) * length / points
        start = finite_array("initial", initial(x) if callable(initial) else initial)
        if start.ndim != 1:
            raise ValueError(f"initial must be one-dimensional, values on a periodic grid; got shape {start.shape}.")
        lifted = lift(start, (points,), "fourier")
        warn_under_resolved("initial", lifted)
        self.length, self.points = length, points
        longest = float(np.diff(time_values).max())
        substeps = stated_substeps(substeps, FASTER * _fastest(lifted, length, points) * longest / RK4_LIMIT, 4)
        samples = sample_forcing(forcing, time_values, x, np.linspace(0, 1, 2 * substeps + 1))
        self.initial = as_double(lifted)
        self.viscosity = as_double(viscosity_value)
        self.times = as_double(time_values)
        self.forcing = as_double(np.fft.rfft(samples, axis=-1))
        self.substeps = substeps
        self.check_stable()

    def check_stable(self) -> None:
        fastest = _fastest(np.asarray(self.initial), self.length, self.points)
        needed = _needed_substeps(fastest, np.asarray(self.times))
        if self.substeps < needed:
            raise ValueError(
                f"{self.substeps} substeps per row are unstable for this initial state: RK4 on {self.points} points needs a "
                f"substep of at most {RK4_LIMIT / fastest:.3g}. Use substeps={needed} or more."
            )

    def concerns(self, state: np.ndarray) -> list[str]:
        needed = _needed_substeps(_fastest(state, self.length, self.points), np.asarray(self.times))
        faster = (
            [f"its speeds need substeps={needed}: the flow is unstable around it"] if needed > self.substeps else []
        )
        return initial_mismatch(state, np.asarray(self.initial)) + resolution_concerns(state) + faster

    def flow(self, now: Array, data: tuple[Array, Array], row: tuple[Array, Array]) -> Array:
        """Φ_n: one stored row to the next."""
        viscosity, wavenumber = data
        forcing, interval = row
        if self.points < FOURIER_FROM:
            return self._small_flow(now, viscosity, forcing, interval)
        resolved = wavenumber < 2 / 3 * wavenumber[-1]

        def nonlinear(spectrum: Array, force: Array) -> Array:
            # Factors and product are truncated: no mode of u² below the cut-off is aliased.
            u = irfft(jnp.where(resolved, spectrum, 0), n=self.points)
            return jnp.where(resolved, -0.5j * wavenumber.astype(complex), 0) * rfft(u**2) + force

        spectrum = integrating_factor_rk4(
            nonlinear, -viscosity * wavenumber**2, rfft(now), forcing, interval, self.substeps
        )
        return irfft(spectrum, n=self.points)

    def _small_flow(self, now: Array, viscosity: Array, forcing: Array, interval: Array) -> Array:
        """The same on few points, where calls cost more than numbers: spectra as real and imaginary parts in one row, and
        two products with a matrix for each evaluation."""
        there, back, cut, slope = _products(self.points)
        wavenumber = 2 * np.pi / self.length * jnp.arange(self.points // 2 + 1, dtype=float)

        def nonlinear(spectrum: Array, force: Array) -> Array:
            u = spectrum[: len(cut)] @ cut
            return jnp.pad((u * u) @ (slope / self.length), (0, len(spectrum) - len(cut))) + force

        modes = _resolved_first(self.points)
        symbol = -viscosity * jnp.tile(wavenumber**2, 2)[modes]
        force = jnp.concatenate([forcing.real, forcing.imag], axis=-1)[..., modes]
        return integrating_factor_rk4(nonlinear, symbol, now @ there, force, interval, self.substeps) @ back

    @property
    def marching(self) -> Marching:
        wavenumber = 2 * np.pi / self.length * jnp.arange(self.points // 2 + 1, dtype=float)
        return Marching(
            self.flow, self.initial, (self.viscosity, wavenumber), forcing=(self.forcing, jnp.diff(self.times))
        )

    def residual_energy(self, defect: Array) -> Float[Array, ""]:
        dx, dt = self.length / self.points, jnp.diff(self.times)
        return dx * (jnp.sum(defect[0] ** 2) + jnp.sum(dt[:, None] * (defect[1:] / dt[:, None]) ** 2))

    @property
    def steps_per_row(self) -> int:
        return self.substeps

    def stated_on(self, points: int, substeps: int, rows: int) -> "Burgers":
        kept = every(rows, len(self.times))
        force = resample_forcing(self.forcing, self.times, kept, 2 * substeps + 1)
        return altered(
            self,
            initial=as_double(lift(self.initial, (points,), "fourier")),
            times=self.times[kept],
            forcing=as_double(shorter_spectrum(force, self.points, points)),
            points=points,
            substeps=substeps,
        )

    @property
    def grid(self) -> Grid:
        return Grid.periodic(self.points, self.length)

    @property
    def state_shape(self) -> tuple[int, ...]:
        return (self.times.shape[-1], self.points)


def _fastest(state: np.ndarray, length: float, points: int) -> float:
    """|u| k: the ⅔ rule keeps wavenumbers below n/3 · 2π/L."""
    return float(np.abs(state).max()) * 2 * np.pi / length * points / 3


def _needed_substeps(fastest: float, times: np.ndarray) -> int:
    return int(np.ceil(min(fastest * float(np.diff(times).max()) / RK4_LIMIT, 2.0**60) - 1e-9))


@lru_cache(maxsize=16)
def _resolved_first(points: int) -> np.ndarray:
    """The order of (real, imaginary) parts in which those come first that the ⅔ rule keeps."""
    modes = np.arange(points // 2 + 1)
    return np.argsort(np.tile(modes >= 2 / 3 * modes[-1], 2), kind="stable")


@lru_cache(maxsize=16)
def _products(points: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """What rows are multiplied with: values to (real, imaginary) parts of the spectrum; back; back without what the ⅔ rule
    removes; and squares to the spectrum of −(u²)_x / 2, likewise, on an interval of length one."""
    cosine, sine = waves(points)
    modes, order = np.arange(points // 2 + 1), _resolved_first(points)
    kept, rate = order[: 2 * int(np.sum(modes < 2 / 3 * modes[-1]))], np.pi * modes
    there, back = np.hstack([cosine, sine]), np.vstack(inverse_waves(points))
    return there[:, order], back[order], back[kept], np.hstack([rate * sine, -rate * cosine])[:, kept]
