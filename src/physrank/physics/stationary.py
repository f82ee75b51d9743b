"""Stationary problems: any residual(state[, data]) = 0, with derived tangent and adjoint."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, cast

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float

from physrank._arrays import as_double, as_host, to_jax
from physrank.geometry.grid import Grid
from physrank.geometry.lifts import namespace
from physrank.physics._guards import check_call, check_keywords, own_values
from physrank.physics.differences import Memory, along, choose_size, linearised
from physrank.physics.levels import altered, check_coarsening, own_level
from physrank.physics.newton import ROUGHLY, damped_newton, roughly
from physrank.physics.problem import (
    NonlinearSolve,
    Problem,
    Refined,
    Tangent,
    all_following,
    probe_magnitude,
    probed_floor,
    roundoff_floor,
    wavering,
)
from physrank.physics.solvers import (
    DENSE_LIMIT,
    ROUGH,
    Krylov,
    LinearMap,
    LinearSolver,
    Solve,
    check_solver,
    choose,
    norm,
    row_scales,
    unreturned,
    untold,
)


class DerivedTangent(Tangent):
    """The derivative of a function at a point, by `jax.linearize`, with a solver for square systems."""

    at: Array
    forward: LinearMap
    solver: LinearSolver | None
    precondition: LinearMap | None
    uneven: bool = eqx.field(static=True, default=False)  # rows may be of very different size: see to it

    def apply(self, direction: Array) -> Array:
        return self.forward(direction)

    def apply_adjoint(self, covector: Array) -> Array:
        return jnp.conj(jax.linear_transpose(self.forward, self.at)(jnp.conj(covector))[0])  # in Re ⟨h, z⟩

    def solve(
        self,
        rhs: Array,
        guess: Array | None = None,
        floor: Float[Array, ""] | None = None,
        rough: bool = False,
        tolerance: float = ROUGH,
    ) -> Solve:
        solver = choose(self.solver, rhs.size)
        solve = solver.solve
        if rough and isinstance(solver, Krylov):
            solve = partial(solver.solve_roughly, tolerance=tolerance)
        if not self.uneven:
            floor = probed_floor(self.forward, self.at) if floor is None else floor
            return solve(self.forward, rhs, floor, self.precondition, guess)
        scale = row_scales(self.forward, rhs)
        floor = probed_floor(lambda h: scale * self.forward(h), self.at)
        return solve(self.forward, rhs, floor, self.precondition, guess, scale)

    def solve_adjoint(self, rhs: Array) -> Solve:
        floor = roundoff_floor(self.magnitude(), self.at)
        transposed = None
        if self.precondition is not None:
            precondition = self.precondition
            transposed = lambda z: jax.linear_transpose(precondition, rhs)(z)[0]  # noqa: E731
        return choose(self.solver, rhs.size).solve(self.apply_adjoint, rhs, floor, transposed)

    def magnitude(self) -> Float[Array, ""]:
        return probe_magnitude(self.forward, self.at)


FIELDS = 8  # along the first axis, up to which each is tried for a constant of its own


class Stationary(Problem):
    """Your own root problem: `residual(state) = 0`, or `residual(state, data) = 0`.

    Main arguments: `residual`, a JAX function that returns an array of the state's shape with *every* row of the
    problem in it, boundary rows included; `data`, a pytree of whatever changes between inputs.

    Other arguments: `solver` (`physrank.Dense()`, `physrank.Krylov(...)`; by default dense up to 1,500 unknowns, GMRES
    above); `preconditioner(state[, data])`, which returns an approximate inverse r ↦ δ of the tangent there;
    `residual_weights` for the raw residual norm (default: mean square); `admissible(state)`; `grid`, a `physrank.Grid` for
    the trailing axes of a state: candidates of another resolution are then lifted to it, and it gives the natural metric;
    `shape` of a state (default: that of the candidates); `coarsen(level)` or `coarsen(level, problem)`, which returns this
    problem with about 2^level fewer points per side, or None: cheaper grids are then tried first. With `host=True`,
    `residual` is any NumPy function, never traced: its derivative is taken by differences, by columns up to 1,500 unknowns
    and inside GMRES above.

    ```python
    problem = pr.Stationary(lambda u, f: u + u**3 - f, data=f)
    ```
    """

    residual: Callable[..., Array]
    data: Any
    solver: LinearSolver | None
    preconditioner: Callable[..., LinearMap] | None
    residual_weights: Array | None
    admissibility: Callable[[Array], Array] | None
    coarsening: Callable[..., Problem | None] | None
    memory: Memory | None
    host: bool = eqx.field(static=True)
    grid: Grid | None = eqx.field(static=True)
    shape: tuple[int, ...] | None = eqx.field(static=True)

    numbers = "any"

    def __init__(
        self,
        residual: Callable[..., Array],
        data: Any = None,
        *,
        solver: LinearSolver | None = None,
        preconditioner: Callable[..., LinearMap] | None = None,
        residual_weights: Any = None,
        admissible: Callable[[Array], Array] | None = None,
        grid: Grid | None = None,
        shape: tuple[int, ...] | None = None,
        coarsen: Callable[..., Problem | None] | None = None,
        host: bool = False,
        **unknown: Any,
    ):
        check_keywords(self, unknown)
        arguments = ("state",) if data is None else ("state", "data")
        hint = "It receives data exactly when data= is given."
        check_call("residual", residual, arguments, hint)
        if preconditioner is not None:
            check_call("preconditioner", preconditioner, arguments, hint)
        check_solver(solver)
        check_grid(grid, shape)
        check_coarsening(coarsen)
        self.residual = residual if host else as_double(residual)
        self.data = (as_host if host else as_double)(data)
        self.host, self.memory = host, Memory() if host else None
        self.solver = solver
        self.preconditioner = preconditioner
        self.residual_weights = stated_weights(residual_weights)
        self.admissibility = admissible
        self.coarsening = coarsen if host else as_double(coarsen)
        self.grid = grid
        self.shape = shape

    def _with_data(self, function: Callable[..., Any], state: Array) -> Any:
        return function(state) if self.data is None else function(state, self.data)

    def defect(self, state: Array) -> Array:
        if self.host:
            return own_values("residual", self._with_data(self.residual, cast(Any, np.array(state))), np.asarray(state))
        defect = jnp.asarray(self._with_data(self.residual, state))
        if defect.shape != state.shape:
            raise ValueError(
                f"residual returned shape {defect.shape} for a state of shape {state.shape}; "
                "it must return one row for every unknown, boundary rows included."
            )
        return defect

    def linearise(self, at: Array) -> tuple[Array, Any]:
        precondition = None if self.preconditioner is None else self._with_data(self.preconditioner, at)
        if self.memory is not None:
            tangent = linearised(self.defect, np.asarray(at), self.solver, precondition, self.memory, self.data)
            return self.defect(at), tangent
        defect, forward = jax.linearize(self.defect, at)
        return defect, DerivedTangent(at, forward, self.solver, precondition, uneven=True)

    def refine(self, base: Array, state: Array) -> Refined:
        """The next corrections with the tangent that is there already: as good as needed to know their size."""
        tangent = self.linearise(base)[1]
        return None, all_following(lambda r: tangent.solve(r, rough=True).value, self.defect, base, state)

    def undetermined(self, base: Array) -> Array:
        """`untold` by the tangent at a state.

        With an iterative solver it ends while directions that are held little have hardly begun to be solved for, and its
        residual does not show it. What it gives back of a pattern does, for the price of a response: that is tried up to the
        size at which nobody need iterate, beyond it and on the host only constants are.
        """
        tangent, solver = self.linearise(base)[1], choose(self.solver, base.size)
        if not isinstance(solver, Krylov):
            return untold(tangent, base)
        constants = _constants(tangent, base)
        if self.host or base.size > DENSE_LIMIT:
            return constants
        whole = Krylov(solver.method, max_steps=solver.max_steps, restart=solver.restart)  # not one that ends early
        left = unreturned(replace(tangent, solver=whole), base)
        return jnp.where(jnp.any(constants != 0), constants, left)

    def wavering(self, base: Array, state: Array) -> tuple[Array, Float[Array, ""]]:
        def there(direction: Array) -> Array:
            if self.memory is None:
                return jax.jvp(self.defect, (state,), (direction,))[1]
            size = choose_size(self.defect, np.asarray(state), self.memory)
            return cast(Any, along(self.defect, np.asarray(state), np.asarray(direction), size))

        return wavering(self.linearise(base)[1], there, base)

    def residual_energy(self, defect: Array) -> Float[Array, ""]:
        xp = namespace(defect)
        squares = (defect * xp.conj(defect)).real
        return xp.mean(squares) if self.residual_weights is None else xp.sum(self.residual_weights * squares)

    def solve(self, guess: Array) -> NonlinearSolve:
        return damped_newton(self.linearise, self.defect, guess, host=self.host)

    def solve_roughly(self, guess: Array) -> NonlinearSolve:
        """The same where a grid is so coarse that a few digits will do; relative to nothing, since the guess may be good."""
        xp = namespace(guess)
        target = ROUGHLY * norm(self.defect(xp.zeros_like(guess)))
        target = xp.where(xp.isfinite(target), target, 0.0)
        return damped_newton(self.linearise, self.defect, guess, target=target, direction=roughly, host=self.host)

    def ended_at(self, tolerance: Any, size: int) -> Problem | None:
        solver = choose(self.solver, size)
        if not isinstance(solver, Krylov) or solver.rtol >= float(tolerance):
            return None
        return altered(self, solver=replace(solver, rtol=tolerance, enough=2 * tolerance))

    def coarser(self, level: int) -> Problem | None:
        return own_level(self, self.coarsening, level)

    @property
    def state_shape(self) -> tuple[int | None, ...] | None:
        return self.shape

    def admissible(self, state: Array) -> Bool[Array, ""]:
        return jnp.asarray(True) if self.admissibility is None else jnp.all(self.admissibility(state))


def _constants(tangent: Any, base: Array) -> Array:
    """Constants that the tangent does not see: of the whole state, else of each of its few fields, in another size each, so
    that no difference of two fields is at right angles to it."""
    xp = namespace(base)
    size = tangent.magnitude()

    def free(constant: Array) -> Array:
        return norm(tangent.apply(constant)) <= 1e-9 * size * norm(constant)

    whole, found = xp.ones_like(base), xp.zeros_like(base)
    if base.ndim > 1 and base.shape[0] <= FIELDS:
        for k in range(base.shape[0]):
            here = (xp.arange(base.shape[0]) == k).reshape(-1, *[1] * (base.ndim - 1))
            one = xp.where(here, whole, found * 0.0)
            found = found + xp.where(free(one), one * (1 + 0.5 * k), 0.0)
    return xp.where(xp.any(found != 0), found, xp.where(free(whole), whole, 0.0))


def stated_weights(residual_weights: Any) -> Array | None:
    return None if residual_weights is None else to_jax("residual_weights", residual_weights)


def check_grid(grid: Any, shape: tuple[int, ...] | None) -> None:
    if grid is None:
        return
    if not isinstance(grid, Grid):
        raise ValueError(f"grid must be a physrank.Grid, such as Grid.periodic(shape, lengths); got {grid!r:.60}.")
    if shape is not None and tuple(shape[-len(grid.shape) :]) != grid.shape:
        raise ValueError(f"The grid has shape {grid.shape}; expected the trailing axes of a state of shape {shape}.")
