"""Verlet's map of Sine–Gordon on a few points, in many digits."""

import mpmath
import numpy as np

mp = mpmath.mpf


def verlet_in_many_digits(problem):
    """The terminal row of the Verlet map on a few points, from the stored numbers: displacements, then velocities."""
    n, speed = problem.points, mp(float(problem.speed))
    symbol = [-((2 * mpmath.pi / mp(problem.length) * min(k, n - k)) ** 2) for k in range(n)]
    kernel = [sum(symbol[k] * mpmath.cos(2 * mpmath.pi * j * k / n) for k in range(n)) / n for j in range(n)]
    forcing = np.asarray(problem.forcing)
    u, v = ([mp(float(x)) for x in row] for row in np.asarray(problem.initial))
    times = [mp(float(t)) for t in np.asarray(problem.times)]

    def pull(u, f):
        bent = [sum(kernel[(j - k) % n] * u[k] for k in range(n)) for j in range(n)]
        return [speed**2 * b - mpmath.sin(x) + mp(float(g)) for b, x, g in zip(bent, u, f, strict=True)]

    for n_row in range(len(times) - 1):
        tau = (times[n_row + 1] - times[n_row]) / problem.substeps
        force = pull(u, forcing[n_row, 0])
        for j in range(problem.substeps):
            half = [x + tau / 2 * f for x, f in zip(v, force, strict=True)]
            u = [x + tau * w for x, w in zip(u, half, strict=True)]
            force = pull(u, forcing[n_row, j + 1])
            v = [x + tau / 2 * f for x, f in zip(half, force, strict=True)]
    return [*u, *v]
