"""Space-time fields given by users (functions, constants, rows) sampled where a scheme needs them."""

from typing import Any

import numpy as np

from physrank import _optional
from physrank.equations._checks import finite_array
from physrank.geometry.lifts import lift
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
        return finite_array("forcing", np.broadcast_to(np.asarray(forcing(stages[..., None], x)), shape))
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
