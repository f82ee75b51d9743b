"""Linear solvers for tangent systems: dense for small states, Krylov (lineax) for large ones."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Literal

import equinox as eqx
import jax
import jax.numpy as jnp
import lineax as lx
import numpy as np
from jaxtyping import Array, Float

from physrank import _division
from physrank.geometry.lifts import namespace

LinearMap = Callable[[Array], Array]
# lineax also wants the last update of the unknown below the tolerance, which costs an iteration and says nothing about
# the defect. Measured in this unit (a power of two: exact) the unknown is small, and the residual decides alone.
UNIT = 2.0**-40
DENSE_LIMIT = 1500  # unknowns up to which the Jacobian is formed: 18 MB and a fraction of a second
ALGEBRAIC_TOLERANCE = 1e-8  # ‖L δ − r‖ / ‖r‖ above which a system does not count as solved
ROUGH = 1e-2  # relative tolerance of a solve that only has to tell how large its solution is
WORTHWHILE = 0.1  # of the defect that a preconditioned step may leave: with more, an iteration is cheaper
UNEVEN = 1e3  # ratio of row sizes above which rows are scaled alike before anything is solved or judged


class Solve(eqx.Module):
    """What a linear solver returns; whether it solved is judged from the true defect, never from its own claim."""

    value: Array
    defect: Array  # operator(value) − rhs, recomputed
    iterations: Any  # a whole number
    solved: Any  # a truth value


def norm(array: Array) -> Float[Array, ""]:
    """The Euclidean norm, scaled before squaring: numbers of size 1e-300 have one too."""
    xp = namespace(array)
    size = xp.max(xp.abs(array), initial=0.0)
    unit = xp.where((size > 0) & xp.isfinite(size), size, 1.0)
    return unit * xp.linalg.norm(array / unit)


def square(array: Array) -> Any:
    """‖x‖² without a second array for the squares; in JAX not by `vdot`, which flattens: that would gather all pieces."""
    if namespace(array) is np:
        return np.vdot(array, array).real
    return jnp.real(jnp.tensordot(jnp.conj(array), array, axes=array.ndim))


def judged(
    value: Array,
    defect: Array,
    rhs: Array,
    iterations: Any,
    floor: Array,
    scale: Array | float = 1.0,
    enough: Array | float = ALGEBRAIC_TOLERANCE,
) -> Solve:
    """A solution with its verdict: what is left is small against the right-hand side, or is round-off (`floor`).

    Rows are measured after `scale`: a row a million times larger than the others must not hide them.
    """
    left, asked, xp = norm(scale * defect), norm(scale * rhs), namespace(value)
    solved = xp.all(xp.isfinite(value)) & (left <= enough * asked + floor)
    return Solve(value, defect, xp.asarray(iterations), solved)


def row_scales(operator: LinearMap, like: Array) -> Array:
    """1 / the size of each row of an operator, seen through three patterns of signs; all ones for rows of similar size."""
    patterns = jnp.stack([signs(like, k) for k in range(3)])
    rows = jnp.sqrt(jnp.mean(jnp.abs(jax.vmap(operator)(patterns)) ** 2, axis=0))
    rows = jnp.where((rows > 0) & jnp.isfinite(rows), rows, jnp.max(rows))
    uneven = jnp.max(rows) > UNEVEN * jnp.min(rows)
    return jnp.where(uneven, 1 / rows, 1.0)


def signs(like: Array, seed: int = 0) -> Array:
    """A fixed pattern of ±1 without structure, for free."""
    xp = namespace(like)
    # The place in memory, axis by axis: a flat row could not be divided among devices.
    place = xp.full((1,) * max(like.ndim, 1), 7919 * seed, np.uint32)
    for axis, length in enumerate(like.shape):
        step = xp.arange(length, dtype=np.uint32).reshape(-1, *[1] * (like.ndim - axis - 1))
        place = place + step * np.uint32(np.prod(like.shape[axis + 1 :], dtype=np.uint64) % 2**32)
    hashed = place * np.uint32(2654435761)
    return xp.where((hashed >> 16) & 1, 1.0, -1.0).astype(like.dtype).reshape(like.shape)


def untold(tangent: Any, like: Array) -> Array:
    """P²h for a pattern h, P = 1 − L⁻¹L: what is left of it is a direction that the equation says nothing about.

    The pattern has a part along everything that may be free: a constant on some nodes sums up nowhere. Where unknowns have
    very different units, one P also leaves what rounding took from those that are small; of that the next one leaves nothing.
    """
    left = 1.0 + signs(like) / 2
    for _ in range(2):
        left = left - tangent.solve(tangent.apply(left)).value
    return left


def unreturned(tangent: Any, base: Array) -> Array:
    """Ph, as above, of a solver that iterates: once, because a further P would tell it to look closer. In the units of the
    state, in which an iteration judges what it leaves. Nothing where it does not converge: that says something about the
    pattern, and solves that matter are judged by themselves."""
    size = jnp.abs(base)
    pattern = jnp.where(jnp.any(size > 0), size, 1.0) * (1.0 + signs(base) / 2)
    found = tangent.solve(tangent.apply(pattern))
    whole = norm(pattern) / np.sqrt(base.size)
    return jnp.where(found.solved, pattern - found.value, 0.0) / jnp.where(whole > 0, whole, 1.0)


class Dense(eqx.Module):
    """Form the Jacobian by columns and factor it. Robust; for states of up to a few thousand numbers."""

    def solve(
        self,
        operator: LinearMap,
        rhs: Array,
        floor: Float[Array, ""],
        precondition: LinearMap | None = None,
        guess: Array | None = None,
        scale: Array | None = None,
    ) -> Solve:
        if jnp.iscomplexobj(rhs):
            return _as_real(self, operator, rhs, floor, precondition, guess, scale)
        del precondition, guess
        scale = jnp.ones_like(rhs) if scale is None else scale
        flat = rhs.ravel()
        columns = jax.vmap(lambda e: operator(e.reshape(rhs.shape)).ravel())(jnp.eye(flat.size, dtype=flat.dtype))
        matrix = lx.MatrixLinearOperator(columns.T * scale.reshape(-1, 1))
        value = lx.linear_solve(matrix, flat * scale.ravel(), lx.LU(), throw=False).value.reshape(rhs.shape)
        return judged(value, operator(value) - rhs, rhs, jnp.asarray(1), floor, scale)


class Krylov(eqx.Module):
    """Matrix-free iteration to ‖residual‖ ≤ rtol · ‖rhs‖ + atol.

    `method`: "gmres" for any tangent, "bicgstab" for any tangent at less cost when well preconditioned, "cg" for
    symmetric positive definite ones. A method that does not fit its tangent shows in the reported defect: a system counts as
    solved when ‖residual‖ ≤ enough · ‖rhs‖.
    """

    method: Literal["cg", "gmres", "bicgstab"] = eqx.field(static=True, default="gmres")
    rtol: float = 1e-10
    atol: float = 0.0
    max_steps: int = eqx.field(static=True, default=500)
    restart: int = eqx.field(static=True, default=20)
    enough: float = ALGEBRAIC_TOLERANCE

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
        scale: Array | None = None,
    ) -> Solve:
        if jnp.iscomplexobj(rhs):
            return _as_real(self, operator, rhs, floor, precondition, guess, scale)
        # Scaling rows would spoil a symmetric operator, so conjugate gradients only judge by it.
        applied = 1.0 if scale is None or self.method == "cg" else scale
        # Solved for a right-hand side of size one: numbers of 1e-300 have squares too.
        size = jnp.max(jnp.abs(applied * rhs))
        size = jnp.where((size > 0) & jnp.isfinite(size), size, 1.0)
        wanted = applied * rhs / size
        fold, unfold = _division.folding(rhs.shape)
        structure = jax.eval_shape(fold, rhs)
        tags: Any = lx.positive_semidefinite_tag if self.method == "cg" else ()
        unit = 1.0 if self.method == "gmres" else UNIT  # GMRES takes a small basis vector for a breakdown
        options: dict[str, Any] = {}
        if precondition is not None:
            inverse = precondition
            options["preconditioner"] = lx.FunctionLinearOperator(
                lambda r: fold(unit * inverse(unfold(r) / applied)), structure, tags
            )
        if guess is not None:
            options["y0"] = fold(unit * (guess / size))
        # lineax scales entry by entry; one number in the Euclidean norm is the classical criterion. A right-hand
        # side at round-off level (anchor = solution) must not be chased below what float64 can represent.
        target = jnp.maximum(self.rtol * norm(wanted) + self.atol / size, floor / size)
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
        linear = lx.FunctionLinearOperator(lambda x: fold(applied * operator(unfold(x)) / unit), structure, tags)
        solution = lx.linear_solve(linear, fold(wanted), solver, options=options, throw=False)
        # BiCGStab makes 0/0 of nothing to solve, such as two candidates that are alike.
        value = jnp.where(jnp.any(wanted != 0), size * (unfold(solution.value) / unit), 0.0)
        judge = 1.0 if scale is None else scale
        return judged(value, operator(value) - rhs, rhs, solution.stats["num_steps"], floor, judge, self.enough)

    def solve_roughly(
        self,
        operator: LinearMap,
        rhs: Array,
        floor: Float[Array, ""],
        precondition: LinearMap | None = None,
        guess: Array | None = None,
        scale: Array | None = None,
        tolerance: float = ROUGH,
    ) -> Solve:
        """To a few digits. A good preconditioner has them in a step or two, each at less than half the price of an iteration;
        how far they came is seen from the true defect, and the iteration goes on from there where that is not enough."""
        loose = replace(self, rtol=tolerance, enough=tolerance)
        if precondition is None:
            return loose.solve(operator, rhs, floor, None, guess, scale)
        judge = 1.0 if scale is None else scale
        start = jnp.zeros_like(rhs) if guess is None else guess
        defect = -rhs if guess is None else operator(start) - rhs
        # The best so far, what a step may still be worth, and whether the iteration had its turn.
        begin = (judged(start, defect, rhs, 0, floor, judge, tolerance), jnp.asarray(True), jnp.asarray(False))

        def step(carry: tuple[Solve, Array, Array]) -> tuple[Solve, Array, Array]:
            before, _, turn = carry
            value = before.value - precondition(before.defect)
            after = judged(value, operator(value) - rhs, rhs, before.iterations + 1, floor, judge, tolerance)
            share = norm(judge * after.defect) / norm(judge * before.defect)
            best = jax.tree.map(lambda a, b: jnp.where(share < 1, a, b), after, before)
            return replace(best, iterations=after.iterations), share < WORTHWHILE, turn

        def iterate(carry: tuple[Solve, Array, Array]) -> tuple[Solve, Array, Array]:
            before, worth, _ = carry
            after = loose.solve(operator, rhs, floor, precondition, before.value, scale)
            return replace(after, iterations=after.iterations + before.iterations), worth, jnp.asarray(True)

        stepped = jax.lax.while_loop(lambda carry: ~carry[0].solved & carry[1], step, begin)
        # At most once; unlike a branch, in a batch not at all where every step has served.
        return jax.lax.while_loop(lambda carry: ~(carry[0].solved | carry[2]), iterate, stepped)[0]


LinearSolver = Dense | Krylov


def _as_real(
    solver: LinearSolver,
    operator: LinearMap,
    rhs: Array,
    floor: Array,
    precondition: LinearMap | None,
    guess: Array | None,
    scale: Array | None,
) -> Solve:
    """A complex system as a real one of twice the size: derivatives of |u|² u are linear over the reals only."""

    def split(z: Array) -> Array:
        return jnp.stack([jnp.real(z), jnp.imag(z)])

    def join(v: Array) -> Array:
        return jax.lax.complex(v[0], v[1])

    inverse = None if precondition is None else lambda v: split(precondition(join(v)))
    found = solver.solve(
        lambda v: split(operator(join(v))),
        split(rhs),
        floor,
        inverse,
        None if guess is None else split(guess),
        None if scale is None else jnp.stack([scale, scale]),
    )
    return replace(found, value=join(found.value), defect=join(found.defect))


def check_solver(solver: Any) -> None:
    if solver is not None and not isinstance(solver, LinearSolver):
        raise ValueError(f"solver must be physrank.Dense() or physrank.Krylov(...); got {solver!r}.")


def choose(solver: LinearSolver | None, size: int) -> LinearSolver:
    """The user's solver, or dense for small states and GMRES for large ones."""
    if solver is not None:
        return solver
    return Dense() if size <= DENSE_LIMIT else Krylov()
