"""Burgers by integrating-factor RK4 in NumPy, many inputs at once, on grids of its own; DOP853 as a second method.

The flux is written in its skew form, (u²)_x/3 + u u_x/3, another discretisation of the product than the instrument's.
"""

from itertools import pairwise

import numpy as np
from scipy.integrate import solve_ivp

from physrank.geometry.space import Array
from physrank.lab.inputs.burgers import LENGTH, BurgersInput
from physrank.lab.references.reference import Reference, at_level, every

LEVELS = {"first": ((768, 10), (1536, 20)), "second": ((1536, 20), (3072, 40))}  # points, steps per row


def solve(cases: list[BurgersInput], times: Array, points: int, steps_per_row: int) -> Array:
    """Trajectories `(cases, times, points)`."""
    x = np.arange(points) * LENGTH / points
    k = np.arange(points // 2 + 1) * 2 * np.pi / LENGTH
    kept = k < 2 / 3 * k[-1]
    viscosity = np.array([case.viscosity for case in cases])[:, None]
    force = np.fft.rfft(np.stack([case.forcing(0.0, x) / case.swing(0.0) for case in cases]))

    def rate(spectrum: np.ndarray, t: float) -> np.ndarray:
        u, u_x = np.fft.irfft(np.stack([spectrum, 1j * k * spectrum]), n=points)
        square, product = np.fft.rfft(np.stack([u * u, u * u_x]))
        swing = np.array([case.swing(t) for case in cases])[:, None]
        return np.where(kept, -(1j * k * square + product) / 3, 0) + swing * force

    spectrum = np.fft.rfft(np.stack([case.initial(x) for case in cases]))
    rows = [np.fft.irfft(spectrum, n=points)]
    for start, end in pairwise(times):
        dt = (end - start) / steps_per_row
        half = np.exp(-viscosity * k**2 * dt / 2)
        for step in range(steps_per_row):
            t = start + step * dt
            k1 = rate(spectrum, t)
            k2 = rate(half * (spectrum + dt / 2 * k1), t + dt / 2)
            k3 = rate(half * spectrum + dt / 2 * k2, t + dt / 2)
            k4 = rate(half * (half * spectrum + dt * k3), t + dt)
            spectrum = half * half * spectrum + dt / 6 * (half * half * k1 + 2 * half * (k2 + k3) + k4)
        rows.append(np.fft.irfft(spectrum, n=points))
    return np.stack(rows, axis=1)


def solve_adaptively(case: BurgersInput, times: Array, points: int, rtol: float = 1e-10) -> Array:
    """One trajectory `(times, points)` by DOP853 with the flux in divergence form, (u²/2)_x: a method of another kind."""
    x = np.arange(points) * LENGTH / points
    k = np.arange(points // 2 + 1) * 2 * np.pi / LENGTH
    kept = k < 2 / 3 * k[-1]

    def rate(t: float, u: Array) -> Array:
        flux = np.where(kept, 1j * k * np.fft.rfft(u * u) / 2, 0)
        return np.fft.irfft(-flux - case.viscosity * k**2 * np.fft.rfft(u), n=points) + case.forcing(t, x)

    found = solve_ivp(rate, (times[0], times[-1]), case.initial(x), "DOP853", t_eval=times, rtol=rtol, atol=rtol)
    if not found.success:
        raise RuntimeError(f"DOP853 failed: {found.message}")
    return found.y.T


def references(cases: list[BurgersInput], times: Array, points: int, level: str = "first") -> list[Reference]:
    """Coarse and fine trajectories on `points`, a divisor of both grids; one reference per case."""
    coarse, fine = (solve(cases, times, n, steps)[..., :: every(n, points)] for n, steps in at_level(LEVELS, level))
    return [Reference(*both) for both in zip(coarse, fine, strict=True)]
