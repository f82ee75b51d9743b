"""What a constraint is: a complete defect A(v), its derivative L = A'(w), and solves with L and Lᵀ."""

import abc
from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from physrank.geometry.grid import Grid
from physrank.geometry.lifts import namespace
from physrank.geometry.metrics import AnyMetric, MeanSquare
from physrank.physics.solvers import LinearMap, Solve, norm, signs

Refined = tuple[Array | None, Array]  # A(s), where it was met on the way, and about how far s would move

FORMERLY = {
    "residual_floor": "physrank.residual_floor(problem, reference, anchor)",
    "lift": "problem.grid.lift(field)",
    "lift_kind": "problem.grid.kind",
    "grid_shape": "problem.grid.shape",
    "batch_width": "chosen by physrank.compute",
    "weights": "residual_weights",
}


class Tangent(eqx.Module):
    """L = A'(w) at one state, prepared once and applied many times.

    Laws: ⟨L h, z⟩ = ⟨h, Lᵀ z⟩ in the Euclidean product; `apply` is the derivative of the problem's `defect`;
    `apply(solve(r).value) ≈ r` and `apply_adjoint(solve_adjoint(r).value) ≈ r`.
    """

    @abc.abstractmethod
    def apply(self, direction: Array) -> Array:
        """L h."""

    @abc.abstractmethod
    def apply_adjoint(self, covector: Array) -> Array:
        """Lᵀ z."""

    @abc.abstractmethod
    def solve(self, rhs: Array) -> Solve:
        """h with L h ≈ rhs."""

    @abc.abstractmethod
    def solve_adjoint(self, rhs: Array) -> Solve:
        """z with Lᵀ z ≈ rhs."""

    @abc.abstractmethod
    def magnitude(self) -> Float[Array, ""]:
        """The size of a typical entry of L h for h of size one: the scale of round-off in the defect."""


class NonlinearSolve(eqx.Module):
    """A state with A(state) ≈ 0, found by solving the equation itself."""

    state: Array
    iterations: Any  # a whole number
    converged: Any  # a truth value


class Problem(eqx.Module):
    """A constraint A(v) = 0 on states v. What else a problem may be able to do is asked in `capabilities`.

    A problem is a pytree: what changes between inputs is an array in it, so one compilation serves all inputs.
    """

    @abc.abstractmethod
    def defect(self, state: Array) -> Array:
        """The complete A(v): equation, initial and boundary rows. Zero exactly at the discrete solution."""

    @abc.abstractmethod
    def linearise(self, at: Array) -> tuple[Array, Tangent]:
        """`(A(at), A'(at))`, sharing their common work."""

    @abc.abstractmethod
    def residual_energy(self, defect: Array) -> Float[Array, ""]:
        """‖r‖²_Y: the product norm of a defect."""

    @abc.abstractmethod
    def solve(self, guess: Array) -> NonlinearSolve:
        """Solve A(u) = 0 outright, starting from `guess` where a start is needed."""

    @property
    @abc.abstractmethod
    def state_shape(self) -> tuple[int | None, ...] | None:
        """Shape of a state; None for a free length, None altogether when the problem leaves it open."""

    def metric(self) -> AnyMetric:
        """The natural task metric: that of the problem's grid, or the mean square."""
        return natural_metric(getattr(self, "grid", None))

    def __getattr__(self, name: str) -> Any:
        if name in FORMERLY:
            raise AttributeError(f"{type(self).__name__}.{name} is now {FORMERLY[name]}.")
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")


def natural_metric(grid: Grid | None) -> AnyMetric:
    return MeanSquare() if grid is None else grid.metric()


def fits(shape: tuple[int, ...], expected: tuple[int | None, ...] | None) -> bool:
    """Whether a shape is the expected one, where None stands for any length, or for any shape."""
    if expected is None:
        return True
    return len(shape) == len(expected) and all(e is None or n == e for n, e in zip(shape, expected, strict=True))


def pullback(function: Callable[..., Array], *at: Any) -> Callable[[Array], Any]:
    """The adjoint of a function's derivative in the product Re ⟨h, z⟩: JAX transposes complex maps without conjugation."""
    back = jax.vjp(function, *at)[1]
    return lambda z: jax.tree.map(jnp.conj, back(jnp.conj(z)))


def probe_magnitude(apply: LinearMap, like: Array) -> Float[Array, ""]:
    """Root-mean-square entry of L h for a fixed pattern of signs h: a cheap stand-in for a row norm of L."""
    pushed = apply(signs(like))
    return norm(pushed) / np.sqrt(max(pushed.size, 1))


def all_following(solve: LinearMap, defect: LinearMap, base: Array, state: Array) -> Array:
    """The next correction of a state that came from `base`; where the one after it is hardly smaller, many more would follow:
    the sum of the series. Where corrections shrink more and more slowly (far from the zero of a power, Newton's take away the
    same share each time, and these ever less), the next ratio is as much worse again."""
    first = solve(-defect(state))
    second = solve(-defect(state + first))
    xp = namespace(state)
    least = 1e-10 * norm(state) + np.finfo(state.dtype).tiny
    ratio, before = norm(second) / xp.maximum(norm(first), least), norm(first) / xp.maximum(norm(state - base), least)
    return first / (1 - xp.clip(ratio + xp.maximum(ratio - before, 0.0), 0.0, 0.99))


def wavering(tangent: Any, there: LinearMap, like: Array) -> tuple[Array, Float[Array, ""]]:
    """z ∝ L⁻¹ p for a pattern p, in which what L hardly holds stands out, and ‖L⁻¹ L(s) z − z‖, for `there` = L(s).

    Newton's steps shrink where this is small. Where it is not, they may be short for other reasons: along a front that drifts
    exponentially slowly, L and the defect vanish together, and no step tells how far the solution is.
    """
    xp, pattern = namespace(like), 1.0 + signs(like)
    found = tangent.solve(pattern, rough=True)
    size = norm(found.value)
    weak = found.value / xp.where(size > 0, size, 1.0)
    again = tangent.solve(there(weak), rough=True)
    # An iteration that stalled knows nothing about either.
    known = (norm(found.defect) <= 0.1 * norm(pattern)) & (norm(again.defect) <= 0.1 * norm(there(weak)))
    return weak, xp.where(known, norm(again.value - weak), 0.0)


def probed_floor(apply: LinearMap, state: Array) -> Float[Array, ""]:
    """Euclidean norm below which a defect is indistinguishable from zero: the tangent applied to the state itself, under a
    pattern of signs. Where unknowns differ in size, large ones meet small columns, and the product of two norms would excuse
    any defect."""
    size = norm(state)
    direction = signs(state) * state / namespace(state).where(size > 0, size, 1.0)
    return roundoff_floor(norm(apply(direction)), state)


def roundoff_floor(magnitude: Float[Array, ""], *states: Array) -> Float[Array, ""]:
    """Euclidean norm below which a defect is indistinguishable from zero, for a tangent of this magnitude."""
    floor = 64 * np.finfo(states[0].dtype).eps * magnitude * sum(norm(state) for state in states)
    xp = namespace(floor)
    return xp.where(xp.isfinite(floor), floor, 0.0)  # a broken estimate must not excuse a defect
