"""The comparison subspace 𝒟 = span{y_i − y_1}: all that a ranking can see of the truth."""

from dataclasses import dataclass

import numpy as np

from physrank.geometry.space import Array, TaskSpace


@dataclass(frozen=True)
class ComparisonSubspace:
    """𝒟 with an M-orthonormal basis; `rank` ≤ N − 1, less when candidates repeat or depend on each other."""

    space: TaskSpace
    basis: Array  # (rank, *output shape), M-orthonormal

    @classmethod
    def of(cls, space: TaskSpace, outputs: Array, rtol: float | None = None) -> "ComparisonSubspace":
        """Rank-revealing (singular value) basis of the candidate differences.

        A direction counts when its singular value exceeds `rtol` times the largest one, and also the round-off
        that forming differences of outputs of this size leaves behind.
        """
        flat = space.coordinates(outputs)
        # Deviations from the mean span the same space as y_i − y_1, without privileging a candidate.
        deviations = flat - flat.mean(axis=0)
        _, singular, directions = np.linalg.svd(deviations, full_matrices=False)
        eps = np.finfo(np.float64).eps
        size = max(deviations.shape)
        relative = (size * eps if rtol is None else rtol) * (singular[0] if singular.size else 0.0)
        roundoff = 4 * eps * np.sqrt(len(flat)) * np.max(np.linalg.norm(flat, axis=1), initial=0.0)
        kept = directions[singular > max(relative, roundoff)]
        return cls(space, space.vectors(kept))

    @property
    def rank(self) -> int:
        return len(self.basis)

    def coordinates(self, target: Array) -> Array:
        """The `rank` numbers ⟨b_k, t⟩_M that determine every decision about `target`."""
        return self.space.coordinates(self.basis) @ self.space.coordinates(target)

    def project(self, target: Array) -> Array:
        """P_𝒟 t."""
        return np.tensordot(self.coordinates(target), self.basis, axes=1)

    def decompose(self, error: Array) -> tuple[Array, Array]:
        """`(P_𝒟 e, P_𝒟⊥ e)`: the part that can change a decision, and the part that cannot."""
        visible = self.project(error)
        return visible, np.asarray(error, np.float64) - visible
