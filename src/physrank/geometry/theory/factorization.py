"""When a defect determines a task stably: J = T L, the least norm κ_*(J | L) of such a T, and the radius that follows."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from physrank.geometry.space import Array

INVISIBLE = 1e-8  # a smaller component of J on ker L, relative to ‖J‖, counts as round-off


@dataclass(frozen=True, eq=False)
class Factorization:
    """κ_* = inf{κ : ‖Jh‖ ≤ κ‖Lh‖ for all h}, and the T of that norm with J = TL; ∞ where J sees what L does not.

    L need not be invertible: a task may be determined by defects that leave the state open.
    """

    constant: float  # κ_*(J | L)
    factor: Array | None  # T, (tasks, defects); None when κ_* = ∞
    direction: Array  # h with ‖Jh‖ = κ_*‖Lh‖ and ‖Lh‖ = 1; when κ_* = ∞, an h with Lh = 0 but Jh ≠ 0; 0 when κ_* = 0

    @classmethod
    def of(cls, task: ArrayLike, operator: ArrayLike, rtol: float | None = None) -> "Factorization":
        """From J (tasks × unknowns) and L (defects × unknowns) in Euclidean coordinates.

        Singular values of L below `rtol` times the largest (by default, below round-off) count as zero.
        """
        j, matrix = (np.asarray(m, np.float64) for m in (task, operator))
        if j.ndim != 2 or matrix.ndim != 2 or j.shape[1] != matrix.shape[1]:
            raise ValueError(f"Expected two matrices that act on the same unknowns; got {j.shape} and {matrix.shape}.")
        left, singular, right = np.linalg.svd(matrix, full_matrices=False)
        cut = max(matrix.shape) * np.finfo(np.float64).eps if rtol is None else rtol
        kept = singular > cut * singular.max(initial=0.0)
        left, singular, right = left[:, kept], singular[kept], right[kept]
        hidden = j - (j @ right.T) @ right
        _, sizes, vectors = np.linalg.svd(hidden, full_matrices=False)
        largest = float(np.linalg.norm(j, 2)) if j.size else 0.0
        if sizes.max(initial=0.0) > INVISIBLE * largest:
            return cls(np.inf, None, vectors[0])
        inverse = (right.T / singular) @ left.T  # L⁺
        factor = j @ inverse
        if factor.size == 0 or not np.any(factor):
            return cls(0.0, factor, np.zeros(j.shape[1]))
        _, norms, worst = np.linalg.svd(factor, full_matrices=False)
        return cls(float(norms[0]), factor, inverse @ worst[0])


def holder_radius(
    distance: ArrayLike,
    *,
    factor_norm: float,
    operator_constant: float,
    task_constant: float = 0.0,
    mismatch: float = 0.0,
    exponent: float = 1.0,
) -> Array:
    """η R + (‖T‖ M_A + M_Q)/(1 + α) · R^{1+α}: how far −T A(v) may be from Q(u) − Q(v) when ‖u − v‖ ≤ R.

    M_A and M_Q are Hölder constants of DA and DQ with the exponent α on the segment, η = ‖T DA(v) − DQ(v)‖.
    """
    radius = np.asarray(distance, np.float64)
    sizes = {"factor_norm": factor_norm, "operator_constant": operator_constant, "task_constant": task_constant}
    if bad := [name for name, value in (sizes | {"mismatch": mismatch}).items() if not value >= 0]:
        raise ValueError(f"{', '.join(bad)} must be numbers ≥ 0.")
    if not 0 < exponent <= 1 or np.any(radius < 0):
        raise ValueError(f"Expected an exponent in (0, 1] and distances ≥ 0; got {exponent} and {radius}.")
    curved = (factor_norm * operator_constant + task_constant) / (1 + exponent)
    return mismatch * radius + curved * radius ** (1 + exponent)
