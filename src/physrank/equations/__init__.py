"""Equations that ship with physrank: one file each, a data sheet plus its formula."""

from physrank.equations.burgers import Burgers
from physrank.equations.reaction_diffusion import ReactionDiffusion

__all__ = ["Burgers", "ReactionDiffusion"]
