"""Chebyshev collocation with Newton's method: spectral, dense, and sharing nothing with the instrument's differences."""

import numpy as np
import scipy.linalg
from numpy.polynomial import chebyshev

from physrank.geometry.space import Array
from physrank.lab.inputs import ReactionDiffusionInput


def nodes(points: int) -> Array:
    """Chebyshev–Lobatto nodes on [0, 1], ascending."""
    return (1 - np.cos(np.pi * np.arange(points) / (points - 1))) / 2


def differentiation(points: int) -> Array:
    """d/dx on those nodes, through the derivative of the Chebyshev interpolant."""
    x = 2 * nodes(points) - 1
    to_coefficients = np.linalg.inv(chebyshev.chebvander(x, points - 1))
    derivative = chebyshev.chebvander(x, points - 2) @ chebyshev.chebder(np.eye(points))
    return 2 * derivative @ to_coefficients


def solve(case: ReactionDiffusionInput, points: int = 40, *, rtol: float = 1e-11, max_steps: int = 30) -> Array:
    """u on `points` × `points` Lobatto nodes, boundary included."""
    x = nodes(points)
    grid_x, grid_y = np.meshgrid(x, x, indexing="ij")
    a, f = case.diffusion(grid_x, grid_y), case.forcing(grid_x, grid_y)
    d = differentiation(points)
    first, second, inner = d[1:-1, 1:-1], (d @ d)[1:-1, 1:-1], slice(1, -1)
    eye = np.eye(points - 2)
    a_x, a_y = (d @ a)[inner, inner].ravel(), (a @ d.T)[inner, inner].ravel()
    centre = a[inner, inner].ravel()
    linear = -(
        centre[:, None] * (np.kron(second, eye) + np.kron(eye, second))
        + a_x[:, None] * np.kron(first, eye)
        + a_y[:, None] * np.kron(eye, first)
    )
    linear[np.diag_indices_from(linear)] += case.linear
    rhs = f[inner, inner].ravel()
    u = np.zeros_like(rhs)
    start = np.linalg.norm(rhs)
    for _ in range(max_steps):
        residual = linear @ u + case.cubic * u**3 - rhs
        if np.linalg.norm(residual) <= rtol * start:
            break
        jacobian = linear.copy()
        jacobian[np.diag_indices_from(jacobian)] += 3 * case.cubic * u**2
        step = scipy.linalg.solve(jacobian, -residual, overwrite_a=True, check_finite=False)
        u += step
        if np.linalg.norm(step) <= 1e-14 * np.linalg.norm(u):
            break
    else:
        raise RuntimeError(f"Newton's method did not reach {rtol:g} in {max_steps} steps.")
    solution = np.zeros((points, points))
    solution[inner, inner] = u.reshape(points - 2, points - 2)
    return solution


def evaluate(solution: Array, x: Array) -> Array:
    """The interpolating polynomial on the tensor grid x × x."""
    points = len(solution)
    matrix = chebyshev.chebvander(2 * x - 1, points - 1) @ np.linalg.inv(
        chebyshev.chebvander(2 * nodes(points) - 1, points - 1)
    )
    return matrix @ solution @ matrix.T
