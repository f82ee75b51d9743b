"""physrank: which prediction to trust, from the governing equation alone.

import physrank as pr

problem = pr.equations.Burgers(initial=u0, viscosity=0.01, times=t)
ranking = pr.rank(problem, {"fno": v1, "cno": v2, "unet": v3})
print(ranking.best, ranking.error_estimates)
"""

from physrank import anchors, certificates, equations, geometry, lifts, metrics, scorers, tasks
from physrank._precision import double
from physrank._version import __version__
from physrank.certificates import Certificate, certify
from physrank.physics import Correction, Dense, Krylov, Marching, Problem, Stationary
from physrank.ranking import (
    Ranking,
    Scores,
    Selection,
    UnresolvedError,
    adjoint_gap,
    rank,
    rank_panel,
    select,
)

__all__ = [
    "Certificate",
    "Correction",
    "Dense",
    "Krylov",
    "Marching",
    "Problem",
    "Ranking",
    "Scores",
    "Selection",
    "Stationary",
    "UnresolvedError",
    "__version__",
    "adjoint_gap",
    "anchors",
    "certificates",
    "certify",
    "double",
    "equations",
    "geometry",
    "lifts",
    "metrics",
    "rank",
    "rank_panel",
    "scorers",
    "select",
    "tasks",
]
