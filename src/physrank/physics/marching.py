"""Marching problems: any one-step map, explicit or implicit; the tangent is one forward sweep."""

from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float

from physrank._arrays import as_double, to_jax
from physrank.geometry.grid import Grid
from physrank.physics._guards import check_call, check_keywords, same_shape
from physrank.physics.glance import glance, pushes
from physrank.physics.levels import check_coarsening, own_level
from physrank.physics.newton import damped_newton
from physrank.physics.problem import NonlinearSolve, Problem, Tangent, roundoff_floor
from physrank.physics.solvers import LinearMap, LinearSolver, Solve, check_solver
from physrank.physics.stationary import DerivedTangent, check_grid, stated_weights


class MarchingTangent(Tangent):
    """Block lower triangular: row n+1 couples h_{n+1} and h_n only, so solving is one sweep through time.

    Derivatives of a step are taken where they are used and never stored: memory stays linear in the trajectory, and a
    batch of problems moves through the sweep together.
    """

    problem: "Marching"
    at: Array

    def apply(self, direction: Array) -> Array:
        def row(after: Array, now: Array, forcing: Any, h_after: Array, h_now: Array) -> Array:
            return self.problem.push(after, now, forcing, h_after, h_now)[1]

        rows = self.problem.over_steps(row, self.at, direction[1:], direction[:-1])
        return jnp.concatenate([direction[:1], rows])

    def apply_adjoint(self, covector: Array) -> Array:
        def row(after: Array, now: Array, forcing: Any, z: Array) -> tuple[Array, Array]:
            return jax.vjp(lambda a, n: self.problem.row(a, n, forcing), after, now)[1](z)

        after, now = self.problem.over_steps(row, self.at, covector[1:])
        zero = jnp.zeros_like(covector[:1])
        return jnp.concatenate([covector[:1], after]) + jnp.concatenate([now, zero])

    def solve(self, rhs: Array) -> Solve:
        return self.problem.sweep(self.at, rhs)[1]

    def solve_adjoint(self, rhs: Array) -> Solve:
        def step(pulled: Array, inputs: tuple[Array, Array, Any, Array]) -> tuple[Array, tuple[Array, ...]]:
            after, now, forcing, r = inputs
            known = r - pulled
            _, pull = jax.vjp(lambda a, n: self.problem.row(a, n, forcing), after, now)
            if self.problem.implicit:
                solve = self.problem.diagonal(after, now, forcing).solve_adjoint(known)
                return pull(solve.value)[1], (solve.value, solve.defect, solve.iterations, solve.solved)
            return pull(known)[1], (known, jnp.zeros_like(known), jnp.asarray(1), jnp.all(jnp.isfinite(known)))

        inputs = (self.at[1:], self.at[:-1], self.problem.forcing, rhs[1:])
        pulled, (rows, defects, counts, solved) = jax.lax.scan(step, jnp.zeros_like(rhs[0]), inputs, reverse=True)
        return Solve(
            jnp.concatenate([(rhs[0] - pulled)[None], rows]),
            jnp.concatenate([jnp.zeros_like(rhs[:1]), defects]),
            jnp.sum(counts) if self.problem.implicit else jnp.asarray(1),
            jnp.all(solved),
        )

    def magnitude(self) -> Float[Array, ""]:
        if not self.problem.implicit:
            return jnp.ones(())  # identity rows minus a step map of about unit size
        last = jax.tree.map(lambda leaf: leaf[-1], self.problem.forcing)
        return self.problem.diagonal(self.at[-1], self.at[-2], last).magnitude()


