"""How well a linear observation 𝒯 determines the comparison coordinate: κ_𝒟(𝒯), the best decoder, the minimax risk."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from physrank.geometry.comparison import ComparisonSubspace
from physrank.geometry.space import Array, TaskSpace
from physrank.geometry.theory.factorization import Factorization


@dataclass(frozen=True, eq=False)
class Observability:
    """κ = inf{C : ‖P_𝒟 h‖_M ≤ C ‖𝒯h‖ for all h}; ∞ when 𝒯 overlooks some direction that matters to a decision.

    In double precision "overlooks" needs a threshold: a component below 1e-8 of a unit vector of 𝒟 in ker 𝒯 counts as
    round-off, so κ is that of decisions perturbed by less than that.
    """

    constant: float  # κ_𝒟(𝒯)
    factor: Array | None  # (*shape, m): the B of least norm with B𝒯 = P_𝒟 (its norm is κ); None when κ = ∞
    direction: Array  # h with ‖P_𝒟 h‖ = κ‖𝒯h‖; when κ = ∞, an h with 𝒯h = 0 but P_𝒟 h ≠ 0
    observed: Array  # 𝒯h, of norm 1, or 0 when κ is 0 or ∞

    @classmethod
    def of(cls, subspace: ComparisonSubspace, matrix: ArrayLike, rtol: float | None = None) -> "Observability":
        """For 𝒯x = `matrix` @ x.ravel(), with Euclidean observations.

        Singular values below `rtol` times the largest (by default, below round-off) count as zero, so a direction that
        is seen no better than that is invisible: κ = ∞, not a large number that round-off made.
        """
        space = subspace.space
        roots = np.sqrt(space.weights).ravel()
        matrix = _observation(matrix, space)
        basis = space.coordinates(subspace.basis)  # (rank, size), Euclidean from here on
        found = Factorization.of(basis, matrix / roots, rtol)  # κ_𝒟(𝒯) = κ_*(P_𝒟 | 𝒯)
        direction = (found.direction / roots).reshape(space.shape)
        if found.factor is None:
            return cls(np.inf, None, direction, np.zeros(len(matrix)))
        factor = ((basis.T @ found.factor) / roots[:, None]).reshape(*space.shape, len(matrix))
        return cls(found.constant, factor, direction, matrix @ direction.ravel())

    def two_points(self, noise: float) -> tuple[Array, Array]:
        """(x, n) with ‖n‖ = δ such that (x, n) and (−x, −n) are both observed as 𝒯x + n = 0.

        Their P_𝒟 x differ by 2κδ, so whatever an estimator answers to 0, it errs by at least κδ on one of them.
        When κ = ∞ the noise is 0 and x may be scaled without limit.
        """
        _check_noise(noise)
        if np.isinf(self.constant):
            return self.direction, self.observed
        return noise * self.direction, -noise * self.observed


def opposite_targets(space: TaskSpace, outputs: Array, direction: Array) -> tuple[Array, Array]:
    """(αh, −αh) with α so large that no candidate is best for both, for an h that is not orthogonal to 𝒟.

    Whoever observes 𝒯 with 𝒯h = 0 sees the same of the two: top-1, too, needs ker 𝒯 ⊆ 𝒟^⊥, whatever rule breaks ties.
    """
    outputs, h = np.asarray(outputs, np.float64), np.asarray(direction, np.float64)
    along, sizes = space.inner(outputs, h), space.norm_squared(outputs)
    apart, off = along[:, None] - along[None, :], np.abs(sizes[:, None] - sizes[None, :])
    if not np.any(real := np.abs(apart) > 1e-12 * (np.abs(along).max(initial=0.0) + np.finfo(np.float64).tiny)):
        raise ValueError(
            "The direction is orthogonal to all differences of the candidates: no target along it decides."
        )
    # i beats j at αh once 2α(a_i − a_j) exceeds ‖y_i‖² − ‖y_j‖², for every i with the largest a_i and j without it.
    alpha = 1 + np.max(off[real] / (2 * np.abs(apart[real])))
    return alpha * h, -alpha * h


def minimax_risk(constant: float, noise: float) -> float:
    """inf over estimators of sup over x and ‖n‖ ≤ δ of ‖ẑ(𝒯x + n) − P_𝒟 x‖_M = κδ, for x unrestricted."""
    _check_noise(noise)
    if not constant >= 0:
        raise ValueError(f"The observability constant must be a number ≥ 0; got {constant}.")
    return np.inf if np.isinf(constant) else constant * noise  # without noise an invisible direction stays invisible


def restricted_kernel_condition(space: TaskSpace, outputs: Array, matrix: ArrayLike, directions: Array) -> bool:
    """ker(𝒯|_V) ⊆ 𝒟_V^⊥ for V = span(directions) and 𝒟_V = span{P_V(y_i − y_1)}.

    Enough for 𝒯z to determine every gap, sign and winner for targets z in z₀ + V. Needed only for target classes
    that expose every active direction, as all of z₀ + V does: within a smaller class, less may be enough.
    """
    directions = np.asarray(directions, np.float64).reshape(-1, *space.shape)
    origin = np.zeros((1, *space.shape))
    frame = ComparisonSubspace.of(space, np.concatenate([origin, directions])).basis  # M-orthonormal basis of V
    observation = _observation(matrix, space) / np.sqrt(space.weights).ravel()
    if len(frame) == 0:
        return True  # a single target: nothing is left to determine
    flat, onto = space.coordinates(outputs), space.coordinates(frame).T
    seen, restricted = (flat - flat.mean(axis=0)) @ onto, observation @ onto  # both in coordinates of V
    active = ComparisonSubspace.of(TaskSpace(np.ones(len(frame))), seen, rtol=_roundoff(flat, seen))
    return bool(np.isfinite(Observability.of(active, restricted, rtol=_roundoff(observation, restricted)).constant))


def _roundoff(whole: Array, part: Array) -> float:
    """Round-off of `whole` relative to the size of its restriction, which may consist of nothing else."""
    size = np.linalg.norm(part)
    return float(8 * max(whole.shape) * np.finfo(np.float64).eps * np.linalg.norm(whole) / size) if size > 0 else 0.0


def _observation(matrix: ArrayLike, space: TaskSpace) -> Array:
    matrix = np.asarray(matrix, np.float64)
    if matrix.ndim != 2 or matrix.shape[1] != space.weights.size or not np.all(np.isfinite(matrix)):
        raise ValueError(
            f"Expected an observation matrix of shape (observations, {space.weights.size}) with finite entries, acting "
            f"on a flattened output of shape {space.shape}; got shape {matrix.shape}."
        )
    return matrix


def _check_noise(noise: float) -> None:
    if not (noise >= 0 and np.isfinite(noise)):
        raise ValueError(f"The noise bound must be a finite number ≥ 0; got {noise}.")
