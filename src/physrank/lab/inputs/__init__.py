"""Input generators by seed, with shift strata: training, frequency, parameter, combined."""

from physrank.lab.inputs.burgers import BurgersInput
from physrank.lab.inputs.pdebench import ShockTube, diffusion_reaction_cells, random_flow_2d
from physrank.lab.inputs.reaction_diffusion import ReactionDiffusionInput
from physrank.lab.inputs.sine_gordon import SineGordonInput
from physrank.lab.inputs.streams import POPULATIONS, STRATA, STREAMS, shifted_strata, stream

__all__ = [
    "POPULATIONS",
    "STRATA",
    "STREAMS",
    "BurgersInput",
    "ReactionDiffusionInput",
    "ShockTube",
    "SineGordonInput",
    "diffusion_reaction_cells",
    "random_flow_2d",
    "shifted_strata",
    "stream",
]
