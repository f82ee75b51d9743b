"""Recovery metrics: how well scores made without a reference reproduce the decisions of the true losses."""

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from physrank import geometry
from physrank.geometry.space import Array

REFERENCE_TIE = 1e-6  # hidden losses closer than this are ties, and within it of the best counts as tolerant top-1


@dataclass(frozen=True)
class Recovery:
    """Counts over cases (one input with one library)."""

    cases: int
    pairs: int  # reference non-ties
    pairs_correct: int
    top1_exact: int
    top1_tolerant: int
    mean_regret: float
    mean_normalized_regret: float

    @classmethod
    def of(cls, losses: Array, scores: Array, tolerance: float = REFERENCE_TIE) -> "Recovery":
        """`losses` and `scores` are `(cases, candidates)`; a candidate with a NaN score is never chosen."""
        truth = [geometry.pair_labels(row, tolerance) for row in losses]
        found = [geometry.pair_labels(row) for row in scores]
        upper = np.triu_indices(losses.shape[1], 1)
        decided = np.stack([labels[upper] != 0 for labels in truth])
        agree = np.stack([a[upper] == b[upper] for a, b in zip(truth, found, strict=True)])
        chosen = [int(np.nanargmin(row)) for row in scores]
        return cls(
            cases=len(losses),
            pairs=int(decided.sum()),
            pairs_correct=int((agree & decided).sum()),
            top1_exact=sum(c == geometry.top1(row) for c, row in zip(chosen, losses, strict=True)),
            top1_tolerant=sum(
                c in geometry.tolerant_winners(row, tolerance) for c, row in zip(chosen, losses, strict=True)
            ),
            mean_regret=float(np.mean([geometry.regret(row, c) for c, row in zip(chosen, losses, strict=True)])),
            mean_normalized_regret=float(
                np.mean([geometry.normalized_regret(row, c) for c, row in zip(chosen, losses, strict=True)])
            ),
        )

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)
