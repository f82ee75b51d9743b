"""A reference is a pair: coarse and fine solutions on a common grid, whose difference is its error bar."""

from dataclasses import dataclass

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

    def losses(self, space: TaskSpace, outputs: Array) -> tuple[Array, Array]:
        """Candidates' losses against the fine reference, and how much each changes from coarse to fine."""
        fine = geometry.scores_of(space, outputs, self.fine)
        return fine, np.abs(fine - geometry.scores_of(space, outputs, self.coarse))


def unresolved_pairs(losses: Array, changes: Array) -> np.ndarray:
    """Pairs whose gap does not exceed the sum of the two candidates' loss changes: the reference cannot decide them."""
    return np.abs(geometry.gap_matrix(losses)) <= changes[:, None] + changes[None, :]


def unresolved_top1(losses: Array, changes: Array) -> bool:
    """The same check for the best candidate and the runner-up."""
    first, second = np.argsort(losses, kind="stable")[:2]
    return bool(losses[second] - losses[first] <= changes[first] + changes[second])
