"""Input generators by seed, with shift strata: training, frequency, parameter, combined."""

from physrank.lab.inputs.reaction_diffusion import ReactionDiffusionInput
from physrank.lab.inputs.streams import POPULATIONS, STRATA, stream

__all__ = ["POPULATIONS", "STRATA", "ReactionDiffusionInput", "stream"]
