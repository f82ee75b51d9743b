"""Evolution equations: problems whose constraint is a march that they state."""

import abc
from typing import Any

import equinox as eqx
from jaxtyping import Array

from physrank.physics.glance import Rows
from physrank.physics.marching import Marching
from physrank.physics.problem import NonlinearSolve, Problem, Tangent
from physrank.physics.solvers import Solve


class Evolution(Problem):
    """An equation whose constraint is a march: a class of this kind states the march, its grid and its norms, and no more."""

    initial: eqx.AbstractVar[Array]

    @property
    @abc.abstractmethod
    def marching(self) -> Marching:
        """The one-step map with this input's data."""

    def defect(self, state: Array) -> Array:
        return self.marching.defect(state)

    def linearise(self, at: Array) -> tuple[Array, Tangent]:
        return self.marching.linearise(at)

    def correct(self, at: Array) -> tuple[Array, Solve]:
        return self.marching.correct(at)

    def refine(self, base: Array, state: Array) -> Array:
        return self.marching.refine(base, state)

    def glance(self, state: Array, counts: Any = True) -> Array:
        return self.marching.glance(state, counts)

    def pushes(self, rows: Rows, steps: int, counts: Any = True) -> Array:
        return self.marching.pushes(rows, steps, counts)

    def solve(self, guess: Array) -> NonlinearSolve:
        return self.marching.solve(guess)

    def solve_roughly(self, guess: Array) -> NonlinearSolve:
        return self.marching.solve_roughly(guess)
