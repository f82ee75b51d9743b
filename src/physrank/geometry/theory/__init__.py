"""Theory that no decision calls yet: Bregman losses, observability of the comparison coordinate, concentration of scores."""

from physrank.geometry.theory.bregman import AffineLosses, Bregman, smooth_remainder
from physrank.geometry.theory.concentration import mean_score_radius, recovers
from physrank.geometry.theory.observability import Observability, minimax_risk, restricted_kernel_condition

__all__ = [
    "AffineLosses",
    "Bregman",
    "Observability",
    "mean_score_radius",
    "minimax_risk",
    "recovers",
    "restricted_kernel_condition",
    "smooth_remainder",
]
