"""Reaction–diffusion on a short line, and its zero in many digits."""

import itertools

import mpmath
import numpy as np

import physrank as pr
from digits import polished

POINTS = 5  # interior nodes: small enough for many digits, many times


def draw(random: np.random.Generator, contrast: float | None = None) -> pr.equations.ReactionDiffusion:
    """From gentle to absurd: coefficients over many orders of magnitude."""
    wild = random.random() < 0.5
    spread = 4.0 if wild else 0.5
    a = 10.0 ** random.uniform(-spread, spread, POINTS + 2)
    a = a if contrast is None else contrast ** random.uniform(0, 1, POINTS + 2)
    f = 10.0 ** random.uniform(-spread, 2 * spread) * random.standard_normal(POINTS + 2)
    cubic = 0.0 if random.random() < 0.1 else 10.0 ** random.uniform(-spread, 2 * spread)
    linear = 0.0 if random.random() < 0.1 else 10.0 ** random.uniform(-spread, spread)
    return pr.equations.ReactionDiffusion(a, f, linear, cubic)


def zero_in_many_digits(problem: pr.equations.ReactionDiffusion, guess: np.ndarray) -> list[mpmath.mpf]:
    """Newton's method on the tridiagonal problem, from the formula and the stored numbers."""
    mp = mpmath.mpf
    a, f = ([mp(float(v)) for v in np.asarray(array)] for array in (problem.diffusion, problem.forcing))
    lam, gam, h2 = mp(float(problem.linear)), mp(float(problem.cubic)), (mp(1) / (POINTS + 1)) ** 2
    face = [2 * x * y / (x + y) / h2 for x, y in itertools.pairwise(a)]
    inner = range(1, POINTS + 1)

    def left(u: list) -> list:
        return [
            face[k - 1] * (u[k] - u[k - 1]) + face[k] * (u[k] - u[k + 1]) + lam * u[k] + gam * u[k] ** 3 - f[k]
            for k in inner
        ]

    near = [float(x) for x in face]
    stiffness = np.diag(np.add(near[1:], near[:-1])) - np.diag(near[1:-1], 1) - np.diag(near[1:-1], -1)

    def jacobian(x: np.ndarray) -> np.ndarray:
        return stiffness + np.diag(float(lam) + 3 * float(gam) * x**2)

    with np.errstate(all="ignore"):
        quick = polished(lambda x: left([mp(0), *x, mp(0)]), jacobian, _near(jacobian, problem, guess))
    if quick is not None:
        return [mp(0), *quick, mp(0)]
    u = [mp(0), *(mp(float(v)) for v in guess), mp(0)]
    for _ in range(200):
        residual = left(u)
        diagonal = [face[k - 1] + face[k] + lam + 3 * gam * u[k] ** 2 for k in inner]
        step = _tridiagonal([-face[k] for k in range(1, POINTS)], diagonal, residual)
        size = max(abs(x) for x in u) + mp(10) ** -60
        u = [mp(0), *(x - s for x, s in zip(u[1:-1], step, strict=True)), mp(0)]
        if max(abs(s) for s in step) <= size * mp(10) ** -45:
            return u
    raise AssertionError("Newton's method in many digits did not converge.")


def _near(jacobian, problem, guess: np.ndarray) -> np.ndarray:
    """Newton's method in doubles."""
    x, f = np.array(guess, float), np.asarray(problem.forcing)[1:-1]
    lam, gam = float(problem.linear), float(problem.cubic)
    stiffness = jacobian(np.zeros(POINTS)) - lam * np.eye(POINTS)
    for _ in range(100):
        step = np.linalg.solve(jacobian(x), stiffness @ x + lam * x + gam * x**3 - f)
        x = x - step
        if not np.abs(step).max() > 1e-13 * np.abs(x).max():
            break
    return x


def _tridiagonal(off: list, diagonal: list, rhs: list) -> list:
    """Elimination without pivoting: the matrix is symmetric and positive definite."""
    d, r = list(diagonal), list(rhs)
    for k in range(1, len(d)):
        factor = off[k - 1] / d[k - 1]
        d[k] -= factor * off[k - 1]
        r[k] -= factor * r[k - 1]
    x = [r[-1] / d[-1]]
    for k in range(len(d) - 2, -1, -1):
        x.insert(0, (r[k] - off[k] * x[0]) / d[k])
    return x
