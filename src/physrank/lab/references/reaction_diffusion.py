"""Reaction–diffusion by damped Newton on fine difference grids, in NumPy, with coefficients evaluated at faces.

The instrument averages nodal coefficients harmonically; here a(x) is evaluated at the face midpoints themselves. Linear
systems are solved by conjugate gradients with SciPy's sine transform as preconditioner.
"""

import numpy as np
import scipy.fft
from scipy.interpolate import RectBivariateSpline

from physrank.geometry.space import Array
from physrank.lab.inputs import ReactionDiffusionInput
from physrank.lab.references.reference import Reference, at_level

LEVELS = {"first": (511, 767), "second": (767, 1023)}  # interior nodes per side


def solve(case: ReactionDiffusionInput, points: int, guess: Array | None = None, *, rtol: float = 1e-11) -> Array:
    """u on `points` interior nodes per side, boundary not included."""
    h = 1 / (points + 1)
    x, faces = h * np.arange(1, points + 1), h * (np.arange(points + 1) + 0.5)
    a_x = case.diffusion(*np.meshgrid(faces, x, indexing="ij")) / h**2
    a_y = case.diffusion(*np.meshgrid(x, faces, indexing="ij")) / h**2
    f = case.forcing(*np.meshgrid(x, x, indexing="ij"))
    diagonal = a_x[1:] + a_x[:-1] + a_y[:, 1:] + a_y[:, :-1]
    scale = 1 / np.sqrt(diagonal * h**2 / 4)  # 1/√a
    eigenvalues = 4 / h**2 * np.sin(np.pi * np.arange(1, points + 1) / (2 * (points + 1))) ** 2
    symbol = eigenvalues[:, None] + eigenvalues[None, :] + 1.0

    def diffusion(u: Array) -> Array:
        result = diagonal * u
        result[1:] -= a_x[1:-1] * u[:-1]
        result[:-1] -= a_x[1:-1] * u[1:]
        result[:, 1:] -= a_y[:, 1:-1] * u[:, :-1]
        result[:, :-1] -= a_y[:, 1:-1] * u[:, 1:]
        return result

    def precondition(r: Array) -> Array:
        modes = np.asarray(scipy.fft.dstn(scale * r, type=1)) / symbol
        return scale * np.asarray(scipy.fft.idstn(modes, type=1))

    def residual(u: Array) -> Array:
        return diffusion(u) + case.linear * u + case.cubic * u**3 - f

    u = np.zeros((points, points)) if guess is None else guess
    r = residual(u)
    target = max(rtol * float(np.linalg.norm(f)), 1e-13)
    for _ in range(30):
        size = float(np.linalg.norm(r))
        if size <= target:
            return u
        reaction = case.linear + 3 * case.cubic * u**2
        # Newton needs its step no better than the residual it leads to.
        step = _conjugate_gradients(
            lambda p, c=reaction: diffusion(p) + c * p, -r, precondition, max(1e-12 * size, 0.1 * target)
        )
        length = 1.0
        while np.linalg.norm(new := residual(u + length * step)) >= size and length > 1e-3:
            length /= 2
        if length <= 1e-3:
            break
        u, r = u + length * step, new
    # Differences of size 1/h² leave round-off of this size in the residual; below it nothing improves.
    if np.linalg.norm(r) <= 50 * np.finfo(float).eps * np.linalg.norm(diagonal * u):
        return u
    raise RuntimeError(f"Newton's method stalled at a residual of {np.linalg.norm(r):.2g}, asked {target:.2g}.")


def reference(case: ReactionDiffusionInput, points: int, level: str = "first") -> Reference:
    """Coarse and fine solutions on `points` interior nodes per side, boundary included; each starts from the one before."""
    below, found = solve(case, 127), []
    for n in at_level(LEVELS, level):
        below = solve(case, n, interpolate(below, n)[1:-1, 1:-1])
        found.append(interpolate(below, points))
    return Reference(*found)


def _conjugate_gradients(operator, rhs: Array, precondition, target: float, max_steps: int = 200) -> Array:
    x, r = np.zeros_like(rhs), rhs.copy()
    z = precondition(r)
    p, rz = z.copy(), np.vdot(r, z)
    for _ in range(max_steps):
        if np.linalg.norm(r) <= target:
            break
        q = operator(p)
        alpha = rz / np.vdot(p, q)
        x += alpha * p
        r -= alpha * q
        z = precondition(r)
        rz, previous = np.vdot(r, z), rz
        p = z + rz / previous * p
    return x


def interpolate(interior: Array, points: int) -> Array:
    """From one grid of interior nodes to another, boundary included, by a bicubic-or-better tensor spline."""
    from_nodes, to_nodes = np.linspace(0, 1, len(interior) + 2), np.linspace(0, 1, points + 2)
    spline = RectBivariateSpline(from_nodes, from_nodes, np.pad(interior, 1), kx=5, ky=5)
    return spline(to_nodes, to_nodes)
