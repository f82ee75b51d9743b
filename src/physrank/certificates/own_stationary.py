"""The certificate of your own stationary problem: Krawczyk's operator over a box, with every number enclosed.

With R an approximate inverse of A'(s), J an enclosure of A' over the box |x − s| ≤ r, entry by entry: if

    |R A(s)| + |1 − R J| r < r

then A has exactly one zero u in the box, and |u − s| ≤ k, the left-hand side (Krawczyk 1969). No smoothness constant is asked
for: the derivative is enclosed by interval arithmetic, operation by operation (`enclosures/ranges.py`). The proof is in
docs/certificates/newton.md. For a pair with ⟨c, ·⟩ in question and any z, since A(s) + J̄ (u − s) = 0 for some J̄ in J,

    ⟨c, u − s⟩ = −z·A(s) + (c − J̄ᵀ z)·(u − s),

of which the first is a known number and the second is small for z = Rᵀ c.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Array as JaxArray

from physrank.certificates.certificate import Assumption, Enclosure, Zero, all_hold
from physrank.certificates.enclosures.matrices import contracted
from physrank.certificates.enclosures.operations import Unenclosed
from physrank.certificates.enclosures.rounding import Interval, above, below
from physrank.certificates.own_pairs import OPERATIONS, Derivative, Pairs, abstained, before, length
from physrank.certificates.ranked import Ranked
from physrank.geometry.space import Array
from physrank.physics import Problem

TARGET = "the zero of the discrete problem next to the corrected state (whether it is the physical one is not proved)"
ATTEMPTS = 12  # boxes that are tried, each twice what the last one asked for


@dataclass(frozen=True)
class EnclosedZero:
    """The certificate of any problem whose residual is written in JAX, against the zero next to the corrected state.

    `most`: unknowns up to which the dense derivative is enclosed. What cannot be proved is left open, with the reason in
    `certificate.failed`: too many unknowns, an operation that has no enclosure, a derivative that cannot be inverted, or a
    state that is not close enough to a zero.
    """

    most: int = 400

    def __call__(self, problem: Problem, ranking: Ranked) -> Enclosure:
        count = int(np.size(ranking.state))
        basis = (
            *before(problem, ranking, problem.state_shape),
            Assumption(f"there are at most {self.most} unknowns", count <= self.most, str(count)),
        )
        if not all_hold(basis):
            return abstained(TARGET, ranking, basis)
        try:
            return self._enclose(problem, ranking, basis)
        except Unenclosed as missing:
            return abstained(TARGET, ranking, (*basis, Assumption(OPERATIONS, False, str(missing))))

    def _enclose(self, problem: Problem, ranking: Ranked, basis: tuple[Assumption, ...]) -> Enclosure:
        state = np.asarray(ranking.state, np.float64)
        defect = Derivative(_defect, problem, state)
        box, invertible = krawczyk(defect, state)
        basis = (
            *basis,
            Assumption(
                "the derivative there has an approximate inverse", invertible, "it has" if invertible else "none"
            ),
            Assumption(
                "Krawczyk's operator maps a box around the state into itself (largest ratio of the two, below 1)",
                box is not None and box.ratio < 1,
                "no box" if box is None else box.ratio,
            ),
        )
        if box is None or not all_hold(basis):
            return abstained(TARGET, ranking, basis)
        pairs = Pairs(ranking)
        covectors = pairs.covectors(_around(state, box.within.reshape(state.shape)))
        gaps = pairs.gaps(box.functionals(covectors))
        within = length(box.within)
        zero = Zero(state, within, float(np.min(box.radii)))
        return Enclosure(
            "validated", TARGET, gaps, within, "the Euclidean norm of states", basis, len(covectors.low), zero=zero
        )


@dataclass(frozen=True, eq=False)
class Neighbourhood:
    """|x − s| ≤ radii, and what Krawczyk's operator makes of it."""

    residual: Interval  # A(s)
    inverse: Array  # R
    jacobian: Interval  # J over the box
    radii: Array
    within: Array  # |u − s| ≤ within, if ratio < 1

    @property
    def ratio(self) -> float:
        return float(np.max(self.within / self.radii)) if np.isfinite(self.within).all() else np.inf

    def functionals(self, covectors: Interval) -> Interval:
        """⟨c, u − s⟩ for every row."""
        z = Interval.of(covectors.middle @ self.inverse)
        turned = Interval(self.jacobian.low.T, self.jacobian.high.T)
        left = covectors - contracted(z, turned)
        unknown = contracted(Interval.of(left.magnitude), Interval.of(self.within[None])).high[:, 0]
        known = contracted(z, self.residual[None])
        return Interval(-unknown, unknown) - known[:, 0]


def krawczyk(defect: Derivative, state: Array) -> tuple[Neighbourhood | None, bool]:
    """The first box that is mapped into itself, or the last that was tried; and whether there is an inverse at all."""
    residual = defect.value(Interval.of(state)).reshape(-1)
    try:
        inverse = np.asarray(np.linalg.inv(defect.jacobian(Interval.of(state)).middle), np.float64)
    except np.linalg.LinAlgError:
        return None, False
    if not np.isfinite(inverse).all():
        return None, False
    step = contracted(Interval.of(inverse), residual[None]).magnitude[:, 0]  # ≥ |R A(s)|
    size = float(np.abs(state).max(initial=0.0))
    least = 2.0**-50 * size + 2.0**-500  # a box needs some room even where the residual is zero
    radii, found = 2 * step + least + 2.0**-10 * float(step.max(initial=0.0)), None
    for _ in range(ATTEMPTS):
        try:
            found = _mapped(defect, state, residual, inverse, step, radii)
        except Unenclosed:
            if found is not None:  # a smaller box could be enclosed, but was not mapped into itself
                return found, True
            raise
        if found.ratio < 1 or not np.isfinite(found.within).all():
            break
        radii = 2 * found.within + least
    return found, True


def _mapped(
    defect: Derivative, state: Array, residual: Interval, inverse: Array, step: Array, radii: Array
) -> Neighbourhood:
    jacobian = defect.jacobian(_around(state, radii.reshape(state.shape)))
    product = contracted(Interval.of(inverse), Interval(jacobian.low.T, jacobian.high.T))
    missed = (product - np.eye(len(inverse))).magnitude
    within = _image(step, missed, radii)
    found = Neighbourhood(residual, inverse, jacobian, radii, within)
    if found.ratio < 1:  # the zero is in every image of a box that contains it
        for _ in range(3):
            within = np.minimum(within, _image(step, missed, within))
        found = Neighbourhood(residual, inverse, jacobian, radii, within)
    return found


def _image(step: Array, missed: Array, radii: Array) -> Array:
    with np.errstate(all="ignore"):
        found = above(step + contracted(Interval.of(missed), Interval.of(radii[None])).high[:, 0])
    return np.where(np.isnan(found), np.inf, found)


def _around(state: Array, radii: Array) -> Interval:
    """At least the box; the radii that are used are at most what it holds."""
    return Interval(below(state - radii), above(state + radii))


def _defect(problem: Any, state: JaxArray) -> JaxArray:
    return problem.defect(state)
