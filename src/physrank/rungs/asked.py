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

    def left_open_by(self, rung: Rung, *causes: str) -> bool:
        """Whether a pair is open that would not be without some causes of doubt."""
        others = [part for cause, part in rung.parts.items() if cause not in causes]
        without = geometry.settled_pairs(rung.gaps, sum(others, np.zeros_like(rung.gaps)), self._in_units(rung))
        return bool(np.any(without & ~self.pairs(rung)))

    def settled(self, rung: Rung, decide: Decision | None = None) -> bool:
        """Whether what was asked for survives the uncertainty."""
        if rung.failed:
            return False
        if (decide or self.decide) == "best":
            leader = rung.leader
            if leader is None:
                return False
            gaps, doubt = rung.against_others(leader)
            gaps[leader] = np.nan  # nobody loses against himself
            return bool(geometry.possible_regret(gaps, doubt) <= self._in_units(rung))
        valid, pairs = np.isfinite(rung.gaps.diagonal()), self.pairs(rung)
        return bool(pairs.all() if valid.all() else valid.any() and pairs[np.ix_(valid, valid)].all())

    def _in_units(self, rung: Rung) -> float:
        return float(np.float64(self.tolerance) / rung.question.unit / rung.question.unit)
