"""What a problem may be able to do beyond being a constraint: protocols with one signature each, and how to ask.

A room that needs one of these asks here and never for a class by name, so that a problem of a user's own gets everything
that a shipped one gets.
"""

from collections.abc import Iterable
from functools import lru_cache
from typing import Any, Protocol, runtime_checkable

import numpy as np
from jaxtyping import Array, Bool, Float

from physrank.geometry.grid import Grid
from physrank.geometry.lifts import lift_rows, namespace, some_rows
from physrank.physics.glance import Rows, when
from physrank.physics.monotone import SecantMetric
from physrank.physics.problem import NonlinearSolve, Problem, Refined
from physrank.physics.solvers import Solve


@runtime_checkable
class Corrects(Protocol):
    """Its response costs less in one go than linearised and then solved."""

    def correct(self, at: Array) -> tuple[Array, Solve]:
        """`(A(at), solution of A'(at) δ = −A(at))`."""
        ...


@runtime_checkable
class Refines(Protocol):
    """It can tell about how far a further correction would move a state, for less than making it."""

    def refine(self, base: Array, state: Array) -> Refined:
        """A(state), where it was met on the way, and about L⁻¹(−A(state)); `state` came from a response at `base`."""
        ...


@runtime_checkable
class Glances(Protocol):
    """It can say for less than the price of a residual what its grid has against a state that came from a coarser one."""

    def glance(self, state: Array, counts: Any = True) -> Array:
        """Roughly L⁻¹(−A(state)), from some of its rows; anything, for less, where that does not count."""
        ...

    def pushes(self, rows: Rows, steps: int, counts: Any = True) -> Array:
        """What those rows have against a trajectory of so many steps, one by one: their sum is the last row of the above.
        `rows(numbers)` gives its rows, so that no others need be lifted. `counts`: as above."""
        ...


@runtime_checkable
class Polishes(Protocol):
    """It has a preconditioner so good that a few steps with it do the work of a solve."""

    def polish(self, state: Array) -> Array:
        """About L⁻¹(−A(state)), all of it: the defect passed once through the preconditioner."""
        ...

    def polish_smooth(self, state: Array) -> tuple[Array, Float[Array, ""]]:
        """The same for less, of a state that has been polished: the smooth part of it, and the size of the rest."""
        ...

    def polishes_well(self, state: Array) -> Bool[Array, ""]:
        """Whether a few steps can be believed: no part of the error hardly moves under them."""
        ...


@runtime_checkable
class SolvesRoughly(Protocol):
    """It can be solved for less where a few digits will do."""

    def solve_roughly(self, guess: Array) -> NonlinearSolve:
        """As `solve`, to about six digits."""
        ...


@runtime_checkable
class Iterates(Protocol):
    """Its tangent is solved by an iteration, which may end before its usual tolerance."""

    def ended_at(self, tolerance: Any, size: int) -> "Problem | None":
        """The same problem, its iteration ending there for states of so many numbers; None where there is no iteration or it
        ends earlier anyway."""
        ...


@runtime_checkable
class KnowsItsKernel(Protocol):
    """It can look for directions that its tangent does not determine."""

    def undetermined(self, base: Array) -> Array:
        """What solving does not give back of a pattern of signs: about zero for a tangent that determines everything."""
        ...

    def wavering(self, base: Array, state: Array) -> tuple[Array, Float[Array, ""]]:
        """The direction of unit size that the tangent at `base` holds least, and how much of it changes up to `state`."""
        ...


@runtime_checkable
class Coarsens(Protocol):
    """It can be stated on a coarser grid, also inside a compiled program; what is not given stays as it is."""

    def coarsen(self, *, points: int | None = None, substeps: int | None = None, rows: int | None = None) -> "Problem":
        """The same problem with so many points per side, substeps per row, and every so manieth row."""
        ...


@runtime_checkable
class HasLevels(Protocol):
    """It knows a ladder of coarser statements of itself, also inside a compiled program."""

    def coarser(self, level: int) -> "Problem | None":
        """The same problem `level` halvings coarser (0: itself); None where no such grid makes sense."""
        ...


@runtime_checkable
class HasDualNorm(Protocol):
    """Its residual has a dual norm that bounds the error."""

    def dual_energy(self, state: Array, *, adapted: bool = False) -> tuple[Float[Array, ""], Bool[Array, ""]]:
        """The squared norm, and whether the inverse action behind it converged."""
        ...


@runtime_checkable
class HasSecantMetric(Protocol):
    """It is strongly monotone and knows the metric of that. Theorems are not inherited: certificates ask its very class."""

    def secant_metric(self, state: Array) -> SecantMetric:
        """M_s, in which the residual at `state` bounds the distance to every other state."""
        ...


def correct(problem: Problem, at: Array) -> tuple[Array, Solve]:
    """`(A(at), δ with A'(at) δ = −A(at))`: the response, linearised once."""
    if isinstance(problem, Corrects):
        return problem.correct(at)
    defect, tangent = problem.linearise(at)
    return defect, tangent.solve(-defect)


def refine(problem: Problem, base: Array, state: Array) -> Refined:
    """A(state), where that was met, and about how far one further correction would move a state from a response at `base`."""
    if isinstance(problem, Refines):
        return problem.refine(base, state)
    defect, tangent = problem.linearise(state)
    return defect, tangent.solve(-defect).value


