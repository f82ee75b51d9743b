"""Compressible Navier–Stokes flow in one and two dimensions, by finite volumes."""

from typing import Any, Literal

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float

from physrank._arrays import as_double
from physrank.equations._checks import (
    Substeps,
    clear_keywords,
    finite_array,
    increasing_times,
    not_negative_number,
    positive,
    stated_substeps,
)
from physrank.geometry.grid import Grid
from physrank.physics import Evolution, Marching
from physrank.physics.levels import altered, every
from physrank.physics.marching import initial_mismatch
from physrank.physics.schemes import ssp_rk2

CFL_LIMIT = 1.0  # of first-order Rusanov fluxes with SSPRK2, summed over axes
FASTER = 1.25  # so much faster than the initial waves "auto" expects later ones to become


def conservative(primitive: Any, gamma: float) -> np.ndarray:
    """(density, velocity…, pressure) → (density, momentum…, energy), channels on the axis before space.

    One velocity channel means one space axis, two mean two; leading axes are kept.
    """
    values = np.asarray(primitive, np.float64)
    dims = _dims_of(values)
    channels = np.moveaxis(values, -dims - 1, 0)
    density, velocity, given = channels[0], channels[1:-1], channels[-1]
    energy = given / (gamma - 1) + 0.5 * density * np.sum(velocity**2, axis=0)
    return np.moveaxis(np.concatenate([density[None], density * velocity, energy[None]]), 0, -dims - 1)


def primitive(state: Any, gamma: float) -> np.ndarray:
    """(density, momentum…, energy) → (density, velocity…, pressure)."""
    values = np.asarray(state, np.float64)
    dims = _dims_of(values)
    channels = np.moveaxis(values, -dims - 1, 0)
    density, velocity = channels[0], channels[1:-1] / channels[0]
    return np.moveaxis(np.concatenate([density[None], velocity, pressure(channels, gamma)[None]]), 0, -dims - 1)


def pressure(channels: Any, gamma: Any) -> Any:
    """p of density, momenta and energy, channels first."""
    return (gamma - 1) * (channels[-1] - 0.5 * (channels[1:-1] ** 2).sum(axis=0) / channels[0])


def _dims_of(values: np.ndarray) -> int:
    if values.ndim >= 3 and values.shape[-3] == 4:
        return 2
    if values.ndim >= 2 and values.shape[-2] == 3:
        return 1
    raise ValueError(f"Expected 3 channels before one space axis or 4 before two; got shape {values.shape}.")


