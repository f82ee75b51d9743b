"""The equations of the laboratory, one declaration and one line each."""

from physrank.lab.equations.burgers import BURGERS
from physrank.lab.equations.diffusion_reaction import DIFFUSION_REACTION
from physrank.lab.equations.equation import REALIZATIONS, Equation
from physrank.lab.equations.flow_1d import FLOW_1D
from physrank.lab.equations.flow_2d import FLOW_2D
from physrank.lab.equations.reaction_diffusion import REACTION_DIFFUSION
from physrank.lab.equations.rollout import Rollout
from physrank.lab.equations.sine_gordon import SINE_GORDON

__all__ = ["EQUATIONS", "REALIZATIONS", "ROLLOUTS", "Equation", "Rollout"]

# New ones are appended: their libraries are numbered in this order, and a number is part of every seed.
EQUATIONS = {equation.name: equation for equation in (BURGERS, REACTION_DIFFUSION, SINE_GORDON)}
ROLLOUTS = {rollout.name: rollout for rollout in (DIFFUSION_REACTION, FLOW_1D, FLOW_2D)}
