"""What a ranking is asked to settle, and how sure its data are."""

from dataclasses import dataclass
from numbers import Real
from typing import Literal

import numpy as np

from physrank import geometry
from physrank.rungs.data import Doubtful, certain
from physrank.rungs.rung import Rung

Decision = Literal["order", "best"]


@dataclass(frozen=True)
class Asked:
    """What must be settled: the whole order, or a candidate within `tolerance` of the best loss."""

    decide: Decision = "order"
    tolerance: float = 0.0
    doubtful: Doubtful = certain  # what the stated uncertainty of the data adds to a rung

    def __post_init__(self) -> None:
        if self.decide not in ("order", "best"):
            raise ValueError(f'decide must be "order" or "best"; got {self.decide!r}.')
        if not (isinstance(self.tolerance, Real) and np.isfinite(self.tolerance) and self.tolerance >= 0):
            raise ValueError(f"tolerance must be a finite number ≥ 0; got {self.tolerance!r}.")

    def pairs(self, rung: Rung) -> np.ndarray:
        """N × N: whether a pair's sign survives its uncertainty, or both are within the tolerance all the same."""
        if rung.failed:
            return np.eye(len(rung.gaps), dtype=bool)
        return geometry.settled_pairs(rung.gaps, rung.uncertainty, self._in_units(rung))

    def settled(self, rung: Rung, decide: Decision | None = None) -> bool:
        """Whether what was asked for survives the uncertainty."""
        gaps = rung.gaps
        valid = np.flatnonzero(np.isfinite(np.diagonal(gaps)))
        if rung.failed or not valid.size:
            return False
        rows = np.ix_(valid, valid)
        if (decide or self.decide) == "order":
            return bool(self.pairs(rung)[rows].all())
        regret = geometry.possible_regret(gaps[rows], rung.uncertainty[rows])
        best = np.argmax(gaps[rows].min(axis=1))  # it loses against nobody
        return bool(regret[best] <= self._in_units(rung))

    def _in_units(self, rung: Rung) -> float:
        return float(np.float64(self.tolerance) / rung.question.unit / rung.question.unit)
