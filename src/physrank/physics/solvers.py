"""Linear solvers for tangent systems: dense for small states, Krylov (lineax) for large ones."""

from collections.abc import Callable
from typing import Any, Literal

import equinox as eqx
import jax
import jax.numpy as jnp
import lineax as lx
from jaxtyping import Array, Float, Int

LinearMap = Callable[[Array], Array]
# lineax also wants the last update of the unknown below the tolerance, which costs an iteration and says nothing about
# the defect. Measured in this unit (a power of two: exact) the unknown is small, and the residual decides alone.
UNIT = 2.0**-40
DENSE_LIMIT = 1500  # unknowns up to which the Jacobian is formed: 18 MB and a fraction of a second


class Solve(eqx.Module):
    """What a linear solver returns; whether it is good enough is judged from the true defect, not claimed here."""

    value: Array
    defect: Array  # operator(value) − rhs, recomputed
    iterations: Int[Array, ""]
    floor: Float[Array, ""]  # the size of a defect that round-off alone may leave


class Dense(eqx.Module):
    """Form the Jacobian by columns and factor it. Robust; for states of up to a few thousand numbers."""

    def solve(
        self,
        operator: LinearMap,
        rhs: Array,
        floor: Float[Array, ""],
        precondition: LinearMap | None = None,
        guess: Array | None = None,
    ) -> Solve:
        del precondition, guess
        flat = rhs.ravel()
        columns = jax.vmap(lambda e: operator(e.reshape(rhs.shape)).ravel())(jnp.eye(flat.size, dtype=flat.dtype))
        solution = lx.linear_solve(lx.MatrixLinearOperator(columns.T), flat, lx.LU(), throw=False)
        value = solution.value.reshape(rhs.shape)
        return Solve(value, operator(value) - rhs, jnp.asarray(1), floor)


class Krylov(eqx.Module):
    """Matrix-free iteration to ‖residual‖ ≤ rtol · ‖rhs‖ + atol.

    `method`: "gmres" for any tangent, "bicgstab" for any tangent at less cost when well preconditioned, "cg" for
    symmetric positive definite ones. A method that does not fit its tangent shows in the reported defect.
    """

    method: Literal["cg", "gmres", "bicgstab"] = eqx.field(static=True, default="gmres")
    rtol: float = 1e-10
    atol: float = 0.0
    max_steps: int = eqx.field(static=True, default=500)
    restart: int = eqx.field(static=True, default=20)

    def __check_init__(self) -> None:
        if self.method not in ("cg", "gmres", "bicgstab"):
            raise ValueError(f'method must be "cg", "gmres" or "bicgstab"; got {self.method!r}.')

    def solve(
        self,
        operator: LinearMap,
        rhs: Array,
        floor: Float[Array, ""],
        precondition: LinearMap | None = None,
        guess: Array | None = None,
    ) -> Solve:
        structure = jax.ShapeDtypeStruct(rhs.shape, rhs.dtype)
        tags: Any = lx.positive_semidefinite_tag if self.method == "cg" else ()
        unit = 1.0 if self.method == "gmres" else UNIT  # GMRES takes a small basis vector for a breakdown
        options: dict[str, Any] = {}
        if precondition is not None:
            inverse = precondition
            options["preconditioner"] = lx.FunctionLinearOperator(lambda r: unit * inverse(r), structure, tags)
        if guess is not None:
            options["y0"] = unit * guess
        # lineax scales entry by entry; one number in the Euclidean norm is the classical criterion. A right-hand
        # side at round-off level (anchor = solution) must not be chased below what float64 can represent.
        target = jnp.maximum(self.rtol * jnp.linalg.norm(rhs.ravel()) + self.atol, floor)
        common: dict[str, Any] = {
            "rtol": 0.0,
            "atol": jnp.maximum(target, jnp.finfo(rhs.dtype).tiny),
            "norm": lambda v: jnp.linalg.norm(v.ravel()),
            "max_steps": self.max_steps,
        }
        if self.method == "cg":
            solver = lx.CG(**common, stabilise_every=None)
        elif self.method == "gmres":
            solver = lx.GMRES(**common, restart=min(self.restart, rhs.size))
        else:
            solver = lx.BiCGStab(**common)
        linear = lx.FunctionLinearOperator(lambda x: operator(x) / unit, structure, tags)
        solution = lx.linear_solve(linear, rhs, solver, options=options, throw=False)
        value = solution.value / unit
        return Solve(value, operator(value) - rhs, jnp.asarray(solution.stats["num_steps"]), floor)


LinearSolver = Dense | Krylov


def check_solver(solver: Any) -> None:
    if solver is not None and not isinstance(solver, LinearSolver):
        raise ValueError(f"solver must be physrank.Dense() or physrank.Krylov(...); got {solver!r}.")


def choose(solver: LinearSolver | None, size: int) -> LinearSolver:
    """The user's solver, or dense for small states and GMRES for large ones."""
    if solver is not None:
        return solver
    return Dense() if size <= DENSE_LIMIT else Krylov()
