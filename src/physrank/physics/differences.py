"""Derivatives of functions that nobody can look into: central differences whose step is chosen by trying, and checked."""

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np

from physrank import _optional
from physrank.physics.factors import Factored, thin
from physrank.physics.matrix_tangent import MatrixTangent, flat, like
from physrank.physics.problem import Tangent, probe_magnitude, probed_floor
from physrank.physics.solvers import (
    ALGEBRAIC_TOLERANCE,
    DENSE_LIMIT,
    ROUGH,
    Dense,
    Krylov,
    LinearMap,
    LinearSolver,
    Solve,
    judged,
    norm,
    signs,
)

State = Any  # a NumPy array, real or complex
Function = Callable[[State], State]
SIZES = tuple(10.0**-k for k in range(1, 8))  # steps that are tried, relative to the state
DISAGREES = 1e-3  # relative difference of two steps' derivatives from which it is said
APART = 1e-3  # of the usual step: one for a number that is so much smaller than the others may be another
TINY = 1e-300
COLUMNS = 6000  # unknowns up to which a matrix is formed by columns where nothing else has worked


class Memory:
    """What a problem on the host has found out and need not find out again."""

    def __init__(self) -> None:
        self.last: tuple[Any, Any, Factored | None] = (None, None, None)  # where, with which data, the factors there
        self.size: float | None = None  # relative step of differences
        self.remarks: dict[str, str] = {}  # what to tell, by subject
        self.parts: dict[str, Memory] = {}  # of a function of several states, what was found out about each
        self.levels: dict[int, Any] = {}  # coarser statements: they may have been assembled, and have memories too

    def __getstate__(self) -> dict[str, Any]:
        """On its way to another process: factors and levels are made again there."""
        return {**vars(self), "last": (None, None, None), "levels": {}}

    def factors(self, state: State, data: Any, found: Callable[[], Factored]) -> Factored:
        """Those of the last linearisation where it was this one."""
        at, known, factors = self.last
        if factors is None or known is not data or not np.array_equal(at, state):
            factors = found()
            self.last = (np.array(state), data, factors)
        return factors


def along(function: Function, at: State, direction: State, size: float) -> State:
    """The derivative of a function in a direction: a central difference over `size`, relative to where it is taken."""
    length = float(norm(direction))
    if not length > 0:
        return np.zeros_like(direction)
    step = size * (float(norm(at)) or length)
    ahead = step * (direction / length)
    return (function(at + ahead) - function(at - ahead)) * (length / (2 * step))


def choose_size(function: Function, at: State, memory: Memory, given: float | None = None) -> float:
    """The relative step at which differences change least from one size to the next; a `given` one is only checked.

    Too long a step sees curvature, too short a one the function's own rounding: single precision wants longer steps.
    """
    if memory.size is None:
        sizes = SIZES if given is None else (given, given / 8)
        pattern = signs(at) * (1 + np.arange(at.size).reshape(at.shape) / at.size)
        found = [along(function, at, pattern, size) for size in sizes]
        off = [_disagreement(a, b) for a, b in pairwise(found)]
        best = int(np.argmin(off)) if np.any(np.concatenate([slope.ravel() for slope in found])) else 0
        memory.size = sizes[best]
        if not off[best] <= DISAGREES and np.any(found[best]):
            memory.remarks["differences"] = (
                f"differences of your function disagree by {off[best]:.1g} between steps of {sizes[best]:.1g} and "
                f"{sizes[best + 1]:.1g}: it is noisy or has kinks there, and its derivative is known no better"
            )
    return memory.size


def _disagreement(a: State, b: State) -> float:
    """‖a − b‖ relative to them; infinite where one vanishes: a step below the function's rounding sees no slope at all."""
    sizes = [float(norm(slope)) for slope in (a, b)]
    off = float(norm(a - b)) / max(*sizes, TINY)
    return off if np.isfinite(off) and min(sizes) > 0 else np.inf


