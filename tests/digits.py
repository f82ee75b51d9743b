"""Zeros in many digits at the price of doubles: residuals in many digits, corrections by a matrix of doubles.

Each correction gains what the condition of the matrix leaves of sixteen digits. Nothing is taken on trust: the last one must
be negligible, and where it does not become so, elimination in many digits is left to do.
"""

import mpmath
import numpy as np

mp = mpmath.mpf
BITS = 240  # of fixed-point numbers: whole numbers of Python are several times faster than mpmath's


def polished(residual, jacobian, guess, digits=45, rounds=60):
    """x with A(x) = 0 next to a guess; None where corrections do not fall off."""
    x, sizes = [mp(v) if isinstance(v, mpmath.mpf) else mp(float(v)) for v in guess], []
    matrix = None
    for k in range(rounds):
        if k < 10:  # far from the zero, Newton's method itself
            matrix = jacobian(np.array([float(v) for v in x]))
            if not np.isfinite(matrix).all():
                return None
        left = residual(x)
        unit = max(map(abs, left))
        if unit == 0:
            return x
        try:
            step = np.linalg.solve(matrix, np.array([float(r / unit) for r in left]))
        except np.linalg.LinAlgError:
            return None
        if not np.isfinite(step).all():
            return None
        x = [v - unit * mp(float(s)) for v, s in zip(x, step, strict=True)]
        sizes.append(unit * mp(float(np.abs(step).max())))
        if sizes[-1] <= mp(10) ** -digits * max(map(abs, x)):
            return x
        if k >= 12 and sizes[-1] > sizes[-6] / 100:
            return None
    return None


def fixed(value):
    """A number as a whole multiple of 2^−BITS."""
    return int(mpmath.nint(mpmath.ldexp(value, BITS)))


def unfixed(value):
    return mpmath.ldexp(mp(value), -BITS)
