"""Generators in the manner of PDEBench: adaptive RK45 finite volumes, and HLLC flow with adaptive steps.

They are deliberately not the maps that the instrument compares with: the comparison operator is genuinely mismatched.
"""

from typing import Any

import numpy as np
from scipy.integrate import solve_ivp

from physrank.geometry.space import Array
from physrank.lab.references.reference import Reference


def diffusion_reaction(
    initial: Array,
    times: Array,
    *,
    diffusion: tuple[float, float] = (1e-3, 5e-3),
    threshold: float = 5e-3,
    length: float = 2.0,
    rtol: float = 1e-3,
    atol: float = 1e-6,
) -> Array:
    """`(times, 2, n, n)` by adaptive RK45 on cell-centred finite volumes; the tolerances are PDEBench's."""
    cells = initial.shape[-1]
    h2 = (length / cells) ** 2

    def laplacian(u: Array) -> Array:
        flux_x, flux_y = np.diff(u, axis=0), np.diff(u, axis=1)
        total = np.zeros_like(u)
        total[:-1] += flux_x
        total[1:] -= flux_x
        total[:, :-1] += flux_y
        total[:, 1:] -= flux_y
        return total / h2

    def rate(_: float, state: Array) -> Array:
        u, v = state.reshape(2, cells, cells)
        du = diffusion[0] * laplacian(u) + u * (1 - u * u) - threshold - v  # u**3 would be ten times slower
        return np.concatenate([du.ravel(), (diffusion[1] * laplacian(v) + u - v).ravel()])

    found = solve_ivp(rate, (times[0], times[-1]), initial.ravel(), "RK45", t_eval=times, rtol=rtol, atol=atol)
    if not found.success:
        raise RuntimeError(f"RK45 failed: {found.message}")
    return found.y.T.reshape(len(times), 2, cells, cells)


def diffusion_reaction_reference(initial: Array, times: Array, **parameters: Any) -> Reference:
    """At PDEBench's tolerances and a thousand times tighter: the cells are the data's own, so only time is refined."""
    tight = {"rtol": 1e-3 * parameters.get("rtol", 1e-3), "atol": 1e-3 * parameters.get("atol", 1e-6)}
    coarse, fine = (diffusion_reaction(initial, times, **options) for options in (parameters, parameters | tight))
    return Reference(coarse, fine)


def flow_reference(
    primitive: Array, times: Array, cells: int, boundary: str, *, gamma: float, **more: Any
) -> Reference:
    """From a state on 4 · `cells` per side: solved there and on 2 · `cells`, both averaged to `cells`."""
    if any(side != 4 * cells for side in primitive.shape[1:]):
        raise ValueError(f"The initial state must have {4 * cells} cells per side; got shape {primitive.shape}.")
    coarse, fine = (
        [averaged(row, factor, gamma) for row in flow(start, times, boundary, gamma=gamma, **more)]
        for start, factor in ((averaged(primitive, 2, gamma), 2), (primitive, 4))
    )
    return Reference(np.stack(coarse), np.stack(fine))


