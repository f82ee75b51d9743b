"""Evolution equations: problems whose constraint is a march that they state, on as few points and rows as one likes."""

import abc
from typing import Any, ClassVar, Self

import equinox as eqx
import jax
from jax.core import Tracer
from jaxtyping import Array, Float

from physrank import compute
from physrank.geometry.grid import Grid
from physrank.physics.glance import Rows
from physrank.physics.levels import check_level, halved, size
from physrank.physics.marching import Marching
from physrank.physics.problem import NonlinearSolve, Problem, Refined, Tangent
from physrank.physics.solvers import Solve

LEAP, LEAST_STEPS = 4, 5  # rows taken at once on the first level; steps that a level has at least


class Evolution(Problem):
    """An equation whose constraint is a march: a class of this kind states the march, its grid, its norms, and how the same
    is stated on fewer points, substeps and rows."""

    fewest: ClassVar[int] = 4  # points per side
    sheds_substeps: ClassVar[bool] = False  # on coarser levels: where the error in time stays far below that in space
    any_substeps: ClassVar[bool] = False  # or only divisors of the present ones, where a force is stored at their ends
    leaps: ClassVar[bool] = False  # steps cost more than points: coarser levels take fewer first

    initial: eqx.AbstractVar[Array]

    @property
    @abc.abstractmethod
    def marching(self) -> Marching:
        """The one-step map with this input's data."""

    @property
    @abc.abstractmethod
    def grid(self) -> Grid:
        """Where the values of a row lie; as many points along every axis."""

    @property
    @abc.abstractmethod
    def steps_per_row(self) -> int | None:
        """Substeps per row; None where every row is one step."""

    @abc.abstractmethod
    def stated_on(self, points: int, substeps: int, rows: int) -> Self:
        """The same on so many points per side and substeps per row, with every so manieth row. Nothing is checked."""

    @abc.abstractmethod
    def check_stable(self) -> None:
        """Raise a ValueError that names enough substeps, if there are too few."""

    def can_halve(self, times: int) -> bool:
        """Whether the scheme lets the grid be halved so many times; how few points are left is not asked here."""
        del times
        return True

    def defect(self, state: Array) -> Array:
        return self.marching.defect(state)

    def residual_energy(self, defect: Array) -> Float[Array, ""]:
        return self.marching.residual_energy(defect)

    def linearise(self, at: Array) -> tuple[Array, Tangent]:
        return self.marching.linearise(at)

    def correct(self, at: Array) -> tuple[Array, Solve]:
        return self.marching.correct(at)

    def refine(self, base: Array, state: Array) -> Refined:
        return self.marching.refine(base, state)

    def glance(self, state: Array, counts: Any = True) -> Array:
        return self.marching.glance(state, counts)

    def pushes(self, rows: Rows, steps: int, counts: Any = True) -> Array:
        return self.marching.pushes(rows, steps, counts)

    def solve(self, guess: Array) -> NonlinearSolve:
        return self.marching.solve(guess)

    def solve_roughly(self, guess: Array) -> NonlinearSolve:
        return self.marching.solve_roughly(guess)

    def coarsen(self, *, points: int | None = None, substeps: int | None = None, rows: int | None = None) -> Self:
        """On fewer points per side, with fewer substeps and every so manieth row; what is not given stays as it is.

        The last row stays, and so do steps: with `rows` there are so many times the substeps, unless `substeps` are given
        or every row is one step. Works inside `jax.jit`; outside, an unstable choice is refused.
        """
        present, own = self.grid.shape[-1], self.steps_per_row
        points = present if points is None else size("points", points, self.fewest, present)
        rows = 1 if rows is None else size("rows", rows, 1, self._steps)
        if own is None:
            if substeps not in (None, 1):
                raise ValueError(f"{type(self).__name__} takes one step per row; got substeps={substeps!r}.")
            substeps = 1
        elif substeps is None:
            substeps = own * rows
        else:
            substeps = size("substeps", substeps, 1, None)
            if rows == 1 and not self.any_substeps and own % substeps:
                raise ValueError(f"substeps must divide {own}, at whose ends the force is stored; got {substeps}.")
        with compute.double():
            coarse = self.stated_on(points, substeps, rows)
            if not any(isinstance(leaf, Tracer) for leaf in jax.tree.leaves(self)):
                coarse.check_stable()
        return coarse

    def coarser(self, level: int) -> Self | None:
        """`level` halvings of the grid; of the substeps too in a class that sheds them, so that the Courant number stays.

        Elsewhere the time step stays: levels that share a longer one agree on its error, and their difference is blind to it.
        A class that leaps takes every fourth row on the first level, all points kept, and halves both on each further one.
        """
        if check_level(level) == 0:
            return self
        leaps = self.leaps and (self._steps or 0) >= LEAST_STEPS * LEAP
        points = halved(self.grid.shape[-1], level - leaps) if self.can_halve(level - leaps) else None
        rows = LEAP * 2 ** (level - 1) if leaps else 1
        if points is None or (leaps and (self._steps or 0) < LEAST_STEPS * rows):
            return None
        own = self.steps_per_row or 1
        least = -(-own // 2**level) if self.sheds_substeps else own
        substeps = next(n for n in range(least, own + 1) if self.any_substeps or own % n == 0)
        with compute.double():
            return self.stated_on(points, substeps, rows)

    @property
    def _steps(self) -> int | None:
        times = getattr(self, "times", None)
        return None if times is None else len(times) - 1
