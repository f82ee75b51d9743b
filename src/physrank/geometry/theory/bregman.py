"""Bregman losses D_Φ(x, y) = Φ(x) − Φ(y) − ⟨∇Φ(y), x − y⟩_M of both types, and their exact comparison coordinates."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from physrank.geometry.comparison import ComparisonSubspace
from physrank.geometry.intervals import GapIntervals
from physrank.geometry.space import Array, TaskSpace
from physrank.geometry.uncertainty import UncertaintySet, pair_supports


@dataclass(frozen=True, eq=False)
class AffineLosses:
    """Losses R_i = common + b_i − ⟨x, n_i⟩_M whose differences are affine in one coordinate x of the target."""

    space: TaskSpace
    normals: Array  # n_i: (N, *shape)
    offsets: Array  # b_i: (N,)

    def gaps(self, coordinate: Array) -> Array:
        """G_ij = b_j − b_i + ⟨x, n_i − n_j⟩_M for x of shape (..., *shape): (..., N, N)."""
        losses = self.offsets - self.space.coordinates(coordinate) @ self.space.coordinates(self.normals).T
        return losses[..., None, :] - losses[..., :, None]

    def intervals(self, coordinate: Array, uncertainty: UncertaintySet) -> GapIntervals:
        """[G_ij(x) − σ_𝒰(n_j − n_i), G_ij(x) + σ_𝒰(n_i − n_j)]: the hull of all gaps over x + 𝒰.

        An enclosure always; sharp when all of x + 𝒰 are coordinates of admissible targets.
        """
        gaps, supports = self.gaps(coordinate), pair_supports(self.space, self.normals, uncertainty)
        return GapIntervals(gaps - supports.T, gaps + supports)

    @property
    def subspace(self) -> ComparisonSubspace:
        """span{n_i − n_1}: the projection of x on it determines every gap."""
        return ComparisonSubspace.of(self.space, self.normals)


@dataclass(frozen=True)
class Bregman:
    """The losses of a potential Φ on a task space; `positive` says that Φ is defined for positive values only.

    `potential` maps (..., *shape) → (...). `gradient` keeps the shape and represents dΦ in the task metric:
    dΦ(x)[h] = ⟨∇Φ(x), h⟩_M.
    """

    space: TaskSpace
    potential: Callable[[Array], Array]
    gradient: Callable[[Array], Array]
    positive: bool = False

    @classmethod
    def separable(
        cls, space: TaskSpace, phi: Callable[[Array], Array], slope: Callable[[Array], Array], positive: bool = False
    ) -> "Bregman":
        """Φ(x) = Σ w_k φ(x_k), so that ∇Φ(x)_k = φ′(x_k): the weights are in the inner product already."""
        return cls(space, lambda x: space.inner(phi(x), np.ones(space.shape)), slope, positive)

    @classmethod
    def squared_norm(cls, space: TaskSpace) -> "Bregman":
        """Φ(x) = ‖x‖²_M: D(x, y) = ‖x − y‖²_M, of either type."""
        return cls.separable(space, np.square, lambda x: 2 * x)

    @classmethod
    def kullback_leibler(cls, space: TaskSpace) -> "Bregman":
        """Φ(x) = Σ w (x log x − x), x > 0: D(x, y) = Σ w (x log(x / y) − x + y)."""
        return cls.separable(space, lambda x: x * np.log(x) - x, np.log, positive=True)

    @classmethod
    def itakura_saito(cls, space: TaskSpace) -> "Bregman":
        """Φ(x) = −Σ w log x, x > 0: D(x, y) = Σ w (x / y − log(x / y) − 1)."""
        return cls.separable(space, lambda x: -np.log(x), lambda x: -1 / x, positive=True)

    def loss(self, x: Array, y: Array) -> Array:
        """D_Φ(x, y) = Φ(x) − Φ(y) − ⟨∇Φ(y), x − y⟩_M."""
        x, y = self._inside(x), self._inside(y)
        return self.potential(x) - self.potential(y) - self.space.inner(self.gradient(y), x - y)

    def dual(self, x: Array) -> Array:
        """∇Φ(x), the coordinate in which losses of the second type compare."""
        return self.gradient(self._inside(x))

    def first_type(self, outputs: Array) -> AffineLosses:
        """R_i(t) = D_Φ(t, y_i), compared in the coordinate t: n_i = ∇Φ(y_i), b_i = ⟨∇Φ(y_i), y_i⟩ − Φ(y_i)."""
        outputs = self._inside(outputs)
        normals = self.gradient(outputs)
        return AffineLosses(self.space, normals, self.space.inner(normals, outputs) - self.potential(outputs))

    def second_type(self, outputs: Array) -> AffineLosses:
        """R_i(t) = D_Φ(y_i, t), compared in the coordinate ∇Φ(t), not t: n_i = y_i, b_i = Φ(y_i)."""
        outputs = self._inside(outputs)
        return AffineLosses(self.space, outputs, self.potential(outputs))

    def first_type_gaps(self, targets: Array, outputs: Array) -> Array:
        """G_ij(t) = D_Φ(t, y_j) − D_Φ(t, y_i). Affine in t, so a proxy may leave the domain of Φ."""
        return self.first_type(outputs).gaps(targets)

    def second_type_gaps(self, targets: Array, outputs: Array) -> Array:
        """G_ij(t) = D_Φ(y_j, t) − D_Φ(y_i, t)."""
        return self.second_type(outputs).gaps(self.dual(targets))

    def first_type_intervals(self, outputs: Array, proxy: Array, uncertainty: UncertaintySet) -> GapIntervals:
        """Hull of the first-type gaps over t ∈ q + 𝒰."""
        return self.first_type(outputs).intervals(proxy, uncertainty)

    def second_type_intervals(self, outputs: Array, proxy: Array, uncertainty: UncertaintySet) -> GapIntervals:
        """Hull of the second-type gaps over ∇Φ(t) ∈ ∇Φ(q) + 𝒰: the set bounds the error of the dual variable."""
        return self.second_type(outputs).intervals(self.dual(proxy), uncertainty)

    def _inside(self, x: Array) -> Array:
        x = np.asarray(x, np.float64)
        if self.positive and not np.all(x > 0):
            raise ValueError(
                f"This potential is defined for positive values only; got values down to {np.min(x)}. "
                "Shift or clip the outputs yourself, or compare them with Bregman.squared_norm."
            )
        return x


def smooth_remainder(lipschitz: ArrayLike, distance: ArrayLike) -> Array:
    """|r_ij(h)| ≤ L_ij/2 · ‖h‖² for g_ij(t₀ + h) = g_ij(t₀) + ⟨h, ∇₁ℓ(t₀, y_j) − ∇₁ℓ(t₀, y_i)⟩ + r_ij(h).

    L_ij is a Lipschitz constant of the gradient difference between t₀ and t₀ + h. The tangent itself is
    `AffineLosses(space, normals=-gradients, offsets=losses)` at the coordinate h; widen its intervals by this.
    """
    lipschitz, distance = np.asarray(lipschitz, np.float64), np.asarray(distance, np.float64)
    if np.any(lipschitz < 0) or np.any(distance < 0):
        raise ValueError(f"Expected constants and distances ≥ 0; got minima {lipschitz.min()} and {distance.min()}.")
    return lipschitz / 2 * distance**2
