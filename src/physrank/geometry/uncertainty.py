"""Uncertainty sets 𝒰 ∋ t − q with exact support functions, and the gap intervals that they imply.

Only ⟨z, d⟩ with d in the comparison subspace 𝒟 enters, so σ_𝒰(d) = σ_{P_𝒟 𝒰}(d): a set may be stated in the
whole task space, and its invisible part costs nothing.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from physrank.geometry.decisions import gaps_of
from physrank.geometry.intervals import GapIntervals
from physrank.geometry.space import Array, TaskSpace


class UncertaintySet(ABC):
    """A nonempty compact set 𝒰 of task-space vectors, known through its support function."""

    @abstractmethod
    def support(self, space: TaskSpace, directions: Array) -> Array:
        """σ_𝒰(d) = max_{z ∈ 𝒰} ⟨z, d⟩_M for `directions` of shape (..., *shape)."""


@dataclass(frozen=True)
class Ball(UncertaintySet):
    """‖z‖_M ≤ r: σ(d) = r ‖d‖_M."""

    radius: float

    def __post_init__(self) -> None:
        _check_sizes(self.radius, "The radius of a ball")

    def support(self, space: TaskSpace, directions: Array) -> Array:
        return self.radius * space.norm(directions)


@dataclass(frozen=True, eq=False)
class Ellipsoid(UncertaintySet):
    """{Σ c_k a_k : ‖c‖ ≤ 1}, the image of the unit ball under rows a_k: σ(d) = √Σ ⟨a_k, d⟩²_M."""

    axes: Array  # (number of axes, *shape); they need not be orthogonal

    def __post_init__(self) -> None:
        object.__setattr__(self, "axes", _finite(self.axes, "The axes of an ellipsoid"))

    def support(self, space: TaskSpace, directions: Array) -> Array:
        return np.sqrt(sum(space.inner(axis, directions) ** 2 for axis in self.axes))


@dataclass(frozen=True, eq=False)
class Box(UncertaintySet):
    """|z_k| ≤ h_k entry by entry: σ(d) = Σ w_k |d_k| h_k."""

    half_widths: Array  # one number, or an array that broadcasts to one output

    def __post_init__(self) -> None:
        object.__setattr__(self, "half_widths", _check_sizes(self.half_widths, "The half-widths of a box"))

    def support(self, space: TaskSpace, directions: Array) -> Array:
        return space.inner(np.abs(directions), np.broadcast_to(self.half_widths, space.shape))


@dataclass(frozen=True, eq=False)
class FiniteSet(UncertaintySet):
    """Finitely many alternatives z_k: σ(d) = max_k ⟨z_k, d⟩_M.

    Not convex: the gaps it allows are finitely many and do not fill their interval, but both ends are attained,
    so certified signs, winners and regrets are exact all the same.
    """

    points: Array  # (number of points, *shape)

    def __post_init__(self) -> None:
        object.__setattr__(self, "points", _finite(self.points, "The points of a finite set"))

    def support(self, space: TaskSpace, directions: Array) -> Array:
        return np.max([space.inner(point, directions) for point in self.points], axis=0)


@dataclass(frozen=True)
class Sum(UncertaintySet):
    """The Minkowski sum 𝒰_1 + … + 𝒰_p of sources that add: σ = σ_1 + … + σ_p."""

    parts: tuple[UncertaintySet, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "parts", tuple(self.parts))
        if not self.parts:
            raise ValueError(
                "A sum needs at least one part: without any it would claim that q is exact. Use Ball(0.0)."
            )

    def support(self, space: TaskSpace, directions: Array) -> Array:
        return np.sum([part.support(space, directions) for part in self.parts], axis=0)


def pair_supports(space: TaskSpace, outputs: Array, uncertainty: UncertaintySet) -> Array:
    """σ_𝒰(y_i − y_j) for all pairs; its transpose is σ_𝒰(−(y_i − y_j))."""
    outputs = np.asarray(outputs, np.float64)
    return np.stack([uncertainty.support(space, y - outputs) for y in outputs])


def gap_intervals(space: TaskSpace, outputs: Array, proxy: Array, uncertainty: UncertaintySet) -> GapIntervals:
    """[G_ij(q) − 2σ_𝒰(y_j − y_i), G_ij(q) + 2σ_𝒰(y_i − y_j)]: the hull of G_ij(t) over all t ∈ q + 𝒰.

    Both ends are attained, so a pair, a winner or a regret that these intervals leave open is open for some t.
    Entries that are not finite leave open the pairs of their output, or all pairs when they are in the proxy.
    """
    # NaN, unlike ∞, spreads without arithmetic warnings and is read as "nothing known".
    outputs, proxy = (np.where(np.isfinite(x), x, np.nan) for x in (outputs, proxy))
    gaps = gaps_of(space, outputs, proxy)
    supports = pair_supports(space, outputs, uncertainty)
    return GapIntervals(gaps, gaps).transferred(supports, supports.T)


def _check_sizes(values: Array | float, what: str) -> Array:
    values = np.asarray(values, np.float64)
    if not np.all((values >= 0) & np.isfinite(values)):
        raise ValueError(
            f"{what} must be finite numbers ≥ 0; got values from {np.min(values)} to {np.max(values)}. "
            "Without a bound, use GapIntervals.around(gaps, np.inf)."
        )
    return values


def _finite(values: Array, what: str) -> Array:
    values = np.asarray(values, np.float64)
    if values.ndim == 0 or len(values) == 0 or not np.all(np.isfinite(values)):
        raise ValueError(
            f"{what} must be one or more finite vectors, shape (number, *output shape); got shape {values.shape} "
            f"with {np.count_nonzero(~np.isfinite(values))} entries that are not finite."
        )
    return values
