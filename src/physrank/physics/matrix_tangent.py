"""A matrix with its factors as the tangent of a problem on the host, at a state of any shape, real or complex."""

from collections.abc import Callable
from typing import Any

import numpy as np

from physrank.physics.factors import Factored, Vector
from physrank.physics.problem import Tangent, probe_magnitude, probed_floor
from physrank.physics.solvers import Solve, judged

State = Any  # a NumPy array, real or complex


def flat(state: State) -> Vector:
    """A state as a vector of real numbers: twice as many for a complex one."""
    values = np.ascontiguousarray(state).ravel()
    return values.view(np.float64) if np.iscomplexobj(values) else values.astype(np.float64, copy=False)


def like(vector: Vector, state: State) -> State:
    """A vector of real numbers as a state."""
    values = np.ascontiguousarray(vector)
    return (values.view(np.complex128) if np.iscomplexobj(state) else values).reshape(state.shape)


class MatrixTangent(Tangent):
    """The matrix acts on the flattened state; one of twice its size, on real and imaginary parts."""

    at: State
    factors: Factored

    def _by(self, act: Callable[[Vector], Vector], state: State) -> State:
        state = np.asarray(state)
        if self.factors.matrix.shape[0] == state.size:
            return act(state.ravel()).reshape(state.shape)
        return like(act(flat(state.astype(np.complex128))), np.empty(state.shape, np.complex128))

    def apply(self, direction: State) -> State:
        return self._by(self.factors.apply, direction)

    def apply_adjoint(self, covector: State) -> State:
        return self._by(self.factors.apply_adjoint, covector)

    def solve(self, rhs: State, rough: bool = False) -> Solve:
        del rough
        scale = self.factors.row_scale
        if np.ndim(scale):
            scale = np.reshape(scale[:: len(scale) // rhs.size], rhs.shape)
        return self._judged(self.factors.solve, self.apply, np.asarray(rhs), np.asarray(scale))

    def solve_adjoint(self, rhs: State) -> Solve:
        return self._judged(self.factors.solve_adjoint, self.apply_adjoint, np.asarray(rhs), np.ones(()))

    def _judged(
        self, solve: Callable[[Vector], Vector], apply: Callable[[State], State], rhs: State, scale: State
    ) -> Solve:
        value = self._by(solve, rhs)
        floor = probed_floor(lambda h: scale * apply(h), self.at)
        return judged(value, apply(value) - rhs, rhs, np.asarray(1), floor, scale)

    def magnitude(self) -> Any:
        return probe_magnitude(self.apply, self.at)