class CompressibleFlow(Evolution):
    """An ideal gas in conservative variables; 1-D or 2-D.

        ρ_t + ∇·m = 0,   m_t + ∇·(m⊗u + p) = ∇·τ,   E_t + ∇·((E + p) u) = ∇·(τ u),   p = (γ − 1)(E − ½ρ|u|²)

    | | |
    |---|---|
    | state | `(times, 3, n)`: density, momentum, energy; `(times, 4, n, n)` with two momenta |
    | viscosity | fluxes ρ η ∂_j u_i, plus ρ (ζ + η/3) ∂_j u_j for i = j; axis by axis, no cross terms |
    | defect | the initial state; then w_{n+1} − Φ_n(w_n) |
    | flow | first-order Rusanov fluxes, SSPRK2, fixed `substeps` per stored row |
    | response | exact derivative, or finite differences of the flow with `difference=1e-4` |
    | admissible | positive density and pressure everywhere; damp with `Correction(backtrack=(0, .25, .5, .75, 1))` |
    | raw norm | cell volume · Σ |r|² over channels and rows |
    | task | the trajectory, cell-volume L² |
    | limits | Δt / substeps within the CFL limit of the initial state's waves, checked; very dissipative at contacts |
    | candidates | on this grid: cell values are not interpolated across shocks |

    The Rusanov wave speed is a maximum of two, and so only piecewise differentiable: where both sides tie, the
    derivative takes the mean of the two branches. On ties (uniform flow) both branches agree to first order; across a
    moving front the switch makes the response one-sided there, which is part of why shocks need damping. |u| has such a
    kink where the flow stands still. With `difference`, the reported algebraic defect is that of the difference action.

    Main arguments: `initial` in conservative variables (see `conservative`); `times`; `boundary`, "periodic" or "outflow".

    Other arguments: `gamma`; `shear` η and `bulk` ζ viscosity; `length` of each side; `substeps`, a number or
    "auto": an even number, stable for waves 1.25 times as fast as the initial state's; `difference`.
    """

    cheap_to_solve = True  # one explicit sweep
    sheds_substeps = any_substeps = True  # first order in space, second in time

    initial: Array
    times: Array
    gamma: Float[Array, ""]
    shear: Float[Array, ""]
    bulk: Float[Array, ""]
    boundary: Literal["periodic", "outflow"] = eqx.field(static=True)
    length: float = eqx.field(static=True)
    substeps: int = eqx.field(static=True)
    difference: float | None = eqx.field(static=True)

    @clear_keywords
    def __init__(
        self,
        initial: Any,
        times: Any,
        boundary: Literal["periodic", "outflow"],
        *,
        gamma: float = 5 / 3,
        shear: float = 0.0,
        bulk: float = 0.0,
        length: float = 1.0,
        substeps: Substeps = 8,
        difference: float | None = None,
    ):
        start, time_values = finite_array("initial", initial), increasing_times(times)
        if start.ndim not in (2, 3) or start.shape[0] != start.ndim + 1:
            raise ValueError(
                f"initial must have shape (3, n) or (4, n, n): density, momenta, energy; got {start.shape}."
            )
        if len(set(start.shape[1:])) > 1:
            raise ValueError(f"initial must have as many cells along every axis, shape (4, n, n); got {start.shape}.")
        if boundary not in ("periodic", "outflow"):
            raise ValueError(f'boundary must be "periodic" or "outflow"; got {boundary!r}.')
        if not float(positive("gamma", gamma)) > 1:
            raise ValueError(f"gamma must exceed 1; got {gamma}.")
        if problem := _unphysical(start, float(gamma)):
            raise ValueError(f"initial has {problem}; expected positive density and pressure everywhere.")
        self.initial = as_double(start)
        self.times = as_double(time_values)
        self.gamma = as_double(float(gamma))
        self.shear = as_double(not_negative_number("shear", shear))
        self.bulk = as_double(not_negative_number("bulk", bulk))
        self.boundary = boundary
        self.length = float(positive("length", length))
        self.substeps = stated_substeps(substeps, FASTER * self._crossings(start), 2)
        self.difference = difference
        self.check_stable()

    def check_stable(self) -> None:
        initial = np.asarray(self.initial)
        needed = int(np.ceil(self._crossings(initial) - 1e-9))
        if self.substeps < needed:
            raise ValueError(
                f"{self.substeps} substeps per row are unstable for this initial state: the largest stable substep is "
                f"{_stable_step(initial, self):.3g}. Use substeps={needed} or more."
            )

    def _crossings(self, state: np.ndarray) -> float:
        """The longest row in units of the largest stable step around a state, channels first."""
        return float(np.diff(np.asarray(self.times)).max()) / _stable_step(state, self)

    @property
    def spacing(self) -> float:
        return self.length / self.initial.shape[-1]

    def from_primitive(self, state: np.ndarray) -> np.ndarray:
        """Density, velocities and pressure as a state of this problem."""
        return conservative(state, float(self.gamma))

    def rate(self, state: Array, gamma: Array, shear: Array, bulk: Array) -> Array:
        """−∇·(flux): differences of face fluxes along every axis."""
        total = jnp.zeros_like(state)
        for axis in range(1, state.ndim):
            width = [(0, 0)] * state.ndim
            width[axis] = (1, 1)
            padded = jnp.pad(state, width, mode="wrap" if self.boundary == "periodic" else "edge")
            n = padded.shape[axis]
            left, right = (jax.lax.slice_in_dim(padded, s, s + n - 1, axis=axis) for s in (0, 1))
            flux = self._rusanov(left, right, axis, gamma) - self._viscous(left, right, axis, shear, bulk)
            total = total - jnp.diff(flux, axis=axis) / self.spacing
        return total

    def _rusanov(self, left: Array, right: Array, axis: int, gamma: Array) -> Array:
        (flux_left, speed_left), (flux_right, speed_right) = (self._flux(s, axis, gamma) for s in (left, right))
        return (flux_left + flux_right - jnp.maximum(speed_left, speed_right) * (right - left)) / 2

    def _flux(self, state: Array, axis: int, gamma: Array) -> tuple[Array, Array]:
        """Physical flux along one axis, and the largest wave speed."""
        p, velocity = pressure(state, gamma), state[axis] / state[0]
        pushed = {axis: p, len(state) - 1: velocity * p}
        flux = velocity * state + jnp.stack([pushed.get(c, jnp.zeros_like(p)) for c in range(len(state))])
        return flux, jnp.abs(velocity) + jnp.sqrt(gamma * p / state[0])

    def _viscous(self, left: Array, right: Array, axis: int, shear: Array, bulk: Array) -> Array:
        density = (left[0] + right[0]) / 2
        low, high = left[1:-1] / left[0], right[1:-1] / right[0]
        factor = jnp.stack([shear + (bulk + shear / 3 if i == axis else 0.0) for i in range(1, left.ndim)])
        stress = density * factor.reshape(-1, *[1] * (left.ndim - 1)) * (high - low) / self.spacing
        work = jnp.sum(stress * (low + high) / 2, axis=0)
        return jnp.concatenate([jnp.zeros_like(work)[None], stress, work[None]])

    def flow(self, now: Array, data: tuple[Array, Array, Array], interval: Array) -> Array:
        """Φ_n: one stored row to the next."""
        return ssp_rk2(lambda u: self.rate(u, *data), now, interval, self.substeps)

    @property
    def marching(self) -> Marching:
        return Marching(
            self.flow,
            self.initial,
            (self.gamma, self.shear, self.bulk),
            forcing=jnp.diff(self.times),
            residual_weights=self.spacing ** (self.initial.ndim - 1),
            difference=self.difference,
        )

    def admissible(self, state: Array) -> Bool[Array, ""]:
        channels = jnp.moveaxis(state, 1, 0)
        return jnp.all(channels[0] > 0) & jnp.all(pressure(channels, self.gamma) > 0)

    def concerns(self, state: np.ndarray) -> list[str]:
        channels = np.moveaxis(state, 1, 0)
        found = _unphysical(channels, float(self.gamma))
        if not found and (rows := self._crossings(channels)) > 1.01 * self.substeps:
            found = f"its waves need substeps={int(np.ceil(rows - 1e-9))}: the flow is unstable around it"
        return initial_mismatch(state, np.asarray(self.initial)) + ([found] if found else [])

    @property
    def steps_per_row(self) -> int:
        return self.substeps

    def stated_on(self, points: int, substeps: int, rows: int) -> "CompressibleFlow":
        """Means over blocks of cells: what is conserved on the fine grid is the same on the coarse one."""
        cells = self.initial.shape[-1]
        if cells % points:
            raise ValueError(f"points must divide the {cells} cells of a side, whose means are taken; got {points}.")
        split = [self.initial.shape[0], *[n for _ in self.initial.shape[1:] for n in (points, cells // points)]]
        means = self.initial.reshape(split).mean(axis=tuple(range(2, len(split), 2)))
        return altered(self, initial=means, times=self.times[every(rows, len(self.times))], substeps=substeps)

    def can_halve(self, times: int) -> bool:
        return self.initial.shape[-1] % 2**times == 0  # cells are joined whole

    @property
    def grid(self) -> Grid:
        return Grid.cells(self.initial.shape[1:], self.length, kind=None)

    @property
    def state_shape(self) -> tuple[int, ...]:
        return (self.times.shape[-1], *self.initial.shape)


def _unphysical(channels: np.ndarray, gamma: float) -> str | None:
    """What is not positive, if anything: channels first."""
    for name, of in (("density", lambda: channels[0]), ("pressure", lambda: pressure(channels, gamma))):
        if np.any((values := of()) <= 0):
            return f"{name} down to {values.min():.3g} ({int(np.sum(values <= 0))} values not positive)"
    return None


def _stable_step(state: np.ndarray, flow: CompressibleFlow) -> float:
    """The largest stable substep, advective and viscous limits together, for channels first and space last."""
    gamma, density, dims = float(flow.gamma), state[0], flow.initial.ndim - 1
    speeds = sum(
        _fastest(density, momentum / density, pressure(state, gamma), gamma, axis - dims, flow.boundary)
        for axis, momentum in enumerate(state[1:-1])
    )
    uneven = sum(_unevenness(density, axis - dims, flow.boundary) for axis in range(dims))
    diffusive = 2 * uneven * (4 / 3 * float(flow.shear) + float(flow.bulk)) / flow.spacing
    return CFL_LIMIT * flow.spacing / (speeds + diffusive)


def _unevenness(density: np.ndarray, axis: int, boundary: str) -> float:
    """A cell's mean face density over its own, at most: so much faster the velocity of a light cell diffuses."""
    padded = np.moveaxis(_padded(density, axis, boundary, (1, 1)), axis, -1)
    own = padded[..., 1:-1]
    return float(((padded[..., :-2] + 2 * own + padded[..., 2:]) / (4 * own)).max())


def _fastest(
    density: np.ndarray, velocity: np.ndarray, pressure: np.ndarray, gamma: float, axis: int, boundary: str
) -> float:
    """The fastest wave that neighbouring cells send out: Toro's estimate, sharp where they agree, safe for shocks.

    With ρ̄c̄ the mean impedance, the pressure between two cells is about p* = p̄ − (u_R − u_L) ρ̄c̄ / 2; a side with p* > p
    sends a shock, √(1 + (γ+1)/(2γ) (p*/p − 1)) times as fast as sound.
    """
    sides = []
    for values in (density, velocity, pressure):
        padded, n = _padded(values, axis, boundary, (1, 0)), values.shape[axis]
        sides.append((np.take(padded, np.arange(n), axis), np.take(padded, np.arange(1, n + 1), axis)))
    (rl, rr), (ul, ur), (pl, pr) = sides
    cl, cr = np.sqrt(gamma * pl / rl), np.sqrt(gamma * pr / rr)
    between = np.maximum((pl + pr) / 2 - (ur - ul) * (rl + rr) * (cl + cr) / 8, 0)
    shock = lambda p: np.sqrt(1 + (gamma + 1) / (2 * gamma) * np.maximum(between / p - 1, 0))  # noqa: E731
    return float(np.maximum(np.abs(ul - cl * shock(pl)), np.abs(ur + cr * shock(pr))).max())


def _padded(values: np.ndarray, axis: int, boundary: str, cells: tuple[int, int]) -> np.ndarray:
    """The boundary's cells added before and after, along one axis counted from the end."""
    ends = {"periodic": "wrap", "outflow": "edge"}[boundary]
    width = [cells if d == values.ndim + axis else (0, 0) for d in range(values.ndim)]
    return np.pad(values, width, mode=ends)  # pyright: ignore[reportCallIssue, reportArgumentType]
