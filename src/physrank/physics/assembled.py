"""Problems that live on the host: matrices and residuals assembled by whatever assembles, solved by sparse factors."""

import abc
from collections.abc import Callable
from typing import Any

import equinox as eqx
import numpy as np

from physrank._arrays import as_host, to_numpy
from physrank.geometry.grid import Grid
from physrank.geometry.metrics import AnyMetric, Gram
from physrank.physics._guards import check_call, own_values
from physrank.physics.differences import Memory
from physrank.physics.factors import Factored, as_matrix, check_matrix_solver, factored
from physrank.physics.matrix_tangent import MatrixTangent
from physrank.physics.newton import damped_newton
from physrank.physics.problem import NonlinearSolve, Problem, Refined, all_following, natural_metric, wavering
from physrank.physics.solvers import untold
from physrank.physics.stationary import check_grid

State = Any  # a NumPy array, real or complex


class Hosted(Problem):
    """What problems with an assembled tangent share. Their functions are given NumPy arrays and never traced."""

    solver: eqx.AbstractVar[Any]
    residual_weights: eqx.AbstractVar[Any]
    admissibility: eqx.AbstractVar[Callable[[State], Any] | None]
    mass: eqx.AbstractVar[AnyMetric | None]
    grid: eqx.AbstractVar[Grid | None]
    shape: eqx.AbstractVar[tuple[int, ...] | None]

    host = True
    numbers = "any"

    @abc.abstractmethod
    def factors_at(self, state: State) -> Factored:
        """A'(state), factored or ready to be."""

    def linearise(self, at: State) -> tuple[State, MatrixTangent]:
        at = np.asarray(at)
        return self.defect(at), MatrixTangent(at, self.factors_at(at))

    def refine(self, base: State, state: State) -> Refined:
        """The next corrections with the factors at hand."""
        tangent = self.linearise(base)[1]
        return None, all_following(lambda r: tangent.solve(r).value, self.defect, base, state)

    def undetermined(self, base: State) -> State:
        return untold(self.linearise(base)[1], base)

    def wavering(self, base: State, state: State) -> tuple[State, Any]:
        tangent = self.linearise(base)[1]
        return wavering(tangent, self.linearise(state)[1].apply, base)

    def residual_energy(self, defect: State) -> Any:
        squares = np.abs(defect) ** 2
        return np.mean(squares) if self.residual_weights is None else np.sum(self.residual_weights * squares)

    def solve(self, guess: State) -> NonlinearSolve:
        return damped_newton(self.linearise, self.defect, guess, host=True)

    def metric(self) -> AnyMetric:
        return natural_metric(self.grid) if self.mass is None else self.mass

    @property
    def state_shape(self) -> tuple[int | None, ...] | None:
        return self.shape

    def admissible(self, state: State) -> Any:
        return np.asarray(True) if self.admissibility is None else np.all(self.admissibility(state))


class Linear(Hosted):
    """A linear problem: `matrix @ u = rhs`, from anything that assembles (scikit-fem, FEniCSx, Firedrake, NumPy).

    Main arguments: `matrix`, SciPy sparse or dense, boundary rows included; `rhs`, in the shape of a state.

    Other arguments: `solver`: "lu" (SuperLU, the default), "ilu", "pyamg", "petsc", or any function that takes the matrix and
    returns `solve(rhs)` (with a method `solve_adjoint` if it has one; else the transposed matrix is prepared when needed),
    such as `scipy.sparse.linalg.factorized`; `mass`, a mass matrix, which gives the natural metric uᵀ M u; `grid`, `shape`,
    `residual_weights` and `admissible` as in `Stationary`. Problems with equal matrices share their factors.

    ```python
    problem = pr.Linear(stiffness, load, mass=mass)
    ```
    """

    matrix: Any
    rhs: State
    solver: Any
    factors: Factored
    residual_weights: Any
    admissibility: Callable[[State], Any] | None
    mass: AnyMetric | None
    grid: Grid | None = eqx.field(static=True)
    shape: tuple[int, ...] | None = eqx.field(static=True)

    def __init__(
        self,
        matrix: Any,
        rhs: Any,
        *,
        solver: Any = None,
        mass: Any = None,
        grid: Grid | None = None,
        shape: tuple[int, ...] | None = None,
        residual_weights: Any = None,
        admissible: Callable[[State], Any] | None = None,
    ):
        check_matrix_solver(solver)
        values = to_numpy("rhs", rhs, finite=True, allow_complex=True)
        self.shape = tuple(values.shape if shape is None else shape)
        if int(np.prod(self.shape)) != values.size:
            raise ValueError(f"rhs has {values.size} numbers; a state of shape {self.shape} has {np.prod(self.shape)}.")
        check_grid(grid, self.shape)
        self.factors = factored(as_matrix("matrix", matrix, values.size), solver)
        self.matrix = self.factors.matrix
        self.rhs = values.reshape(self.shape)
        self.solver, self.grid, self.mass = solver, grid, _mass(mass)
        self.residual_weights = _weights(residual_weights)
        self.admissibility = admissible

    @property
    def numbers(self) -> str:  # pyright: ignore[reportIncompatibleVariableOverride]
        return "complex" if np.iscomplexobj(self.rhs) or self.matrix.dtype.kind == "c" else "real"

    def defect(self, state: State) -> State:
        return (self.matrix @ np.ravel(state)).reshape(np.shape(state)) - self.rhs

    def factors_at(self, state: State) -> Factored:
        del state
        return self.factors

    def refine(self, base: State, state: State) -> Refined:
        """A linear problem is solved by one response: what is left is round-off."""
        defect = self.defect(state)
        return defect, self.linearise(base)[1].solve(-defect).value

    def solve(self, guess: State) -> NonlinearSolve:
        found = self.linearise(np.zeros_like(guess))[1].solve(self.rhs)
        return NonlinearSolve(found.value, np.asarray(1), found.solved)

    def sensitivity(self, name: str, state: State, covectors: State) -> State | None:
        """(∂A/∂name)ᵀ z for every covector z, for the right-hand side: −z."""
        del state
        return -covectors if name == "rhs" else None


