"""Theory that no decision calls: Bregman losses, observability, concentration, factors, secants, what a response misses."""

from physrank.geometry.theory.bregman import AffineLosses, Bregman, smooth_remainder
from physrank.geometry.theory.concentration import mean_score_radius, recovers
from physrank.geometry.theory.factorization import Factorization, holder_radius
from physrank.geometry.theory.observability import (
    Observability,
    minimax_risk,
    opposite_targets,
    restricted_kernel_condition,
)
from physrank.geometry.theory.representation import proxies, proxy_errors, remainder, state_error
from physrank.geometry.theory.secants import bilinear, gauss_secant, midpoint_corrections

__all__ = [
    "AffineLosses",
    "Bregman",
    "Factorization",
    "Observability",
    "bilinear",
    "gauss_secant",
    "holder_radius",
    "mean_score_radius",
    "midpoint_corrections",
    "minimax_risk",
    "opposite_targets",
    "proxies",
    "proxy_errors",
    "recovers",
    "remainder",
    "restricted_kernel_condition",
    "smooth_remainder",
    "state_error",
]
