"""Equations that ship with physrank: one file each, a data sheet plus its formula."""

from physrank.equations._checks import UnderResolvedWarning
from physrank.equations.burgers import Burgers
from physrank.equations.compressible_flow import CompressibleFlow, conservative, primitive
from physrank.equations.diffusion_reaction import DiffusionReaction
from physrank.equations.exponax_stepper import ExponaxStepper
from physrank.equations.reaction_diffusion import ReactionDiffusion
from physrank.equations.sine_gordon import SineGordon

__all__ = [
    "Burgers",
    "CompressibleFlow",
    "DiffusionReaction",
    "ExponaxStepper",
    "ReactionDiffusion",
    "SineGordon",
    "UnderResolvedWarning",
    "conservative",
    "primitive",
]
