"""A reference is a pair: coarse and fine solutions on a common grid, whose difference is its error bar."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from physrank import geometry
from physrank.geometry import TaskSpace
from physrank.geometry.space import Array


@dataclass(frozen=True, eq=False)
class Reference:
    """Two independent resolutions of one solution, both on the task grid."""

    coarse: Array
    fine: Array

    @property
    def difference(self) -> float:
        """The largest pointwise change from coarse to fine."""
        return float(np.abs(self.fine - self.coarse).max())

    def __post_init__(self) -> None:
        if np.shape(self.coarse) != np.shape(self.fine):
            raise ValueError(
                f"coarse has shape {np.shape(self.coarse)}, fine {np.shape(self.fine)}; expected the same."
            )

    def at_end(self) -> "Reference":
        """The last rows of two trajectories."""
        return Reference(self.coarse[-1], self.fine[-1])

    def losses(self, space: TaskSpace, outputs: Array) -> tuple[Array, Array]:
        """Candidates' losses against the fine reference, and how much each changes from coarse to fine."""
        if np.shape(self.fine) != np.shape(outputs)[1:]:
            raise ValueError(
                f"The reference has shape {np.shape(self.fine)}, a candidate's output {np.shape(outputs)[1:]}; expected the "
                "same. Bring the reference to the task first, e.g. its last row for a terminal task."
            )
        fine = geometry.scores_of(space, outputs, self.fine)
        return fine, np.abs(fine - geometry.scores_of(space, outputs, self.coarse))


def at_level(levels: dict[str, tuple[Any, Any]], level: str) -> tuple[Any, Any]:
    if level not in levels:
        raise ValueError(f"There is no level {level!r} of resolution here; expected one of {', '.join(levels)}.")
    return levels[level]


def every(fine: int, points: int) -> int:
    """The stride from a grid of `fine` points to one of `points`, which must divide it."""
    if points < 1 or fine % points:
        raise ValueError(f"points must divide the reference grid of {fine}; got {points}.")
    return fine // points


def unresolved_pairs(losses: Array, changes: Array) -> np.ndarray:
    """Pairs whose gap does not exceed the sum of the two candidates' loss changes: the reference cannot decide them."""
    return ~(np.abs(geometry.gap_matrix(losses)) > changes[:, None] + changes[None, :])  # NaN is unresolved too


def unresolved_top1(losses: Array, changes: Array) -> bool:
    """The same check for the best candidate and the runner-up."""
    if len(losses) < 2:
        return False  # nothing to confuse it with
    if not (np.all(np.isfinite(losses)) and np.all(np.isfinite(changes))):
        return True  # an unknown loss could be the smallest
    first, second = np.argsort(losses, kind="stable")[:2]
    return not losses[second] - losses[first] > changes[first] + changes[second]
