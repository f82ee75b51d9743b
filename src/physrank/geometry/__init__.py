"""Decision geometry: Hilbert task spaces, comparison subspaces and decisions. Pure linear algebra."""

from physrank.geometry.bregman import AffineLosses, Bregman, smooth_remainder
from physrank.geometry.comparison import ComparisonSubspace
from physrank.geometry.concentration import mean_score_radius, recovers
from physrank.geometry.decisions import (
    best_first,
    gap_matrix,
    gaps_of,
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
from physrank.geometry.intervals import GapIntervals, InconsistentBounds, intersect
from physrank.geometry.observability import Observability, minimax_risk, restricted_kernel_condition
from physrank.geometry.space import TaskSpace
from physrank.geometry.uncertainty import (
    Ball,
    Box,
    Ellipsoid,
    FiniteSet,
    Sum,
    UncertaintySet,
    gap_intervals,
    pair_supports,
)

__all__ = [
    "AffineLosses",
    "Ball",
    "Box",
    "Bregman",
    "ComparisonSubspace",
    "Ellipsoid",
    "FiniteSet",
    "GapIntervals",
    "InconsistentBounds",
    "Observability",
    "Sum",
    "TaskSpace",
    "UncertaintySet",
    "best_first",
    "gap_intervals",
    "gap_matrix",
    "gaps_of",
    "intersect",
    "margin_radius",
    "mean_score_radius",
    "minimax_risk",
    "normalized_regret",
    "pair_labels",
    "pair_supports",
    "recovers",
    "regret",
    "restricted_kernel_condition",
    "safe_error",
    "scores_of",
    "smooth_remainder",
    "tolerant_winners",
    "top1",
    "weak_order",
]
