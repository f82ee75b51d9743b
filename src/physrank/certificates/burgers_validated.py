"""The validated certificate of periodic viscous Burgers: the radius of `burgers.py`, with every number in it enclosed.

The target is the same: the solution of the differential equation itself. Single directions (the backward equation) are left
to the theorem; what the radius decides is most of it from the second correction on.
"""

from dataclasses import dataclass, replace

import numpy as np

from physrank.certificates.actions import in_all_places
from physrank.certificates.burgers import STEEP, TARGET, before, stated_force
from physrank.certificates.certificate import Assumption, Enclosure, all_hold, open_gaps
from physrank.certificates.enclosures.rounding import above, below
from physrank.certificates.enclosures.waves import coefficients
from physrank.certificates.paths.burgers import reconstruct
from physrank.certificates.paths.burgers_enclosed import measure, norm
from physrank.certificates.paths.burgers_growth import suited
from physrank.certificates.paths.burgers_growth_enclosed import growth_with_half_viscosity
from physrank.certificates.ranked import Ranked
from physrank.equations import Burgers
from physrank.geometry import GapIntervals
from physrank.geometry.space import Array

SMALL = 2.0**-900  # of a time, by which an interval can be divided


@dataclass(frozen=True)
class ValidatedBurgers:
    """The validated certificate for the terminal state of `equations.Burgers` in L².

    `forcing_error`: your bound of ∫ ‖f_true − f‖_{L²} dt, as in `BurgersEnergy`.
    """

    forcing_error: float = 0.0

    def __post_init__(self) -> None:
        if not (self.forcing_error >= 0 and np.isfinite(self.forcing_error)):
            raise ValueError(f"forcing_error must be a finite number ≥ 0; got {self.forcing_error}.")

    def __call__(self, problem: Burgers, ranking: Ranked) -> Enclosure:
        basis = before(problem, ranking)
        if not all_hold(basis):
            return _enclosure(open_gaps(len(ranking.names)), np.inf, basis)
        state = np.asarray(ranking.state, np.float64)
        path = reconstruct(problem, state)
        pieces = np.asarray(path.pieces)
        finite, shortest = bool(np.isfinite(pieces).all()), float(np.diff(np.asarray(problem.times)).min())
        basis += (
            Assumption("the path through the rows is finite", finite, "it is" if finite else "it is not"),
            Assumption("steps are not as short as the smallest numbers", shortest > SMALL, shortest),
        )
        if not all_hold(basis):
            return _enclosure(open_gaps(len(ranking.names)), np.inf, basis)
        with np.errstate(all="ignore"):
            found = measure(problem, pieces)
            if np.log(STEEP) < found.growth.sum() < np.inf:
                found = replace(found, viscous=growth_with_half_viscosity(problem, pieces, suited(path)))
            radius = found.radius(self.forcing_error)
        basis += (
            Assumption(
                "∫ ½ max (−ŝ_x)₊ dt, enclosed, is finite", bool(np.isfinite(found.growth).all()), found.growth.sum()
            ),
            Assumption(
                "residual, truncation and jumps, enclosed, bound ‖u(T) − ŝ(T)‖", bool(np.isfinite(radius)), radius
            ),
            stated_force(self.forcing_error),
        )
        if not all_hold(basis):
            return _enclosure(open_gaps(len(ranking.names)), np.inf, basis)
        gaps, off = _gaps(problem, ranking, pieces[-1, -1, -1], radius)
        return _enclosure(gaps, float(above(np.asarray(radius + off))), basis)


def _gaps(problem: Burgers, ranking: Ranked, end: Array, radius: float) -> tuple[GapIntervals, float]:
    """G_ij(ŝ(T)) ± 2 radius ‖y_i − y_j‖, and ‖s(T) − ŝ(T)‖."""
    length, valid = float(problem.length), ranking.candidates.valid
    outputs = coefficients(ranking.outputs[valid])  # (2, N, n/2 + 1)
    centre = np.zeros((2, outputs.shape[-1]))
    centre[0, : len(end)], centre[1, 1 : len(end)] = np.real(end), np.imag(end)[1:]
    i, j = np.triu_indices(outputs.shape[1], 1)
    weights = np.full(outputs.shape[-1], 2.0)
    weights[0] = 1.0
    with np.errstate(all="ignore"):
        apart = outputs[:, i] - outputs[:, j]
        terms = apart * (2.0 * centre[:, None] - outputs[:, i] - outputs[:, j]) * weights
        found = (terms[0] + terms[1]).total(1) * length
        reach = above(2.0 * above(radius * norm(apart, length)))
        ends = np.full((2, len(valid := np.flatnonzero(valid)), len(valid)), np.nan)
        ends[:, i, j] = below(found.low - reach), above(found.high + reach)
        ends[:, j, i] = -ends[::-1, i, j]
        off = norm(coefficients(np.asarray(ranking.state[-1], np.float64)) - centre, length)
    return GapIntervals(*(in_all_places(end, ranking) for end in ends)), float(off)


def _enclosure(gaps: GapIntervals, radius: float, basis: tuple[Assumption, ...]) -> Enclosure:
    return Enclosure("validated", TARGET, gaps, radius, "L²", basis, as_functions=True)