def averaged(primitive: Array, factor: int, gamma: float) -> Array:
    """On a grid so many times coarser; conserved variables average exactly."""
    values = _conservative(primitive, gamma)
    for axis in range(1, values.ndim):
        shape = (*values.shape[:axis], values.shape[axis] // factor, factor, *values.shape[axis + 1 :])
        values = values.reshape(shape).mean(axis=axis + 1)
    return _primitive(values, gamma)


def flow(
    primitive: Array,
    times: Array,
    boundary: str,
    *,
    gamma: float,
    length: float = 1.0,
    shear: float = 0.0,
    bulk: float = 0.0,
    cfl: float = 0.4,
) -> Array:
    """`(times, channels, *space)` in primitive variables: MUSCL (minmod), HLLC fluxes, Heun, adaptive steps."""
    if boundary not in ("periodic", "outflow"):
        raise ValueError(f'boundary must be "periodic" or "outflow"; got {boundary!r}.')
    if np.any(primitive[0] <= 0) or np.any(primitive[-1] <= 0):
        raise ValueError(
            "The initial state has density or pressure that is not positive: expected primitive variables."
        )
    state = _conservative(primitive, gamma)
    spacing = length / primitive.shape[-1]
    rows, now = [primitive], float(times[0])
    for end in times[1:]:
        while now < end - 1e-12:
            w = _primitive(state, gamma)
            sound = np.sqrt(gamma * w[-1] / w[0])
            fastest = sum(np.max(np.abs(v) + sound) for v in w[1:-1])
            step = min(cfl * spacing / (fastest + (4 * shear + 3 * bulk) * (w.ndim - 1) / spacing), end - now)
            if not step > 0:
                raise RuntimeError(
                    f"The flow left the physical states at t = {now:.4g}: density or pressure is not positive."
                )
            euler = state + step * _rate(state, gamma, spacing, shear, bulk, boundary)
            state = (state + euler + step * _rate(euler, gamma, spacing, shear, bulk, boundary)) / 2
            now += step
        rows.append(_primitive(state, gamma))
    return np.stack(rows)


def _conservative(w: Array, gamma: float) -> Array:
    energy = w[-1] / (gamma - 1) + 0.5 * w[0] * np.sum(w[1:-1] ** 2, axis=0)
    return np.concatenate([w[:1], w[0] * w[1:-1], energy[None]])


def _primitive(u: Array, gamma: float) -> Array:
    pressure = (gamma - 1) * (u[-1] - 0.5 * np.sum(u[1:-1] ** 2, axis=0) / u[0])
    return np.concatenate([u[:1], u[1:-1] / u[0], pressure[None]])


def _rate(state: Array, gamma: float, spacing: float, shear: float, bulk: float, boundary: str) -> Array:
    total = np.zeros_like(state)
    for axis in range(1, state.ndim):
        width = [(0, 0)] * state.ndim
        width[axis] = (2, 2)
        w = np.pad(_primitive(state, gamma), width, mode="wrap" if boundary == "periodic" else "edge")
        w = np.moveaxis(w, axis, 1)
        back, ahead = np.diff(w, axis=1)[:, :-1], np.diff(w, axis=1)[:, 1:]
        slopes = np.where(back * ahead > 0, np.sign(back) * np.minimum(np.abs(back), np.abs(ahead)), 0)
        centre = w[:, 1:-1]
        left, right = (centre + slopes / 2)[:, :-1], (centre - slopes / 2)[:, 1:]
        flux = _hllc(left, right, axis, gamma)
        if shear or bulk:
            gradient = np.diff(centre[1:-1], axis=1) / spacing
            factor = np.array([shear + (shear / 3 + bulk if i == axis else 0) for i in range(1, state.ndim)])
            mean = (centre[:, :-1] + centre[:, 1:]) / 2
            stress = mean[0] * factor.reshape(-1, *[1] * (state.ndim - 1)) * gradient
            flux[1:-1] -= stress
            flux[-1] -= np.sum(stress * mean[1:-1], axis=0)
        total -= np.moveaxis(np.diff(flux, axis=1), 1, axis) / spacing
    return total


def _hllc(left: Array, right: Array, axis: int, gamma: float) -> Array:
    """The HLLC flux of primitive states along the axis whose velocity is channel `axis`."""
    (rl, ul, pl), (rr, ur, pr) = ((w[0], w[axis], w[-1]) for w in (left, right))
    cl, cr = np.sqrt(gamma * pl / rl), np.sqrt(gamma * pr / rr)
    sl, sr = np.minimum(ul - cl, ur - cr), np.maximum(ul + cl, ur + cr)
    middle = (pr - pl + rl * ul * (sl - ul) - rr * ur * (sr - ur)) / (rl * (sl - ul) - rr * (sr - ur))

    def side(w: Array, s: Array) -> tuple[Array, Array]:
        u = _conservative(w, gamma)
        velocity, pressure = w[axis], w[-1]
        flux = velocity * u
        flux[axis] += pressure
        flux[-1] += pressure * velocity
        factor = w[0] * (s - velocity) / (s - middle)
        star = factor * np.concatenate([np.ones_like(w[:1]), w[1:-1], (u[-1] / w[0])[None]])
        star[axis] = factor * middle
        star[-1] += factor * (middle - velocity) * (middle + pressure / (w[0] * (s - velocity)))
        return flux, flux + s * (star - u)

    (fl, star_l), (fr, star_r) = side(left, sl), side(right, sr)
    return np.where(sl > 0, fl, np.where(middle > 0, star_l, np.where(sr > 0, star_r, fr)))
