"""Ranking: anchors, tasks, the shared response turned into scores, panels, and every baseline as a scorer."""

from physrank.ranking.adjoint import adjoint_gap
from physrank.ranking.panel import Selection, select
from physrank.ranking.rank import rank, rank_panel
from physrank.ranking.result import Ranking
from physrank.ranking.scores import Scores, UnresolvedError

__all__ = [
    "Ranking",
    "Scores",
    "Selection",
    "UnresolvedError",
    "adjoint_gap",
    "rank",
    "rank_panel",
    "select",
]
