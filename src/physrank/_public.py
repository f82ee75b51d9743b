"""Every public name of the package. `physrank` loads it when the first of them is used."""

from physrank import certificates, equations, geometry, models, scale, tasks
from physrank._version import __version__
from physrank.certificates import Certificate, certify
from physrank.compute import double
from physrank.geometry import Grid, lifts, metrics
from physrank.models import Choice, choose
from physrank.physics import Assembled, Correction, Dense, Krylov, Linear, Marching, Problem, Stationary
from physrank.ranking import (
    Advice,
    Check,
    Failed,
    Panel,
    Race,
    Ranking,
    Scores,
    Selection,
    Settled,
    UnresolvedError,
    adjoint_gap,
    advise,
    anchors,
    check,
    race,
    rank,
    rank_panel,
    rank_streamed,
    scorers,
    select,
)
from physrank.readers import read
from physrank.rungs import Effort
from physrank.rungs.diagnosis import residual_floor
from physrank.scale.devices import sharded

__all__ = [
    "Advice",
    "Assembled",
    "Certificate",
    "Check",
    "Choice",
    "Correction",
    "Dense",
    "Effort",
    "Failed",
    "Grid",
    "Krylov",
    "Linear",
    "Marching",
    "Panel",
    "Problem",
    "Race",
    "Ranking",
    "Scores",
    "Selection",
    "Settled",
    "Stationary",
    "UnresolvedError",
    "__version__",
    "adjoint_gap",
    "advise",
    "anchors",
    "certificates",
    "certify",
    "check",
    "choose",
    "double",
    "equations",
    "geometry",
    "lifts",
    "metrics",
    "models",
    "race",
    "rank",
    "rank_panel",
    "rank_streamed",
    "read",
    "residual_floor",
    "scale",
    "scorers",
    "select",
    "sharded",
    "tasks",
]
