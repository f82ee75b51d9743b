"""The certificate of your own explicit march: how far a trajectory can be from the map's own, step by step, enclosed.

With d_n = Φ(s_n) − s_{n+1}, e_n = u_n − s_n, and J_n an enclosure of Φ' over the box where u_n is known to be,

    e_{n+1} = d_n + J̄ e_n for some J̄ in J_n,   so   ‖e_{n+1}‖ ≤ ‖d_n‖ + ‖J_n‖ ‖e_n‖

in the Euclidean norm, in which diffusive maps do not grow, and entry by entry: the smaller of the two counts. For a pair with
⟨c, ·⟩ in question and z_n ≈ c_n + J_nᵀ z_{n+1}, marched backwards,

    ⟨c, e⟩ = z_0·e_0 + Σ z_{n+1}·d_n + Σ (c_n + J̄ᵀ z_{n+1} − z_n)·e_n,

of which the first two are known numbers and the last is of second order.
"""

from dataclasses import dataclass
from typing import Any

import jax
import numpy as np
from jaxtyping import Array as JaxArray

from physrank.certificates.certificate import Assumption, Enclosure, all_hold
from physrank.certificates.enclosures.matrices import contracted, spectral_norm
from physrank.certificates.enclosures.operations import Unenclosed
from physrank.certificates.enclosures.rounding import Interval, above, below
from physrank.certificates.own_pairs import OPERATIONS, Derivative, Pairs, abstained, before, length
from physrank.certificates.ranked import Ranked
from physrank.geometry.space import Array
from physrank.physics import Marching, Problem

TARGET = "the trajectory of the map itself from the stated initial state"


@dataclass(frozen=True)
class EnclosedMarch:
    """The certificate of an explicit `physrank.Marching` written in JAX, against the map's own trajectory.

    `most`: numbers in all derivatives of the steps together, rows × (unknowns of a row)², up to which they are enclosed. What
    cannot be proved is left open, with the reason in `certificate.failed`: too large, an operation that has no enclosure, or
    errors that grow past every bound.
    """

    most: int = 20_000_000

    def __call__(self, problem: Problem, ranking: Ranked) -> Enclosure:
        explicit = isinstance(problem, Marching) and not problem.implicit
        basis = (
            Assumption("the problem is an explicit march", explicit, type(problem).__name__),
            *before(problem, ranking, problem.state_shape),
        )
        entries = (len(ranking.state) - 1) * int(np.prod(np.shape(ranking.state)[1:])) ** 2
        basis += (
            Assumption(f"all derivatives have at most {self.most:,} entries", entries <= self.most, f"{entries:,}"),
        )
        if not all_hold(basis):
            return abstained(TARGET, ranking, basis)
        try:
            assert isinstance(problem, Marching)
            tube = Tube.of(problem, np.asarray(ranking.state, np.float64))
            known = bool(np.isfinite(tube.radii[-1]))
            grown = Assumption("errors stay bounded along the march (the last bound)", known, float(tube.radii[-1]))
            basis += (grown,)
            if not known:
                return abstained(TARGET, ranking, basis)
            pairs = Pairs(ranking)
            covectors = pairs.covectors(
                _around(np.asarray(ranking.state), tube.entries.reshape(np.shape(ranking.state)))
            )
            gaps = pairs.gaps(tube.functionals(covectors))
        except Unenclosed as missing:
            return abstained(TARGET, ranking, (*basis, Assumption(OPERATIONS, False, str(missing))))
        bound = length(tube.radii)
        return Enclosure("validated", TARGET, gaps, bound, "the Euclidean norm of states", basis, len(covectors.low))


@dataclass(frozen=True, eq=False)
class Tube:
    """Where the map's trajectory is: within `radii` of each row in the Euclidean norm, within `entries` entry by entry."""

    start: Interval  # e_0
    defects: list[Interval]  # d_n
    jacobians: list[Interval]  # J_n
    radii: Array
    entries: Array

    @classmethod
    def of(cls, problem: Marching, state: Array) -> "Tube":
        rows = [jax.tree.map(lambda leaf, n=n: np.asarray(leaf)[n], problem.per_step) for n in range(len(state) - 1)]
        start = (Interval.of(np.asarray(problem.initial, np.float64)) - state[0]).reshape(-1)
        step = Derivative(_advance, problem, state[0], rows[0]) if rows else None
        defects, jacobians = [], []
        entries, radii = [start.magnitude], [length(start.magnitude)]
        for n, row in enumerate(rows):
            assert step is not None
            box = _around(state[n], entries[-1].reshape(state[n].shape))
            d = (step.value(Interval.of(state[n]), row) - state[n + 1]).reshape(-1)
            j = step.jacobian(box, row)
            middle, doubt = j.ball
            with np.errstate(all="ignore"):
                stretch = (
                    above(np.asarray(spectral_norm(middle) + length(doubt))) if np.isfinite(doubt).all() else np.inf
                )
                radius = above(np.asarray(length(d.magnitude) + above(np.asarray(stretch * radii[-1]))))
                each = above(
                    d.magnitude + contracted(Interval.of(j.magnitude), Interval.of(entries[-1][None])).high[:, 0]
                )
            each = np.fmin(np.where(np.isnan(each), np.inf, each), radius)
            if not np.isfinite(each).all():
                return cls(start, defects, jacobians, np.full(len(state), np.inf), np.full(np.shape(state), np.inf))
            entries.append(each)
            radii.append(float(np.fmin(radius, length(each))))
            defects.append(d)
            jacobians.append(j)
        return cls(start, defects, jacobians, np.array(radii), np.stack(entries))

    def functionals(self, covectors: Interval) -> Interval:
        """⟨c, u − s⟩ for every row, by a sweep backwards in time."""
        c = covectors.reshape(len(covectors.low), *self.entries.shape)
        z = c.middle[:, -1]
        total = _paired(c[:, -1] - z, self.entries[-1])
        for n in range(len(self.defects) - 1, -1, -1):
            j, known = self.jacobians[n], contracted(Interval.of(z), self.defects[n][None])[:, 0]
            pulled = contracted(Interval.of(z), Interval(j.low.T, j.high.T)) + c[:, n]
            z = pulled.middle
            total = total + known + _paired(pulled - z, self.entries[n])
        return total + contracted(Interval.of(z), self.start[None])[:, 0]


def _paired(left: Interval, entries: Array) -> Interval:
    """Σ ρ_k e_k for every row ρ, where only |e_k| is known."""
    reach = contracted(Interval.of(left.magnitude), Interval.of(entries[None])).high[:, 0]
    return Interval(-reach, reach)


def _around(rows: Array, entries: Array) -> Interval:
    return Interval(below(rows - entries), above(rows + entries))


def _advance(problem: Any, now: JaxArray, row: Any) -> JaxArray:
    return problem.advance(now, row)
