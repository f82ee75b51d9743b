"""Time-stepping schemes, each written once: integrating-factor RK4 for stiff linear parts in Fourier space."""

from collections.abc import Callable

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float


def integrating_factor_rk4(
    nonlinear: Callable[[Array, Array], Array],
    symbol: Array,
    spectrum: Array,
    forcing: Array,
    interval: Float[Array, ""],
    substeps: int,
) -> Array:
    """û after `interval`, for û_t = symbol · û + nonlinear(û, forcing).

    The stiff diagonal part is integrated exactly, the rest by classical RK4 in `substeps` equal steps. `forcing` holds
    2 · substeps + 1 rows: its values at the ends and middles of the substeps.
    """
    dt = interval / substeps
    factor = jnp.exp(symbol * dt / 2)
    half, full, twice = (real.astype(spectrum.dtype) for real in (factor, factor * factor, 2 * factor))
    half_step, sixth, damped = (real.astype(spectrum.dtype) for real in (dt / 2, dt / 6, dt * factor))

    def substep(u: Array, f: tuple[Array, Array, Array]) -> tuple[Array, None]:
        start, middle, end = f
        k1 = nonlinear(u, start)
        k2 = nonlinear(half * (u + half_step * k1), middle)
        k3 = nonlinear(half * u + half_step * k2, middle)
        k4 = nonlinear(full * u + damped * k3, end)
        return full * u + sixth * (full * k1 + twice * (k2 + k3) + k4), None

    rows = (forcing[:-2:2], forcing[1::2], forcing[2::2])
    return jax.lax.scan(substep, spectrum, rows)[0]


def velocity_verlet(
    acceleration: Callable[[Array, Array], Array],
    displacement: Array,
    velocity: Array,
    forcing: Array,
    interval: Float[Array, ""],
    substeps: int,
) -> tuple[Array, Array]:
    """(u, v) after `interval`, for u_t = v, v_t = acceleration(u, forcing): symplectic, second order.

    `forcing` holds substeps + 1 rows: its values at the ends of the substeps.
    """
    dt = interval / substeps

    def substep(state: tuple[Array, Array, Array], force: Array) -> tuple[tuple[Array, Array, Array], None]:
        u, v, a = state
        half = v + dt / 2 * a
        u = u + dt * half
        a = acceleration(u, force)  # the next substep starts with it
        return (u, half + dt / 2 * a, a), None

    start = (displacement, velocity, acceleration(displacement, forcing[0]))
    return jax.lax.scan(substep, start, forcing[1:])[0][:2]


def ssp_rk2(rate: Callable[[Array], Array], state: Array, interval: Float[Array, ""], substeps: int) -> Array:
    """The state after `interval`, by `substeps` equal steps of the strong-stability-preserving RK2 (Heun) scheme."""
    dt = interval / substeps

    def substep(u: Array, _: None) -> tuple[Array, None]:
        euler = u + dt * rate(u)
        return (u + euler + dt * rate(euler)) / 2, None

    return jax.lax.scan(substep, state, None, length=substeps)[0]
