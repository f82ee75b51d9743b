"""Linear solvers for tangent systems: dense for small states, Krylov (lineax) for large ones."""

from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import lineax as lx
from jaxtyping import Array, Float, Int

LinearMap = Callable[[Array], Array]
DENSE_LIMIT = 1500  # unknowns up to which the Jacobian is formed: 18 MB and a fraction of a second


class Solve(eqx.Module):
    """What a linear solver returns; whether it is good enough is judged from the true defect, not claimed here."""

    value: Array
    defect: Array  # operator(value) − rhs, recomputed
    iterations: Int[Array, ""]


class Dense(eqx.Module):
    """Form the Jacobian by columns and factor it. Robust; for states of up to a few thousand numbers."""

    def solve(self, operator: LinearMap, rhs: Array, floor: Float[Array, ""], precondition: LinearMap | None) -> Solve:
        del floor, precondition
        flat = rhs.ravel()
        columns = jax.vmap(lambda e: operator(e.reshape(rhs.shape)).ravel())(jnp.eye(flat.size, dtype=flat.dtype))
        solution = lx.linear_solve(lx.MatrixLinearOperator(columns.T), flat, lx.LU(), throw=False)
        value = solution.value.reshape(rhs.shape)
        return Solve(value, operator(value) - rhs, jnp.asarray(1))


class Krylov(eqx.Module):
    """Matrix-free iteration to ‖residual‖ ≤ rtol · ‖rhs‖: conjugate gradients if `symmetric`, else GMRES.

    `symmetric=True` promises a symmetric positive definite tangent; a broken promise shows in the reported defect.
    """

    rtol: float = 1e-10
    max_steps: int = eqx.field(static=True, default=500)
    symmetric: bool = eqx.field(static=True, default=False)
    restart: int = eqx.field(static=True, default=60)

    def solve(self, operator: LinearMap, rhs: Array, floor: Float[Array, ""], precondition: LinearMap | None) -> Solve:
        structure = jax.ShapeDtypeStruct(rhs.shape, rhs.dtype)
        tags: Any = lx.positive_semidefinite_tag if self.symmetric else ()
        options: dict[str, Any] = {}
        if precondition is not None:
            options["preconditioner"] = lx.FunctionLinearOperator(precondition, structure, tags)
        # lineax scales entry by entry; one number in the Euclidean norm is the classical criterion. A right-hand
        # side at round-off level (anchor = solution) must not be chased below what float64 can represent.
        target = jnp.maximum(self.rtol * jnp.linalg.norm(rhs.ravel()), floor)
        common: dict[str, Any] = {
            "rtol": 0.0,
            "atol": jnp.maximum(target, jnp.finfo(rhs.dtype).tiny),
            "norm": lambda v: jnp.linalg.norm(v.ravel()),
            "max_steps": self.max_steps,
        }
        solver = lx.CG(**common, stabilise_every=None) if self.symmetric else lx.GMRES(**common, restart=self.restart)
        linear = lx.FunctionLinearOperator(operator, structure, tags)
        solution = lx.linear_solve(linear, rhs, solver, options=options, throw=False)
        value = solution.value
        return Solve(value, operator(value) - rhs, jnp.asarray(solution.stats["num_steps"]))


LinearSolver = Dense | Krylov


def choose(solver: LinearSolver | None, size: int) -> LinearSolver:
    """The user's solver, or dense for small states and GMRES for large ones."""
    if solver is not None:
        return solver
    return Dense() if size <= DENSE_LIMIT else Krylov()