class Marching(Problem):
    """Your own one-step map: `u_{n+1} = step(u_n)`. A state is a trajectory whose first row is the initial state.

    Main arguments: `step`, a JAX function or a callable module such as an `exponax` stepper; `initial`; `data`, a pytree
    of whatever changes between inputs; `forcing`, a pytree with one row per step. `step` receives the state, then
    `data` if given, then its row of `forcing` if given.

    With `implicit=True`, `step(next, now, …)` returns the residual that the next state makes zero. At every step, `solver`
    (`physrank.Dense()` or `physrank.Krylov(...)`) solves with its derivative in `next`, helped by
    `preconditioner(next, now, …)`, which returns an approximate inverse r ↦ δ of it.

    Other arguments: `residual_weights` of one time row in the raw residual norm (default: mean over the row, summed over
    rows); `admissible(trajectory)`; `grid`, a `physrank.Grid` for the trailing axes of a row: candidates of another
    resolution are then lifted to it, and it gives the natural metric; `difference`, a relative step: the response then
    uses finite differences of the map instead of its derivative; `coarsen(level)` or `coarsen(level, problem)`, which
    returns this problem with about 2^level fewer points per side, or None: cheaper grids are then tried first.

    ```python
    problem = pr.Marching(lambda u: u - 0.1 * u**3, initial=u0)
    ```
    """

    step: Callable[..., Array]
    initial: Array
    data: Any
    forcing: Any
    residual_weights: Array | None
    admissibility: Callable[[Array], Array] | None
    solver: LinearSolver | None
    preconditioner: Callable[..., LinearMap] | None
    coarsening: Callable[..., Problem | None] | None
    implicit: bool = eqx.field(static=True)
    difference: float | None = eqx.field(static=True)
    grid: Grid | None = eqx.field(static=True)

    def __init__(
        self,
        step: Callable[..., Array],
        initial: Any,
        data: Any = None,
        *,
        forcing: Any = None,
        implicit: bool = False,
        solver: LinearSolver | None = None,
        preconditioner: Callable[..., LinearMap] | None = None,
        residual_weights: Any = None,
        admissible: Callable[[Array], Array] | None = None,
        grid: Grid | None = None,
        difference: float | None = None,
        coarsen: Callable[..., Problem | None] | None = None,
        **unknown: Any,
    ):
        check_keywords(self, unknown)
        if difference is not None and (implicit or not difference > 0):
            raise ValueError(f"difference must be a positive relative step, for explicit maps; got {difference!r}.")
        extra = (("data",) if data is not None else ()) + (("forcing_row",) if forcing is not None else ())
        arguments = ("next", "now", *extra) if implicit else ("state", *extra)
        check_call(
            "step",
            step,
            arguments,
            "It receives data and a row of forcing exactly when they are given; with implicit=True it is a residual.",
        )
        check_solver(solver)
        check_coarsening(coarsen)
        self.difference = difference
        self.step = as_double(step)
        self.initial = to_jax("initial", initial)
        check_grid(grid, self.initial.shape)
        self.data = as_double(data)
        self.forcing = as_double(forcing)
        self.implicit = implicit
        self.solver = solver
        self.preconditioner = preconditioner
        self.residual_weights = stated_weights(residual_weights)
        self.admissibility = admissible
        self.coarsening = as_double(coarsen)
        self.grid = grid

    def _arguments(self, forcing: Any) -> tuple[Any, ...]:
        data = () if self.data is None else (self.data,)
        return data if self.forcing is None else (*data, forcing)

    def _advance(self, now: Array, forcing: Any) -> Array:
        """Φ(u_n), for explicit maps."""
        return same_shape(self.step(now, *self._arguments(forcing)), now)

    def row(self, after: Array, now: Array, forcing: Any) -> Array:
        """One row of the defect: R(u_{n+1}, u_n)."""
        if self.implicit:
            return same_shape(self.step(after, now, *self._arguments(forcing)), now)
        return after - self._advance(now, forcing)

    def push(self, after: Array, now: Array, forcing: Any, h_after: Array, h_now: Array) -> tuple[Array, Array]:
        """A row and its derivative along `(h_after, h_now)`."""
        if self.implicit:
            return jax.jvp(lambda a, n: self.row(a, n, forcing), (after, now), (h_after, h_now))
        if self.difference is None:
            advanced, pushed = jax.jvp(lambda n: self._advance(n, forcing), (now,), (h_now,))
            return after - advanced, h_after - pushed
        size = jnp.linalg.norm(h_now.ravel())
        step = self.difference * jnp.maximum(jnp.linalg.norm(now.ravel()), 1.0) / jnp.where(size > 0, size, 1.0)
        advanced = self._advance(now, forcing)
        return after - advanced, h_after - (self._advance(now + step * h_now, forcing) - advanced) / step

    def diagonal(self, after: Array, now: Array, forcing: Any) -> DerivedTangent:
        """∂R/∂next of one row of an implicit map."""
        return self._linearised_row(after, now, forcing)[1]

    def _linearised_row(self, after: Array, now: Array, forcing: Any) -> tuple[Array, DerivedTangent]:
        value, forward = jax.linearize(lambda a: self.row(a, now, forcing), after)
        precondition = None
        if self.preconditioner is not None:
            precondition = self.preconditioner(after, now, *self._arguments(forcing))
        return value, DerivedTangent(after, forward, self.solver, precondition)

    def over_steps(self, function: Callable[..., Any], state: Array, *more: Array) -> Any:
        """`function(next, now, forcing row, …)` for all steps at once: rows are independent, so no loop over time."""
        self._check_rows(state)
        batched = jax.vmap(function, in_axes=(0, 0, None if self.forcing is None else 0, *[0] * len(more)))
        return batched(state[1:], state[:-1], self.forcing, *more)

    def _check_rows(self, state: Array) -> None:
        for leaf in jax.tree.leaves(self.forcing):
            if len(leaf) != len(state) - 1:
                raise ValueError(
                    f"forcing has {len(leaf)} rows; a trajectory of {len(state)} rows takes {len(state) - 1} steps."
                )

    def defect(self, state: Array) -> Array:
        return jnp.concatenate([state[:1] - self.initial, self.over_steps(self.row, state)])

    def linearise(self, at: Array) -> tuple[Array, MarchingTangent]:
        return self.defect(at), MarchingTangent(self, at)

    def correct(self, at: Array) -> tuple[Array, Solve]:
        return self.sweep(at, None)

    def refine(self, base: Array, state: Array) -> Array:
        """How far the state is from the march itself; where steps are implicit, a rough further sweep."""
        del base
        return self.sweep(state, None, rough=True)[1].value if self.implicit else self.solve(state).state - state

    def glance(self, state: Array) -> Array:
        return glance(self, state)

    def pushes(self, state: Array) -> Array:
        return pushes(self, state)[1]

    def sweep(self, at: Array, rhs: Array | None, rough: bool = False) -> tuple[Array, Solve]:
        """Forward substitution for L h = rhs; with rhs None, for rhs = −A(at), whose rows the same pass evaluates.

        One pass over the rows of `at` as they lie: slices and joins of whole trajectories cost more than a step.
        """
        self._check_rows(at)
        size = MarchingTangent(self, at).magnitude()  # one probe for all steps

        def first(inputs: tuple[Array, Array, Array, Array, Array | None]) -> tuple[Array, ...]:
            after, _, _, _, given = inputs
            row = after - self.initial
            value = -row if given is None else given
            return row, value, jnp.zeros_like(row), jnp.asarray(0), jnp.all(jnp.isfinite(value))

        def later(inputs: tuple[Array, Array, Array, Array, Array | None], forcing: Any) -> tuple[Array, ...]:
            after, now, h, before, given = inputs
            if not self.implicit:  # ∂R/∂next is the identity
                row, known = self.push(after, now, forcing, jnp.zeros_like(h), h)
                wanted = -row if given is None else given
                value = wanted - known
                return row, value, value + known - wanted, jnp.asarray(0), jnp.all(jnp.isfinite(value))
            row, known = jax.jvp(lambda n: self.row(after, n, forcing), (now,), (h,))
            wanted = (-row if given is None else given) - known
            # A defect that is smooth in time has such a response: the guess only saves iterations.
            floor = roundoff_floor(size, after)
            tangent = self.diagonal(after, now, forcing)
            solve = tangent.solve(wanted, guess=2 * h - before, floor=floor, rough=rough)
            return row, solve.value, solve.defect, jnp.asarray(solve.iterations), solve.solved

        def step(carry: tuple[Array, ...], inputs: tuple[Array, Array | None]) -> tuple[tuple[Array, ...], Any]:
            index, now, h, before = carry
            after, given = inputs
            forcing = jax.tree.map(lambda leaf: leaf[jnp.maximum(index - 1, 0)], self.forcing)
            known = (after, now, h, before, given)
            results = jax.lax.cond(index == 0, first, lambda known: later(known, forcing), known)
            value = results[1]
            return (index + 1, after, value, jnp.where(index == 0, value, h)), results

        nothing = jnp.zeros_like(self.initial)
        start = (jnp.asarray(0), nothing, nothing, nothing)
        _, (rows, values, defects, counts, solved) = jax.lax.scan(step, start, (at, rhs))
        iterations = jnp.sum(counts) if self.implicit else jnp.asarray(1)
        return rows, Solve(values, defects, iterations, jnp.all(solved))

    def residual_energy(self, defect: Array) -> Float[Array, ""]:
        weights = 1 / self.initial.size if self.residual_weights is None else self.residual_weights
        if jnp.ndim(weights) == 0:
            return weights * jnp.vdot(defect, defect)  # no second trajectory for the squares
        return jnp.sum(weights * defect**2)

    def solve(self, guess: Array) -> NonlinearSolve:
        """March from the initial state; `guess` only says how many rows."""

        def step(now: Array, forcing: Any) -> tuple[Array, tuple[Array, Array, Array]]:
            if not self.implicit:
                after = self._advance(now, forcing)
                return after, (after, jnp.asarray(1), jnp.asarray(True))
            result = self._implicit_step(now, forcing)
            return result.state, (result.state, result.iterations, result.converged)

        _, (states, iterations, converged) = jax.lax.scan(step, self.initial, self.forcing, length=len(guess) - 1)
        state = jnp.concatenate([self.initial[None], states])
        return NonlinearSolve(state, jnp.sum(iterations), jnp.all(converged) & jnp.all(jnp.isfinite(state)))

    def _implicit_step(self, now: Array, forcing: Any) -> NonlinearSolve:
        def residual(after: Array) -> Array:
            return self.row(after, now, forcing)

        return damped_newton(lambda after: self._linearised_row(after, now, forcing), residual, now)

    def coarser(self, level: int) -> Problem | None:
        return own_level(self, self.coarsening, level)

    def concerns(self, state: np.ndarray) -> list[str]:
        return initial_mismatch(state, np.asarray(self.initial))

    @property
    def state_shape(self) -> tuple[int | None, ...] | None:
        return (None, *self.initial.shape)

    @property
    def cheap_to_solve(self) -> bool:
        return not self.implicit

    def admissible(self, state: Array) -> Bool[Array, ""]:
        return jnp.asarray(True) if self.admissibility is None else jnp.all(self.admissibility(state))


def initial_mismatch(state: np.ndarray, initial: np.ndarray) -> list[str]:
    """A first row far from the initial state is in the defect and corrected, but often means a slip."""
    if np.linalg.norm(state[0] - initial) <= 0.05 * max(float(np.linalg.norm(initial)), 1e-12):
        return []
    return ["the first row differs from the problem's initial state by more than 5 %"]
