"""Decision geometry: Hilbert task spaces, comparison subspaces and decisions. Pure linear algebra."""

from physrank._renamed import moved
from physrank.geometry import lifts, metrics
from physrank.geometry.comparison import ComparisonSubspace
from physrank.geometry.cross_grid import CrossGrid
from physrank.geometry.decisions import (
    best_first,
    gap_matrix,
    gaps_of,
    margin_radius,
    normalized_regret,
    pair_labels,
    possible_regret,
    regret,
    safe_error,
    scores_of,
    settled_pairs,
    tolerant_winners,
    top1,
    weak_order,
)
from physrank.geometry.grid import Grid
from physrank.geometry.intervals import GapIntervals, InconsistentBounds, intersect
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
    "Ball",
    "Box",
    "ComparisonSubspace",
    "CrossGrid",
    "Ellipsoid",
    "FiniteSet",
    "GapIntervals",
    "Grid",
    "InconsistentBounds",
    "Sum",
    "TaskSpace",
    "UncertaintySet",
    "best_first",
    "gap_intervals",
    "gap_matrix",
    "gaps_of",
    "intersect",
    "lifts",
    "margin_radius",
    "metrics",
    "normalized_regret",
    "pair_labels",
    "pair_supports",
    "possible_regret",
    "regret",
    "safe_error",
    "scores_of",
    "settled_pairs",
    "tolerant_winners",
    "top1",
    "weak_order",
]

__getattr__ = moved(
    "physrank.geometry",
    {
        name: f"physrank.geometry.theory.{name}"
        for name in (
            "AffineLosses",
            "Bregman",
            "Observability",
            "mean_score_radius",
            "minimax_risk",
            "recovers",
            "restricted_kernel_condition",
            "smooth_remainder",
        )
    },
)
