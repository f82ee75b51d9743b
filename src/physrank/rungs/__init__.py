"""Rungs: whatever yields a proxy with an uncertainty of every gap and its cost."""

from physrank.rungs.asked import Asked
from physrank.rungs.respond import correct, respond, respond_batch
from physrank.rungs.rung import Question, Rung
from physrank.rungs.solve import coarsened, solve

__all__ = ["Asked", "Question", "Rung", "coarsened", "correct", "respond", "respond_batch", "solve"]
