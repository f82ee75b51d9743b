"""Ranking: anchors, a rung turned into scores and decisions, panels, and every baseline as a scorer."""

from physrank.ranking import anchors, scorers
from physrank.ranking.adjoint import adjoint_gap
from physrank.ranking.advise import Advice, advise
from physrank.ranking.block import Failed
from physrank.ranking.check import Check, check
from physrank.ranking.panel import Selection, select
from physrank.ranking.race import Race
from physrank.ranking.racing import race
from physrank.ranking.rank import rank
from physrank.ranking.rank_panel import Panel, rank_panel
from physrank.ranking.ranking import Ranking
from physrank.ranking.scores import Scores, UnresolvedError
from physrank.ranking.standing import Settled, Standing
from physrank.ranking.streamed import rank_streamed

__all__ = [
    "Advice",
    "Check",
    "Failed",
    "Panel",
    "Race",
    "Ranking",
    "Scores",
    "Selection",
    "Settled",
    "Standing",
    "UnresolvedError",
    "adjoint_gap",
    "advise",
    "anchors",
    "check",
    "race",
    "rank",
    "rank_panel",
    "rank_streamed",
    "scorers",
    "select",
]
