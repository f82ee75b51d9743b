"""How well scores made without a reference reproduce the decisions of the true losses, and how sure we are of it."""

from physrank.lab.evaluation.advice import solve_or_rank
from physrank.lab.evaluation.bootstrap import SEEDS, Interval, clustered, hierarchical, panel_selection_bootstrap
from physrank.lab.evaluation.detection import auprc, auroc, auroc_gain
from physrank.lab.evaluation.margins import (
    Deciles,
    Flips,
    RunnerUp,
    best_runner_up,
    concordance,
    flips,
    margin_deciles,
)
from physrank.lab.evaluation.recovery import REFERENCE_TIE, Outcomes, Recovery

__all__ = [
    "REFERENCE_TIE",
    "SEEDS",
    "Deciles",
    "Flips",
    "Interval",
    "Outcomes",
    "Recovery",
    "RunnerUp",
    "auprc",
    "auroc",
    "auroc_gain",
    "best_runner_up",
    "clustered",
    "concordance",
    "flips",
    "hierarchical",
    "margin_deciles",
    "panel_selection_bootstrap",
    "solve_or_rank",
]
