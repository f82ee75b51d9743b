"""The trapezoidal map of diffusion–reaction on two cells by two, in many digits."""

import itertools

import numpy as np

from digits import mp, polished

CELLS = 2
BESIDE = [[1, 2], [0, 3], [3, 0], [2, 1]]


def rates(w, spread, threshold):
    """F(w) for w = (u_0 … u_3, v_0 … v_3), of numbers of any kind."""
    u, v = w[: CELLS**2], w[CELLS**2 :]
    flow = lambda x, c, d: d * (sum(x[k] for k in BESIDE[c]) - 2 * x[c])  # noqa: E731
    first = [flow(u, c, spread[0]) + u[c] - u[c] * u[c] * u[c] - threshold - v[c] for c in range(CELLS**2)]
    return first + [flow(v, c, spread[1]) + u[c] - v[c] for c in range(CELLS**2)]


def slopes(w, spread):
    """Its matrix, of doubles."""
    n = CELLS**2
    found = np.zeros((2 * n, 2 * n))
    for c in range(n):
        for field, d in enumerate(spread):
            row = c + n * field
            found[row, row] -= 2 * d
            for other in BESIDE[c]:
                found[row, other + n * field] += d
        found[c, c] += 1 - 3 * w[c] ** 2
        found[c, c + n], found[c + n, c] = -1, 1
        found[c + n, c + n] -= 1
    return found


def trapezoid_in_many_digits(problem):
    """All rows of the map's own solution, step by step; None where a step was not found."""
    times = [mp(float(t)) for t in np.asarray(problem.times)]
    spread = [mp(float(d)) * (mp(CELLS) / mp(problem.length)) ** 2 for d in np.asarray(problem.diffusion)]
    threshold, near = mp(float(problem.threshold)), [float(d) for d in spread]
    w = [mp(float(x)) for x in np.ravel(problem.initial)]
    rows = [w]
    for before, after in itertools.pairwise(times):
        half = (after - before) / 2
        known = [x + half * f for x, f in zip(w, rates(w, spread, threshold), strict=True)]

        def residual(x, half=half, known=known):
            return [a - half * f - k for a, f, k in zip(x, rates(x, spread, threshold), known, strict=True)]

        def jacobian(x, half=half):
            return np.eye(2 * CELLS**2) - float(half) * slopes(x, near)

        w = polished(residual, jacobian, w)
        if w is None:
            return None
        rows.append(w)
    return rows
