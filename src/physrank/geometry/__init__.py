"""Decision geometry: Hilbert task spaces, comparison subspaces and decisions. Pure linear algebra."""

from physrank.geometry.comparison import ComparisonSubspace
from physrank.geometry.decisions import (
    best_first,
    gap_matrix,
    margin_radius,
    normalized_regret,
    pair_labels,
    regret,
    safe_error,
    scores_of,
    tolerant_winners,
    top1,
    weak_order,
)
from physrank.geometry.space import TaskSpace

__all__ = [
    "ComparisonSubspace",
    "TaskSpace",
    "best_first",
    "gap_matrix",
    "margin_radius",
    "normalized_regret",
    "pair_labels",
    "regret",
    "safe_error",
    "scores_of",
    "tolerant_winners",
    "top1",
    "weak_order",
]
