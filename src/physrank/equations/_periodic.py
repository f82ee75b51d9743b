"""What all explicit equations on a periodic interval share: their grid, its lift, and a check of its resolution."""

import equinox as eqx
import numpy as np

from physrank.equations._checks import under_resolved
from physrank.physics import Evolution


class PeriodicLine(Evolution):
    """An explicit evolution on `points` equispaced points of [0, length), space on the last axis."""

    length: eqx.AbstractVar[float]
    points: eqx.AbstractVar[int]

    @property
    def grid(self) -> np.ndarray:
        return np.arange(self.points) * self.length / self.points

    def concerns(self, state: np.ndarray) -> list[str]:
        return super().concerns(state) + (["under-resolved on this grid"] if under_resolved(state) else [])

    @property
    def grid_shape(self) -> tuple[int, ...]:
        return (self.points,)

    @property
    def lift_kind(self) -> str:
        return "fourier"

    @property
    def cheap_to_solve(self) -> bool:
        return True
