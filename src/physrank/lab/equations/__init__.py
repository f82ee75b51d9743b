"""The equations of the laboratory, one declaration and one line each."""

from physrank.lab.equations.burgers import BURGERS
from physrank.lab.equations.equation import REALIZATIONS, Equation
from physrank.lab.equations.reaction_diffusion import REACTION_DIFFUSION
from physrank.lab.equations.sine_gordon import SINE_GORDON

__all__ = ["EQUATIONS", "REALIZATIONS", "Equation"]

# New ones are appended: their libraries are numbered in this order, and a number is part of every seed.
EQUATIONS = {equation.name: equation for equation in (BURGERS, REACTION_DIFFUSION, SINE_GORDON)}
