"""What a constraint is: stationary and marching problems, their defects, tangents, solvers and responses."""

from physrank.physics import capabilities, stated
from physrank.physics.assembled import Assembled, Linear
from physrank.physics.evolution import Evolution
from physrank.physics.marching import Marching
from physrank.physics.outlook import Outlook, respond_and_look
from physrank.physics.problem import NonlinearSolve, Problem, Tangent, fits
from physrank.physics.response import Correction, Response, chained, respond
from physrank.physics.solvers import Dense, Krylov, Solve
from physrank.physics.stationary import Stationary

__all__ = [
    "Assembled",
    "Correction",
    "Dense",
    "Evolution",
    "Krylov",
    "Linear",
    "Marching",
    "NonlinearSolve",
    "Outlook",
    "Problem",
    "Response",
    "Solve",
    "Stationary",
    "Tangent",
    "capabilities",
    "chained",
    "fits",
    "respond",
    "respond_and_look",
    "stated",
]
