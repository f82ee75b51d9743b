"""Space-time fields given by users (functions, constants, rows) sampled where a scheme needs them."""

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer

from physrank import _optional
from physrank._arrays import as_double
from physrank.equations._checks import finite_array
from physrank.geometry.lifts import lagrange_weights, lift
from physrank.geometry.space import Array


def sample_forcing(forcing: Any, times: Array, x: Array, fractions: Array) -> Array:
    """f(t, x) at the given fractions of every time step: `(steps, fractions, points)`, on a periodic grid.

    `forcing` is None, a function f(t, x), values `(x)` constant in time, or rows `(times, x)`, splined in time.
    """
    stages = times[:-1, None] + fractions * np.diff(times)[:, None]
    shape = (*stages.shape, len(x))
    if forcing is None:
        return np.zeros(shape)
    if callable(forcing):
        return np.broadcast_to(finite_array("forcing", forcing(stages[..., None], x)), shape)
    values = finite_array("forcing", forcing)
    if values.ndim == 1:
        return np.broadcast_to(lift(values, (len(x),), "fourier"), shape)
    if values.ndim != 2 or len(values) != len(times):
        raise ValueError(
            f"forcing must be a function f(t, x), an array (x), or an array (times, x) with {len(times)} rows; "
            f"got shape {values.shape}."
        )
    rows = lift(values, (len(x),), "fourier")
    # Not-a-knot needs four rows; with fewer, the interpolating polynomial is the same thing.
    spline = _optional.load("scipy.interpolate").CubicSpline
    return spline(times, rows, bc_type="not-a-knot" if len(times) > 2 else "natural")(stages)


def resample_forcing(samples: jax.Array, times: jax.Array, kept: Array, count: int) -> jax.Array:
    """`(steps, fractions, x)` for a march that keeps some of its rows and needs `count` fractions of every step.

    Cubic in time through the nearest four samples, and so the samples themselves where they fall on the new times.
    """
    steps, present, _ = samples.shape
    if len(kept) == len(times):
        return samples[:, :: (present - 1) // (count - 1)]

    def moments(times: jax.Array, fractions: int) -> jax.Array:
        return times[:-1, None] + np.linspace(0, 1, fractions) * jnp.diff(times)[:, None]

    def joined(rows: jax.Array) -> jax.Array:  # the end of a step is the beginning of the next
        return jnp.concatenate([rows[:, :-1].reshape(steps * (present - 1), *rows.shape[2:]), rows[-1, -1:]])

    old, values, new = joined(moments(times, present)), joined(samples), moments(times[kept], count)
    width = min(4, len(old))
    first = jnp.clip(jnp.searchsorted(old, new, side="right") - width // 2, 0, len(old) - width)
    near = first[..., None] + np.arange(width)
    weights = lagrange_weights(old[near], new)
    return jnp.einsum("...k,...kx->...x", weights.astype(values.dtype), values[near])


@partial(jax.custom_jvp, nondiff_argnums=(1,))
def lifted_forcing(samples: jax.Array, points: int) -> jax.Array:
    """`(steps, fractions, x)` on so many points. A force that does not change in time, or is none, is lifted once: that is
    most of the work of stating a march on a coarse grid."""

    def once() -> jax.Array:
        return jnp.broadcast_to(_lifted(samples[:1, :1], points), (*samples.shape[:2], points))

    if not isinstance(samples, Tracer):
        return _lifted(samples, points)
    return jax.lax.cond(jnp.all(samples == samples[:1, :1]), once, lambda: _lifted(samples, points))


@lifted_forcing.defjvp
def _(points: int, given: tuple[jax.Array], moved: tuple[jax.Array]) -> tuple[jax.Array, jax.Array]:
    """Every sample may move by itself, also where all are the same."""
    return lifted_forcing(*given, points), _lifted(*moved, points)


def _lifted(samples: jax.Array, points: int) -> jax.Array:
    return as_double(lift(samples, (points,), "fourier"))
