"""How far a computed discrete Fourier transform can be off: ‖fl(F x) − F x‖ ≤ φ_n ‖F x‖ in the Euclidean norm.

A transform of n = Π p points is a product of as many stages, each a block diagonal of p × p transforms times unit factors.
As in Higham, Accuracy and Stability of Numerical Algorithms, theorem 24.2, which has p = 2: a stage computes sums of p
products with factors that are themselves off by μ, so that it errs by at most (μ + γ_{p+3}) √p relative to its own norm (the
matrix of absolute values has √p times the norm of the transform), and errors of the stages add up:

    φ_n ≤ Σ_p (μ + (p + 3) u) √p · (1 + small).

μ = 4u is assumed of the factors, which libraries compute more exactly, and the whole is doubled: real transforms, scaled ones
and inverses are the same up to operations that the doubling covers. Libraries go this way for n below 50 and where no prime
factor exceeds 13 or √n; others may be done by convolution (Bluestein), which this does not cover: there is no bound then.
"""

import numpy as np

from physrank.certificates.enclosures.rounding import UNIT


def transform_error(points: int, unit: float = UNIT) -> float:
    """φ_n for a unit round-off; ∞ where none is known."""
    total, left, p = 0.0, points, 2
    while left > 1:
        if left % p:
            p += 1
            continue
        if p > 13 and points >= 50 and p * p > points:
            return float("inf")
        total, left = total + (4 + p + 3) * unit * np.sqrt(p), left // p
    return 2.02 * total


WIDE = np.longdouble if np.finfo(np.longdouble).nmant in (52, 63, 112) else np.float64  # others are pairs of doubles
WIDE_UNIT = float(np.finfo(WIDE).eps) / 2
