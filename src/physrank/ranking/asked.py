"""What a ranking is asked to settle, and how sure its data are."""

from dataclasses import dataclass
from numbers import Real
from typing import Literal

import numpy as np

from physrank.rungs.data import Doubtful, certain


@dataclass(frozen=True)
class Asked:
    """What must be settled: the whole order, or a candidate within `tolerance` of the best loss."""

    decide: Literal["order", "best"] = "order"
    tolerance: float = 0.0
    doubtful: Doubtful = certain  # what the stated uncertainty of the data adds to a rung

    def __post_init__(self) -> None:
        if self.decide not in ("order", "best"):
            raise ValueError(f'decide must be "order" or "best"; got {self.decide!r}.')
        if not (isinstance(self.tolerance, Real) and np.isfinite(self.tolerance) and self.tolerance >= 0):
            raise ValueError(f"tolerance must be a finite number ≥ 0; got {self.tolerance!r}.")
