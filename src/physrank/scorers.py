"""Scorers: the method, its baselines and its honest rivals, all called the same way."""

from physrank.ranking.scorers import (
    AdaptedMajorant,
    CandidateWise,
    CommonEnergy,
    DirectSolve,
    MeanCentrality,
    MedoidCentrality,
    RawResidual,
    ReversedResponse,
    SharedResponse,
    ValidationLoss,
    WrongInput,
)

__all__ = [
    "AdaptedMajorant",
    "CandidateWise",
    "CommonEnergy",
    "DirectSolve",
    "MeanCentrality",
    "MedoidCentrality",
    "RawResidual",
    "ReversedResponse",
    "SharedResponse",
    "ValidationLoss",
    "WrongInput",
]
