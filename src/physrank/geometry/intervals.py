"""Gap intervals: what is known about every true gap G_ij = R_j − R_i, and the decisions that this settles."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from physrank.geometry.space import Array


class InconsistentBounds(ValueError):
    """Two bounds on one gap exclude each other: at least one of them is wrong."""


@dataclass(frozen=True, eq=False)
class GapIntervals:
    """low_ij ≤ G_ij ≤ high_ij for all pairs, where a positive gap prefers i; low_ij = −high_ji, and G_ii = 0.

    NaN and infinite ends mean that nothing is known on that side. The ends are ordinary float64 numbers: whoever
    needs to cover round-off adds it with `widened`.
    """

    low: Array  # (N, N)
    high: Array  # (N, N)

    def __post_init__(self) -> None:
        low, high = np.array(self.low, np.float64), np.array(self.high, np.float64)
        if low.ndim != 2 or low.shape[0] != low.shape[1] or high.shape != low.shape:
            raise ValueError(f"Expected two N × N matrices of gap bounds; got shapes {low.shape} and {high.shape}.")
        unknown = np.isnan(low) | np.isnan(high).T
        low[unknown], high[unknown.T] = -np.inf, np.inf
        size = np.max(np.abs(low[np.isfinite(low)]), initial=0.0)
        pairs = ~np.isclose(low, -high.T, rtol=1e-9, atol=1e-12 * size)
        if np.any(pairs):
            i, j = _first(pairs)
            raise ValueError(
                f"Gap bounds must be antisymmetric, low[i, j] = −high[j, i]; got low[{i}, {j}] = {low[i, j]:g} and "
                f"high[{j}, {i}] = {high[j, i]:g}. Bound G_ij = R_j − R_i and G_ji = R_i − R_j by the same argument."
            )
        low = np.minimum(low, -high.T)  # where they differ by round-off, the wider end counts
        high = -low.T
        empty = (low > high) | (low == np.inf) | (high == -np.inf)
        if np.any(empty):
            i, j = _first(empty)
            raise ValueError(
                f"Gap bounds need low ≤ high and some finite gap between them; got [{low[i, j]:g}, {high[i, j]:g}] for "
                f"the pair ({i}, {j})" + (", whose gap is 0 by definition." if i == j else ".")
            )
        np.fill_diagonal(low, 0.0)
        np.fill_diagonal(high, 0.0)
        object.__setattr__(self, "low", low)
        object.__setattr__(self, "high", high)

    @classmethod
    def around(cls, gaps: ArrayLike, radius: ArrayLike) -> "GapIntervals":
        """[G_ij − r_ij, G_ij + r_ij]; a gap or radius that is not finite leaves its pair open."""
        gaps = np.asarray(gaps, np.float64)
        known = np.where(np.isfinite(gaps), gaps, np.nan)
        return cls(known, known).widened(radius)

    @property
    def signs(self) -> NDArray[np.int8]:
        """+1 where i is certainly better than j, −1 where j certainly is, 0 where the pair is open."""
        return (self.low > 0).astype(np.int8) - (self.high < 0).astype(np.int8)

    @property
    def winner(self) -> int | None:
        """The candidate that certainly beats every other one, strictly; None is an abstention."""
        certain = np.flatnonzero(np.all((self.low > 0) | np.eye(len(self.low), dtype=bool), axis=1))
        return int(certain[0]) if certain.size else None

    @property
    def worst_regret(self) -> Array:
        """max_j −low_kj for each candidate k: its largest possible excess loss over the best one.

        Attained when the ends are those of one uncertainty set; an upper bound after `intersect`.
        """
        return np.max(0.0 - self.low, axis=1)

    def within(self, tolerance: float) -> list[int]:
        """Every candidate whose regret certainly does not exceed `tolerance`."""
        if not tolerance >= 0:
            raise ValueError(f"tolerance must be a number ≥ 0; got {tolerance}.")
        return [int(k) for k in np.flatnonzero(self.worst_regret <= tolerance)]

    def widened(self, radius: ArrayLike) -> "GapIntervals":
        """[low − r, high + r], r ≥ 0 one number or a symmetric matrix; NaN leaves its pair open."""
        radius = np.asarray(radius, np.float64)
        if np.any(radius < 0):
            raise ValueError(f"A radius must be ≥ 0; got {np.nanmin(radius):g}. Bounds can be widened, not narrowed.")
        return GapIntervals(self.low - radius, self.high + radius)

    def transferred(self, support_plus: ArrayLike, support_minus: ArrayLike) -> "GapIntervals":
        """[low − 2σ(−d_ij), high + 2σ(d_ij)]: bounds for the target t + z, z ∈ 𝒰, from bounds for t.

        `support_plus[i, j]` = σ_𝒰(d_ij) and `support_minus[i, j]` = σ_𝒰(−d_ij), with d_ij = y_i − y_j. A set that
        contains 0 has supports ≥ 0 and only widens; one that does not (a known bias) also shifts.
        """
        plus, minus = np.asarray(support_plus, np.float64), np.asarray(support_minus, np.float64)
        return GapIntervals(self.low - 2 * minus, self.high + 2 * plus)


def intersect(named: Mapping[str, GapIntervals]) -> GapIntervals:
    """⋂_a I_ij⁽ᵃ⁾: every gap lies in all of the named bounds, for instance those of several anchors.

    Ends are compared exactly. Bounds that exclude each other raise `InconsistentBounds`, since then no gap is enclosed.
    """
    if not named:
        raise ValueError("Nothing to intersect: got no bounds; expected at least one, by name.")
    sizes = {name: len(bound.low) for name, bound in named.items()}
    if len(set(sizes.values())) > 1:
        raise ValueError(
            f"Bounds must be for the same candidates in the same order; got numbers of candidates {sizes}."
        )
    names, lows = list(named), np.stack([bound.low for bound in named.values()])
    highs = np.stack([bound.high for bound in named.values()])
    low, high = lows.max(axis=0), highs.min(axis=0)
    if np.any(low > high):
        # On a line, intervals without a common point always include two that are disjoint: these.
        i, j = _first(low > high)
        a, b = int(lows[:, i, j].argmax()), int(highs[:, i, j].argmin())
        said = [f"{names[k]!r} says [{lows[k, i, j]:.17g}, {highs[k, i, j]:.17g}]" for k in (a, b)]
        raise InconsistentBounds(
            f"The gap of the pair ({i}, {j}) has contradictory bounds: {said[0]}, {said[1]}. At least one is wrong: "
            "check the assumptions behind both, and whether their radii include round-off."
        )
    return GapIntervals(low, high)


def _first(mask: NDArray[np.bool_]) -> tuple[int, int]:
    i, j = np.argwhere(mask)[0]
    return int(i), int(j)
