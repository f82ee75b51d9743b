"""Rungs: whatever yields a proxy with an uncertainty of every gap and its cost, and the ladder that they make."""

from physrank.rungs.asked import Asked
from physrank.rungs.climb import climb
from physrank.rungs.climber import Climber
from physrank.rungs.effort import Effort, Spent
from physrank.rungs.question import Question
from physrank.rungs.respond import correct, respond
from physrank.rungs.rung import Rung
from physrank.rungs.solve import coarsened

__all__ = [
    "Asked",
    "Climber",
    "Effort",
    "Question",
    "Rung",
    "Spent",
    "climb",
    "coarsened",
    "correct",
    "respond",
]