class Assembled(Hosted):
    """A nonlinear problem whose residual and Jacobian somebody else assembles.

    Main arguments: `residual(state[, data])` returns an array with one number for every unknown, boundary rows included;
    `jacobian(state[, data])` its derivative there, a SciPy sparse matrix or a dense one, rows and columns in the order of
    the flattened state. Both are given NumPy arrays and never traced. `data` is whatever changes between inputs.

    Other arguments: as in `Linear`; the Jacobian is factored once wherever it is needed, and the adjoint uses the same
    factors.

    ```python
    problem = pr.Assembled(lambda u: stiffness @ u + u**3 - load, lambda u: stiffness + scipy.sparse.diags(3 * u**2))
    ```
    """

    residual: Callable[..., Any]
    jacobian: Callable[..., Any]
    data: Any
    solver: Any
    memory: Memory
    residual_weights: Any
    admissibility: Callable[[State], Any] | None
    mass: AnyMetric | None
    grid: Grid | None = eqx.field(static=True)
    shape: tuple[int, ...] | None = eqx.field(static=True)

    def __init__(
        self,
        residual: Callable[..., Any],
        jacobian: Callable[..., Any],
        data: Any = None,
        *,
        solver: Any = None,
        mass: Any = None,
        grid: Grid | None = None,
        shape: tuple[int, ...] | None = None,
        residual_weights: Any = None,
        admissible: Callable[[State], Any] | None = None,
    ):
        arguments = ("state",) if data is None else ("state", "data")
        for what, function in (("residual", residual), ("jacobian", jacobian)):
            check_call(what, function, arguments, "It receives data exactly when data= is given.")
        check_matrix_solver(solver)
        check_grid(grid, shape)
        self.residual, self.jacobian, self.data = residual, jacobian, as_host(data)
        self.solver, self.grid, self.mass = solver, grid, _mass(mass)
        self.shape = None if shape is None else tuple(shape)
        self.memory = Memory()
        self.residual_weights = _weights(residual_weights)
        self.admissibility = admissible

    def _with_data(self, function: Callable[..., Any], state: State) -> Any:
        return function(state) if self.data is None else function(state, self.data)

    def defect(self, state: State) -> State:
        state = np.asarray(state)
        return own_values("residual", self._with_data(self.residual, np.array(state)), state)

    def factors_at(self, state: State) -> Factored:
        """Factored once per linearisation: the last one is remembered."""
        return self.memory.factors(state, self.data, lambda: Factored(self._matrix(state), self.solver))

    def _matrix(self, state: State) -> Any:
        return as_matrix("jacobian(state)", self._with_data(self.jacobian, np.array(state)), state.size)


def _mass(mass: Any) -> AnyMetric | None:
    return None if mass is None else Gram(mass)


def _weights(residual_weights: Any) -> State | None:
    return None if residual_weights is None else to_numpy("residual_weights", residual_weights)
