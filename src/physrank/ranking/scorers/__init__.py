"""Scorers: the method, its baselines and its honest rivals, all called the same way.

scorer(problem, candidates, task=…, anchor=…) → Scores, or scorer.of(ranking) → Scores
"""

from physrank.ranking.scorers.baselines import (
    CandidateWise,
    MeanCentrality,
    MedoidCentrality,
    RawResidual,
    ValidationLoss,
)
from physrank.ranking.scorers.controls import ReversedResponse, WrongInput
from physrank.ranking.scorers.dual import AdaptedMajorant, CommonEnergy
from physrank.ranking.scorers.ours import DirectSolve, Ladder, SharedResponse
from physrank.ranking.scorers.protocol import Case, Scorer

__all__ = [
    "AdaptedMajorant",
    "CandidateWise",
    "Case",
    "CommonEnergy",
    "DirectSolve",
    "Ladder",
    "MeanCentrality",
    "MedoidCentrality",
    "RawResidual",
    "ReversedResponse",
    "Scorer",
    "SharedResponse",
    "ValidationLoss",
    "WrongInput",
]