def columns(function: Function, at: State, size: float) -> Any:
    """The whole derivative, one difference for every number of a state (two for a complex one); sparse where it is."""
    start, unknowns = flat(at), flat(at).size
    matrix = np.empty((unknowns, unknowns))
    each = size * max(float(norm(start)) / np.sqrt(unknowns), 1e-300 if np.any(start) else 1.0)  # pyright: ignore[reportArgumentType]

    def column(k: int, step: float) -> State:
        moved = [start.copy(), start.copy()]
        moved[0][k] += step
        moved[1][k] -= step
        after, before = (flat(function(like(row, at))) for row in moved)
        return (after - before) / (moved[0][k] - moved[1][k])

    for k in range(unknowns):
        own = size * abs(float(start[k]))
        steps = [max(own, each)] + ([own] if TINY < own < APART * each else [])
        # A number far smaller than the others is nearly zero, or in other units: its own step is tried, too.
        found = [column(k, step) for step in steps]
        if len(steps) > 1:
            off = [_disagreement(slope, column(k, step / 2)) for slope, step in zip(found, steps, strict=True)]
            found = [found[int(np.argmin(off))]]
        matrix[:, k] = found[0]
    return thin(matrix)


def linearised(
    function: Function,
    at: State,
    solver: LinearSolver | None,
    precondition: LinearMap | None,
    memory: Memory,
    data: Any = None,
) -> Tangent:
    """The derivative of a residual: by columns and factored where that is small or asked for, else as it is needed."""
    size = choose_size(function, at, memory)
    formed = DifferencedTangent(at, function, size, precondition, memory, data, solver)
    if isinstance(solver, Dense) or (solver is None and at.size <= DENSE_LIMIT):
        return formed.formed()
    return formed


class DifferencedTangent(Tangent):
    """A derivative by differences, solved with by GMRES; by columns where GMRES does not converge and they fit."""

    at: State
    function: Function
    size: float
    precondition: LinearMap | None
    memory: Memory
    data: Any
    solver: LinearSolver | None

    def formed(self) -> MatrixTangent:
        """The same as a matrix with its factors."""
        if flat(self.at).size > COLUMNS:
            raise ValueError(
                f"A matrix by differences takes a residual for each of the {flat(self.at).size} unknowns; expected at most "
                f"{COLUMNS}. Give the Jacobian: physrank.Assembled(residual, jacobian)."
            )
        factors = self.memory.factors(self.at, self.data, lambda: Factored(columns(self.function, self.at, self.size)))
        return MatrixTangent(self.at, factors)

    def apply(self, direction: State) -> State:
        return along(self.function, self.at, np.asarray(direction), self.size)

    def apply_adjoint(self, covector: State) -> State:
        return self.formed().apply_adjoint(covector)

    def solve(self, rhs: State, rough: bool = False) -> Solve:
        found = self._iterated(np.asarray(rhs), ROUGH if rough else getattr(self.solver, "rtol", 1e-10), rough)
        if bool(found.solved) or flat(self.at).size > COLUMNS:
            return found
        self.memory.remarks["solver"] = (
            f"GMRES did not converge on differences of your function in {int(found.iterations)} steps: its derivative was "
            "formed by columns and factored; physrank.Assembled(residual, jacobian) or a preconditioner costs less"
        )
        return self.formed().solve(rhs)

    def _iterated(self, rhs: State, rtol: float, rough: bool) -> Solve:
        linalg, right = _optional.load("scipy.sparse.linalg"), flat(rhs)
        shape, count = (right.size, right.size), [0]
        asked = self.solver if isinstance(self.solver, Krylov) else Krylov(restart=50)

        def counted(x: State) -> State:
            count[0] += 1
            return flat(self.apply(like(x, rhs)))

        operator = linalg.LinearOperator(shape, counted, dtype=np.float64)
        inverse = None
        if self.precondition is not None:
            precondition = self.precondition
            inverse = linalg.LinearOperator(
                shape, lambda r: flat(np.asarray(precondition(like(r, rhs)))), dtype=np.float64
            )
        rounds = max(1, asked.max_steps // asked.restart)
        options = {"rtol": rtol, "atol": 0.0, "M": inverse}
        if not np.all(np.isfinite(right)):
            value = np.full_like(right, np.nan)
        elif asked.method == "gmres":
            value = linalg.gmres(operator, right, restart=asked.restart, maxiter=rounds, **options)[0]
        else:
            value = getattr(linalg, asked.method)(operator, right, maxiter=asked.max_steps, **options)[0]
        found = like(value, rhs)
        floor = probed_floor(self.apply, self.at)
        enough = 2 * ROUGH if rough else ALGEBRAIC_TOLERANCE
        return judged(found, self.apply(found) - rhs, rhs, np.asarray(count[0]), floor, enough=enough)

    def solve_adjoint(self, rhs: State) -> Solve:
        return self.formed().solve_adjoint(rhs)

    def magnitude(self) -> Any:
        return probe_magnitude(self.apply, self.at)