def glance(problem: Problem, state: Array, counts: Any = True) -> Array:
    """Roughly how far the problem's grid would move a state that came from a coarser one; anything, where no truth value,
    maybe a traced one, `counts` on it."""
    if isinstance(problem, Glances):
        return problem.glance(state, counts)
    return when(
        counts, lambda: problem.polish(state) if isinstance(problem, Polishes) else refine(problem, state, state)[1]
    )


def marched(problem: Problem) -> bool:
    """Whether solving it is a march from its initial state, whatever the guess."""
    return _offers(type(problem), Glances)


def steps_serve(problem: Problem) -> bool:
    """Whether a few preconditioned steps may do the work of a solve."""
    return _offers(type(problem), Polishes)


@lru_cache(maxsize=256)
def _offers(kind: type, capability: type) -> bool:
    """As `isinstance`, which looks at every method of a protocol each time."""
    return issubclass(kind, capability)


def solve_roughly(problem: Problem, guess: Array) -> NonlinearSolve:
    """The solution of a problem on a grid that is off by more than a few digits anyway."""
    return problem.solve_roughly(guess) if isinstance(problem, SolvesRoughly) else problem.solve(guess)


def order(problem: Problem) -> Any:
    """The order of its discretisation, as far as it is known: halving the grid divides the error by 2^order, or more. Traced
    where it depends on data that are."""
    return getattr(problem, "order", 1)


def left(problem: Problem, level: int, difference: Any) -> Any:
    """A scheme of order p leaves about a (2^pk − 1)th of what k halvings changed. Works inside `jax.jit`."""
    return difference / (2.0 ** (level * order(problem)) - 1)


def admissible(problem: Problem, state: Array) -> Bool[Array, ""]:
    """Whether the state is finite and makes physical sense (positive density, …) to a problem that can tell."""
    xp = namespace(state)
    finite = xp.all(xp.isfinite(state))
    check = getattr(problem, "admissible", None)
    return finite if check is None else finite & check(state)


def concerns(problem: Problem, states: Iterable[np.ndarray]) -> list[list[str]]:
    """What a user should know about every candidate that is not an error."""
    remarks = getattr(
        problem, "concerns", None
    )  # once: equinox makes an object of a bound method whenever it is asked for
    return [[] if remarks is None else remarks(state) for state in states]


def remarks(problem: Problem) -> tuple[str, ...]:
    """What a problem on the host found out while it computed, and a user should know."""
    memory = getattr(problem, "memory", None)
    return () if memory is None else tuple(memory.remarks.values())


def numbers(problem: Problem) -> str:
    """What a state consists of: "real", "complex" or "any" numbers, as the candidates have them."""
    return getattr(problem, "numbers", "real")


def cheap_to_solve(problem: Problem) -> bool:
    """Whether solving the equation itself is one explicit sweep, about as cheap as the response."""
    return bool(getattr(problem, "cheap_to_solve", False))


def grid(problem: Problem) -> Grid | None:
    """Where the values of a state lie; None when the problem does not say."""
    return getattr(problem, "grid", None)


def lift(problem: Problem, field: np.ndarray) -> np.ndarray:
    """A field of another resolution as a state of this problem; unchanged when it cannot be one."""
    shape, where = problem.state_shape, grid(problem)
    if where is None or (shape is not None and field.ndim != len(shape)) or field.ndim < len(where.shape):
        return field
    return where.lift(field)


def coarser(problem: Problem, level: int) -> Problem | None:
    """The problem `level` halvings coarser; None where it cannot be, or does not know how."""
    return problem.coarser(level) if isinstance(problem, HasLevels) else None


def raised(problem: Problem, solution: Any, shape: tuple[int, ...]) -> Any:
    """A coarser solution of the same problem as a state of `shape`: on the problem's grid, all rows. Works inside `jax.jit`.

    Rows that a coarser march left out are cubic in the number of the row. Unchanged when it cannot be such a state.
    """
    where = grid(problem)
    if solution.ndim != len(shape) or where is None or solution.ndim < len(where.shape):
        return solution
    if solution.ndim > len(where.shape) and len(solution) > shape[0]:
        solution = lift_rows(solution, shape[0])  # the other way round: rows that nobody keeps are not carried over
    on_grid = where.raised(solution)
    return lift_rows(on_grid, shape[0]) if on_grid.shape[1:] == shape[1:] else on_grid


def raised_rows(problem: Problem, solution: Any, places: Any, shape: tuple[int, ...]) -> Any:
    """Those rows of what `raised` gives, and no others."""
    where = grid(problem)
    assert where is not None
    return where.raised(some_rows(solution, places, shape[0]))


def tail(problem: Problem, field: Any) -> Any:
    """How much of a field's variance lies where the problem's grid ends, see `Grid.tail`; zero when it has no grid.

    A problem may say `carried`, the part of the spectrum that its scheme fills.
    """
    where = grid(problem)
    return np.zeros(()) if where is None else where.tail(field, carried(problem))


def carried(problem: Problem) -> Any:
    """The part of the spectrum of its grid that a problem's scheme fills."""
    return getattr(problem, "carried", 1.0)


def output(problem: Problem) -> str:
    """What the task is when the user names none: "field" or "terminal"."""
    return getattr(problem, "output", "field")
