"""What a constraint is: a complete defect A(v), its derivative L = A'(w), and solves with L and Lᵀ."""

import abc

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from physrank._precision import double
from physrank.physics import lifts
from physrank.physics.quadrature import AnyMetric, MeanSquare
from physrank.physics.solvers import LinearMap, Solve


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
    iterations: Int[Array, ""]
    converged: Bool[Array, ""]


class Problem(eqx.Module):
    """A constraint A(v) = 0 on states v, with everything that ranking needs to know about it.

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

    def correct(self, at: Array) -> tuple[Array, Solve]:
        """`(A(at), solution of A'(at) δ = −A(at))`: the response, in one go where that saves work."""
        defect, tangent = self.linearise(at)
        return defect, tangent.solve(-defect)

    @property
    @abc.abstractmethod
    def state_shape(self) -> tuple[int | None, ...] | None:
        """Shape of a state; None for a free length, None altogether when the problem leaves it open."""

    def admissible(self, state: Array) -> Bool[Array, ""]:
        """Whether the state makes physical sense (positive density, …); anything finite by default."""
        return jnp.all(jnp.isfinite(state))

    def concerns(self, state: np.ndarray) -> list[str]:
        """What a user should know about a candidate or a result that is not an error: said in a ranking's notes."""
        return []

    def residual_floor(self, reference: np.ndarray, anchor: np.ndarray | None = None) -> float:
        """‖A(reference)‖_Y, relative to ‖A(anchor)‖_Y when an anchor is given.

        Zero for the problem's own solution. A reference made by another discretisation has a floor: below it, a small
        defect no longer means a small error.
        """
        norms = []
        for name, state in (("reference", reference), ("anchor", anchor)):
            if state is None:
                continue
            shape, expected = np.shape(state), self.state_shape
            if expected is not None and (
                len(shape) != len(expected)
                or any(e is not None and n != e for n, e in zip(shape, expected, strict=True))
            ):
                raise ValueError(f"{name} has shape {shape}; expected a state of this problem, {expected}.")
            with double():
                norms.append(float(jnp.sqrt(self.residual_energy(self.defect(jnp.asarray(state, float))))))
            if not np.isfinite(norms[-1]):
                raise ValueError(f"The defect of the {name} is not finite: is it in the problem's own variables?")
        if anchor is None:
            return norms[0]
        if norms[1] == 0:
            raise ValueError("The anchor's defect is zero: it solves the problem, and nothing can be relative to it.")
        return norms[0] / norms[1]

    def metric(self) -> AnyMetric:
        """The natural task metric; the mean square unless the equation knows its geometry."""
        return MeanSquare()

    @property
    def output(self) -> str:
        """What the task is when the user names none: "field" or "terminal"."""
        return "field"

    @property
    def grid_shape(self) -> tuple[int, ...]:
        """The trailing axes of a state that are space, and so can be lifted."""
        return tuple(n for n in self.state_shape or () if n is not None)

    @property
    def lift_kind(self) -> str | None:
        """How candidates of another resolution are lifted (see `physrank.lifts`); None: shapes must match."""
        return None

    @property
    def cheap_to_solve(self) -> bool:
        """True when solving the equation itself is one explicit sweep, about as cheap as the response."""
        return False

    @property
    def batch_width(self) -> int:
        """How many inputs of a panel are worth moving together; beyond that they only crowd the cache."""
        return 8

    def lift(self, field: np.ndarray) -> np.ndarray:
        """A field of another resolution as a state of this problem; unchanged when no lift is known."""
        shape = self.state_shape
        if self.lift_kind is None or shape is None or field.ndim != len(shape):
            return field
        return lifts.lift(field, self.grid_shape, self.lift_kind)


def probe_magnitude(apply: LinearMap, like: Array) -> Float[Array, ""]:
    """Root-mean-square entry of L h for a fixed pattern of signs h: a cheap stand-in for a row norm of L."""
    hashed = jnp.arange(like.size, dtype=jnp.uint32) * np.uint32(2654435761)  # a pattern without structure, for free
    signs = jnp.where((hashed >> 16) & 1, 1.0, -1.0).astype(like.dtype).reshape(like.shape)
    return jnp.sqrt(jnp.mean(apply(signs) ** 2))


def roundoff_floor(magnitude: Float[Array, ""], *states: Array) -> Float[Array, ""]:
    """Euclidean norm below which a defect is indistinguishable from zero, for a tangent of this magnitude."""
    size = sum((jnp.linalg.norm(state.ravel()) for state in states), jnp.zeros(()))
    floor = 64 * jnp.finfo(states[0].dtype).eps * magnitude * size
    return jnp.where(jnp.isfinite(floor), floor, 0.0)  # a broken estimate must not excuse a defect
