"""What a finer grid does to every gap: an exact identity in the drifts, the rank-or-abstain screen, scores of flips.

With c = q − (y_i + y_j)/2 and p = y_i − y_j a gap is G = 2⟨c, p⟩. From a coarse grid to a fine one c and p drift by δc and
δp, so that G_fine = G + 2⟨c, δp⟩ + 2⟨δc, p⟩ + 2⟨δc, δp⟩, whatever the size of the drifts.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from physrank.geometry.decisions import gaps_of
from physrank.geometry.intervals import GapIntervals
from physrank.geometry.space import Array, TaskSpace


@dataclass(frozen=True, eq=False)
class CrossGrid:
    """The gaps of one library on two grids, all lifted to one task space; matrices are N × N, positive gaps prefer i."""

    coarse: Array  # G on the coarse grid
    fine: Array  # G on the fine grid, from its own outputs and proxy
    first_order: Array  # the terms of degree ≤ 1 in the drifts
    remainder: Array  # 2⟨δc, δp⟩, of degree 2
    candidates_only: Array  # the same gap with the drift of the proxy left out: not an identity

    @classmethod
    def of(cls, space: TaskSpace, coarse: tuple[Array, Array], fine: tuple[Array, Array]) -> "CrossGrid":
        """From (proxy, outputs) on each grid; outputs have a leading candidate axis."""
        (q, y), (fine_q, fine_y) = (
            (np.asarray(proxy, np.float64), np.asarray(outputs, np.float64)) for proxy, outputs in (coarse, fine)
        )
        if y.shape != fine_y.shape:
            raise ValueError(
                f"Both grids need the same candidates, lifted to one task space; got {y.shape} and {fine_y.shape}."
            )
        q_drift, drifts = fine_q - q, fine_y - y
        gaps = gaps_of(space, y, q)
        rows = [_terms(space, q, y, q_drift, drifts, i) for i in range(len(y))]
        linear, bilinear, shared, shared_bilinear = (np.stack(column) for column in zip(*rows, strict=True))
        first = gaps + linear
        return cls(
            coarse=gaps,
            fine=gaps_of(space, fine_y, fine_q),
            first_order=first,
            remainder=bilinear,
            candidates_only=first + bilinear - shared - shared_bilinear,
        )

    @property
    def closure(self) -> Array:
        """|G_fine − Ĝ − R|: zero but for round-off."""
        return np.abs(self.fine - self.first_order - self.remainder)

    def screen(self, allowance: float | None = None) -> GapIntervals:
        """[Ĝ − |R| − η, Ĝ + |R| + η]: its `signs` and `winner` rank or abstain; without η, the closure itself.

        A sign that it gives is that of the fine grid's gap, not that of the truth.
        """
        return GapIntervals.around(
            self.first_order, np.abs(self.remainder) + (self.closure if allowance is None else allowance)
        )

    def labels(self, tolerance: float = 0.0, allowance: float | None = None) -> NDArray[np.float64]:
        """+1, −1 or 0 (a tie within the tolerance) where the screen's interval lies wholly there; NaN abstains."""
        if not tolerance >= 0:
            raise ValueError(f"tolerance must be a number ≥ 0; got {tolerance}.")
        known = self.screen(allowance)
        found = np.full(known.low.shape, np.nan)
        found[(known.low >= -tolerance) & (known.high <= tolerance)] = 0.0
        found[known.low > tolerance] = 1.0
        found[known.high < -tolerance] = -1.0
        return found

    @property
    def locality(self) -> Array:
        """|R| / |Ĝ|: below one the first order decides the sign; 0 on the diagonal."""
        size = np.abs(self.first_order)
        ratio = np.divide(np.abs(self.remainder), size, out=np.full_like(size, np.inf), where=size > 0)
        np.fill_diagonal(ratio, 0.0)
        return ratio

    @property
    def flipped(self) -> NDArray[np.bool_]:
        """Pairs whose strict order differs between the grids."""
        return np.sign(self.coarse) * np.sign(self.fine) < 0

    def flip_scores(self, first_order: bool = True) -> Array:
        """The larger, the likelier a flip: −sign(G) Ĝ from the first order, or −|G| from the margin alone.

        Without drifts the two agree: the first order is the margin, moved by what the drifts do to it.
        """
        return -np.sign(self.coarse) * (self.first_order if first_order else self.coarse)


def _terms(space: TaskSpace, q: Array, y: Array, q_drift: Array, drifts: Array, i: int) -> tuple[Array, ...]:
    """Of candidate i against all: 2⟨c, δp⟩ + 2⟨δc, p⟩, 2⟨δc, δp⟩, and what the proxy's drift contributes to each."""
    centre, apart = q - (y[i] + y) / 2, y[i] - y
    centre_drift, apart_drift = q_drift - (drifts[i] + drifts) / 2, drifts[i] - drifts
    moved = np.broadcast_to(q_drift, y.shape)
    return (
        2 * space.inner(centre, apart_drift) + 2 * space.inner(centre_drift, apart),
        2 * space.inner(centre_drift, apart_drift),
        2 * space.inner(moved, apart),
        2 * space.inner(moved, apart_drift),
    )
