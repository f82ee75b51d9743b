"""Marching problems: any one-step map, explicit or implicit; the tangent is one forward sweep."""

from collections.abc import Callable
from functools import partial
from typing import Any, cast

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float

from physrank import compute
from physrank._arrays import as_double, as_host, to_jax, to_numpy
from physrank.geometry.grid import Grid
from physrank.geometry.lifts import namespace
from physrank.physics import host_implicit, host_march
from physrank.physics._guards import check_call, check_keywords, own_values, same_shape
from physrank.physics.differences import Memory
from physrank.physics.factors import check_matrix_solver
from physrank.physics.glance import Rows, glance, pushes
from physrank.physics.levels import check_coarsening, own_level
from physrank.physics.march_tangent import MarchingTangent, sweep
from physrank.physics.newton import ROUGHLY, damped_newton, preconditioned, roughly
from physrank.physics.problem import NonlinearSolve, Problem, Refined, Tangent
from physrank.physics.solvers import LinearMap, Solve, check_solver, norm, square
from physrank.physics.stationary import DerivedTangent, check_grid, stated_weights


class Marching(Problem):
    """Your own one-step map: `u_{n+1} = step(u_n)`. A state is a trajectory whose first row is the initial state.

    Main arguments: `step`, a JAX function or a callable module such as an `exponax` stepper; `initial`; `data`, a pytree
    of whatever changes between inputs; `forcing`, a pytree with one row per step; `times` of the rows, where coefficients
    depend on time. `step` receives the state, then `data` if given, then its row of `forcing` if given, then the time of
    the state that it advances if `times` are given: `step(u, t)`. States may be complex: scores are then of |·|².

    With `host=True`, `step` is any function that advances a NumPy array: a Fortran routine, a running simulator. It is never
    traced, and its derivative is taken by differences whose step is chosen by trying; `difference` prescribes it.

    With `implicit=True`, `step(next, now, …)` returns the residual that the next state makes zero. At every step, `solver`
    (`physrank.Dense()` or `physrank.Krylov(...)`) solves with its derivative in `next`, helped by
    `preconditioner(next, now, …)`, which returns an approximate inverse r ↦ δ of it. With `host=True` as well, the residual
    is any NumPy function: its derivative is taken by differences, by columns up to 1,500 unknowns and inside GMRES above, or
    is what `jacobian(next, now, …)` assembles, a SciPy sparse matrix or a dense one, solved with as in `physrank.Assembled`.

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
    times: Array | None
    memory: Memory | None
    residual_weights: Array | None
    admissibility: Callable[[Array], Array] | None
    solver: Any
    preconditioner: Callable[..., LinearMap] | None
    jacobian: Callable[..., Any] | None
    coarsening: Callable[..., Problem | None] | None
    implicit: bool = eqx.field(static=True)
    difference: float | None = eqx.field(static=True)
    host: bool = eqx.field(static=True)
    grid: Grid | None = eqx.field(static=True)

    def __init__(
        self,
        step: Callable[..., Array],
        initial: Any,
        data: Any = None,
        *,
        forcing: Any = None,
        times: Any = None,
        implicit: bool = False,
        host: bool = False,
        solver: Any = None,
        preconditioner: Callable[..., LinearMap] | None = None,
        jacobian: Callable[..., Any] | None = None,
        residual_weights: Any = None,
        admissible: Callable[[Array], Array] | None = None,
        grid: Grid | None = None,
        difference: float | None = None,
        coarsen: Callable[..., Problem | None] | None = None,
        **unknown: Any,
    ):
        check_keywords(self, unknown)
        if difference is not None and ((implicit and not host) or not difference > 0):
            raise ValueError(f"difference must be a positive relative step, for explicit maps; got {difference!r}.")
        if jacobian is not None and not (host and implicit):
            raise ValueError("jacobian= is for implicit=True, host=True; elsewhere derivatives are found without it.")
        given = (("data", data), ("forcing_row", forcing), ("time", times))
        extra = tuple(name for name, value in given if value is not None)
        arguments = ("next", "now", *extra) if implicit else ("state", *extra)
        check_call(
            "step",
            step,
            arguments,
            "It receives data, a row of forcing and a time exactly when they are given; with implicit=True it is a residual.",
        )
        if jacobian is None:
            check_solver(solver)
        else:
            check_call("jacobian", jacobian, arguments, "It receives what the residual does.")
            check_matrix_solver(solver)
        check_coarsening(coarsen)
        self.difference = difference
        keep, arrays = cast(Any, (as_host, to_numpy) if host else (as_double, to_jax))
        self.step = step if host else as_double(step)
        self.initial = arrays("initial", initial, allow_complex=True)
        check_grid(grid, self.initial.shape)
        self.data = keep(data)
        self.forcing = keep(forcing)
        self.times = None if times is None else arrays("times", times)
        self.host, self.memory = host, Memory() if host else None
        self.implicit = implicit
        self.solver = solver
        self.preconditioner = preconditioner
        self.jacobian = jacobian
        self.residual_weights = stated_weights(residual_weights)
        self.admissibility = admissible
        self.coarsening = coarsen if host else as_double(coarsen)
        self.grid = grid

    def arguments(self, forcing: Any) -> tuple[Any, ...]:
        """What a step is given besides states: data, its forcing, its time."""
        forcing, time = (forcing, ()) if self.times is None else (forcing[0], (forcing[1],))
        data = () if self.data is None else (self.data,)
        return (*data, *time) if self.forcing is None else (*data, forcing, *time)

    @property
    def per_step(self) -> Any:
        """What is given for every step: its forcing, and its time if there are times."""
        return self.forcing if self.times is None else (self.forcing, self.times[:-1])

    def advance(self, now: Array, forcing: Any) -> Array:
        """Φ(u_n), for explicit maps."""
        if self.host:
            return own_values("The step", self.step(np.array(now), *self.arguments(forcing)), now)
        return same_shape(self.step(now, *self.arguments(forcing)), now)

    def row(self, after: Array, now: Array, forcing: Any) -> Array:
        """One row of the defect: R(u_{n+1}, u_n)."""
        if self.implicit and self.host:
            return own_values("The step", self.step(np.array(after), np.array(now), *self.arguments(forcing)), now)
        if self.implicit:
            return same_shape(self.step(after, now, *self.arguments(forcing)), now)
        return after - self.advance(now, forcing)

    def push(self, after: Array, now: Array, forcing: Any, h_after: Array, h_now: Array) -> tuple[Array, Array]:
        """A row and its derivative along `(h_after, h_now)`."""
        if self.implicit:
            return jax.jvp(lambda a, n: self.row(a, n, forcing), (after, now), (h_after, h_now))
        if self.difference is None:
            advanced, pushed = jax.jvp(lambda n: self.advance(n, forcing), (now,), (h_now,))
            return after - advanced, h_after - pushed
        size, around = norm(h_now), norm(now)
        step = self.difference * jnp.where(around > 0, around, 1.0)
        advanced = self.advance(now, forcing)
        ahead = step * (h_now / jnp.where(size > 0, size, 1.0))
        return after - advanced, h_after - (self.advance(now + ahead, forcing) - advanced) * (size / step)

    def diagonal(self, after: Array, now: Array, forcing: Any) -> DerivedTangent:
        """∂R/∂next of one row of an implicit map."""
        return self._linearised_row(after, now, forcing)[1]

    def _linearised_row(self, after: Array, now: Array, forcing: Any) -> tuple[Array, DerivedTangent]:
        value, forward = jax.linearize(lambda a: self.row(a, now, forcing), after)
        precondition = None
        if self.preconditioner is not None:
            precondition = self.preconditioner(after, now, *self.arguments(forcing))
        return value, DerivedTangent(after, forward, self.solver, precondition)

    def over_steps(self, function: Callable[..., Any], state: Array, *more: Array) -> Any:
        """`function(next, now, forcing row, …)` for all steps at once: rows are independent, so no loop over time."""
        self.check_rows(state)
        rows = (state[1:], state[:-1], self.per_step, *more)
        return compute.each(lambda given: function(*given), rows, self)

    def check_rows(self, state: Array) -> None:
        for what, tree, expected in (("forcing", self.forcing, len(state) - 1), ("times", self.times, len(state))):
            for leaf in jax.tree.leaves(tree):
                if len(leaf) != expected:
                    raise ValueError(
                        f"{what} has {len(leaf)} rows; a trajectory of {len(state)} rows takes {len(state) - 1} steps."
                    )

    def defect(self, state: Array) -> Array:
        rows = self.over_steps(self.row, state)
        return namespace(rows).concatenate([state[:1] - self.initial, rows])

    def linearise(self, at: Array) -> tuple[Array, Tangent]:
        if self.host:
            tangent = host_implicit.ImplicitDifferences if self.implicit else host_march.DifferencedMarch
            return self.defect(at), tangent(self, np.asarray(at))
        return self.defect(at), MarchingTangent(self, at)

    def correct(self, at: Array) -> tuple[Array, Solve]:
        if self.host:
            return (host_implicit if self.implicit else host_march).sweep(self, at, None)
        return sweep(self, at, None)

    def refine(self, base: Array, state: Array) -> Refined:
        """How far the state is from the march itself; where steps are implicit, a rough further sweep."""
        del base
        if self.implicit and not self.host:
            defect, solve = sweep(self, state, None, rough=True)
            return defect, solve.value
        return None, self.correct(state)[1].value if self.implicit else self.solve(state).state - state

    def glance(self, state: Array, counts: Any = True) -> Array:
        return glance(self, state, counts)

    def pushes(self, rows: Rows, steps: int, counts: Any = True) -> Array:
        return pushes(self, rows, steps, counts)[1]

    def residual_energy(self, defect: Array) -> Float[Array, ""]:
        weights = 1 / self.initial.size if self.residual_weights is None else self.residual_weights
        xp = namespace(defect)
        if jnp.ndim(weights) == 0:
            return weights * square(defect)
        return xp.sum(weights * (defect * xp.conj(defect)).real)

    def solve(self, guess: Array) -> NonlinearSolve:
        """March from the initial state; `guess` only says how many rows."""
        if self.host:
            return (host_implicit if self.implicit else host_march).solve(self, len(guess))
        return self._march(len(guess), rough=False)

    def solve_roughly(self, guess: Array) -> NonlinearSolve:
        """The same where a grid is so coarse that a few digits of every implicit step will do."""
        if self.host:
            return self.solve(guess)
        return self._march(len(guess), rough=True)

    def _march(self, rows: int, rough: bool) -> NonlinearSolve:
        def step(now: Array, forcing: Any) -> tuple[Array, tuple[Array, Array, Array]]:
            if not self.implicit:
                after = self.advance(now, forcing)
                return after, (after, jnp.asarray(1), jnp.asarray(True))
            result = self._implicit_step(now, forcing, rough)
            return result.state, (result.state, result.iterations, result.converged)

        _, (states, iterations, converged) = jax.lax.scan(step, self.initial, self.per_step, length=rows - 1)
        state = jnp.concatenate([self.initial[None], states])
        return NonlinearSolve(state, jnp.sum(iterations), jnp.all(converged) & jnp.all(jnp.isfinite(state)))

    def _implicit_step(self, now: Array, forcing: Any, rough: bool) -> NonlinearSolve:
        def residual(after: Array) -> Array:
            return self.row(after, now, forcing)

        linearise = partial(self._linearised_row, now=now, forcing=forcing)
        if not rough:
            return damped_newton(linearise, residual, now)
        start, target = now, ROUGHLY * norm(residual(now))
        if self.preconditioner is not None:  # a few steps with it do the work of Newton's, if it is any good
            inverse = self.preconditioner(now, now, *self.arguments(forcing))
            start = preconditioned(lambda defect: inverse(-defect), residual, now, target)
        return damped_newton(linearise, residual, start, target=target, direction=roughly)

    def coarser(self, level: int) -> Problem | None:
        return own_level(self, self.coarsening, level)

    def concerns(self, state: np.ndarray) -> list[str]:
        return initial_mismatch(state, np.asarray(self.initial))

    @property
    def state_shape(self) -> tuple[int | None, ...] | None:
        return (None, *self.initial.shape)

    @property
    def numbers(self) -> str:
        return "complex" if jnp.iscomplexobj(self.initial) else "real"

    @property
    def cheap_to_solve(self) -> bool:
        return not self.implicit

    def admissible(self, state: Array) -> Bool[Array, ""]:
        return jnp.asarray(True) if self.admissibility is None else jnp.all(self.admissibility(state))


def initial_mismatch(state: np.ndarray, initial: np.ndarray) -> list[str]:
    """A first row far from the initial state is in the defect and corrected, but often means a slip."""
    if norm(state[0] - initial) <= max(0.05 * norm(initial), 1e-12 * norm(state[-1])):  # pyright: ignore[reportArgumentType]
        return []
    return ["the first row differs from the problem's initial state by more than 5 %"]
