"""Sine–Gordon by spectral velocity Verlet in NumPy, many inputs at once; DOP853 as a second method."""

from itertools import pairwise

import numpy as np
from scipy.integrate import solve_ivp

from physrank.geometry.space import Array
from physrank.lab.inputs.sine_gordon import LENGTH, SineGordonInput
from physrank.lab.references.reference import Reference, at_level, every

LEVELS = {"first": ((384, 6144), (768, 12288))}  # points, steps in all (at least: every row gets the same number)


def solve(cases: list[SineGordonInput], times: Array, points: int, steps: int) -> Array:
    """Trajectories `(cases, times, 2, points)`; `steps` in all, a multiple of the number of rows."""
    x = np.arange(points) * LENGTH / points
    per_row = steps // (len(times) - 1)
    if per_row * (len(times) - 1) != steps:
        raise ValueError(f"steps must be a multiple of {len(times) - 1}; got {steps}.")
    acceleration = _acceleration(cases, x)
    u, v = np.stack([c.initial(x) for c in cases]), np.stack([c.velocity(x) for c in cases])
    rows, pull = [np.stack([u, v], axis=1)], acceleration(u)
    for start, end in pairwise(times):
        dt = (end - start) / per_row
        for _ in range(per_row):
            v = v + dt / 2 * pull
            u = u + dt * v
            pull = acceleration(u)
            v = v + dt / 2 * pull
        rows.append(np.stack([u, v], axis=1))
    return np.stack(rows, axis=1)


def references(cases: list[SineGordonInput], times: Array, points: int, level: str = "first") -> list[Reference]:
    """Coarse and fine trajectories on `points`, a divisor of both grids; one reference per case."""
    rows = len(times) - 1
    coarse, fine = (
        solve(cases, times, n, rows * -(-steps // rows))[..., :: every(n, points)]
        for n, steps in at_level(LEVELS, level)
    )
    return [Reference(*both) for both in zip(coarse, fine, strict=True)]


def solve_adaptively(case: SineGordonInput, times: Array, points: int, rtol: float = 1e-10) -> Array:
    """One trajectory `(times, 2, points)` by the eighth-order Runge–Kutta method DOP853."""
    x = np.arange(points) * LENGTH / points
    acceleration = _acceleration([case], x)

    def rate(_: float, state: Array) -> Array:
        u, v = state.reshape(2, points)
        return np.concatenate([v, acceleration(u[None])[0]])

    start = np.concatenate([case.initial(x), case.velocity(x)])
    found = solve_ivp(rate, (times[0], times[-1]), start, "DOP853", t_eval=times, rtol=rtol, atol=rtol)
    if not found.success:
        raise RuntimeError(f"DOP853 failed: {found.message}")
    return found.y.T.reshape(len(times), 2, points)


def _acceleration(cases: list[SineGordonInput], x: Array):
    points = len(x)
    k = np.arange(points // 2 + 1) * 2 * np.pi / LENGTH
    symbol = -((np.array([c.speed for c in cases])[:, None] * k) ** 2)
    force = np.stack([c.forcing(0.0, x) for c in cases])

    def acceleration(u: Array) -> Array:
        return np.fft.irfft(symbol * np.fft.rfft(u), n=points) - np.sin(u) + force

    return acceleration
