"""Strong monotonicity: the metric in which a residual bounds the error, at any state."""

import abc
from collections.abc import Callable

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

from physrank.physics.solvers import Krylov, LinearMap, Solve


class SecantMetric(eqx.Module):
    """M_s with ⟨A(s) − A(u), s − u⟩ ≥ ⟨M_s (s − u), s − u⟩ for every u, in the Euclidean product of the free unknowns.

    Laws: `apply` is symmetric, with smallest eigenvalue at least `coercivity` > 0; `residual` is A(s) on the free
    unknowns; `free` restricts a covector of the state to them (fixed entries, such as boundary values, must agree
    between s and every admissible u).
    """

    residual: eqx.AbstractVar[Array]  # A(s)
    coercivity: eqx.AbstractVar[Float[Array, ""]]  # μ ≤ λ_min(M_s)

    @abc.abstractmethod
    def apply(self, direction: Array) -> Array:
        """M_s z."""

    @abc.abstractmethod
    def solve(self, rhs: Array) -> Solve:
        """z with M_s z ≈ rhs; what is missing is in its defect."""

    @abc.abstractmethod
    def free(self, covector: Array) -> Array:
        """The entries of a state-shaped array that belong to free unknowns."""

    @property
    def hypotheses(self) -> dict[str, Float[Array, ""]]:
        """What else the secant inequality needs, by name: numbers that must be ≥ 0."""
        return {}


class OwnMetric(SecantMetric):
    """Your own M_s: a symmetric map, its coercivity constant, and the residual at s. All entries of the state are free."""

    residual: Array
    coercivity: Float[Array, ""]
    map: Callable[[Array], Array]
    preconditioner: LinearMap | None = None

    def apply(self, direction: Array) -> Array:
        return self.map(direction)

    def solve(self, rhs: Array) -> Solve:
        size = jnp.max(jnp.abs(rhs))
        floor = 1e-14 * jnp.where(size > 0, size, 1.0) * jnp.sqrt(float(rhs.size))
        return Krylov(rtol=1e-8, max_steps=10_000, method="cg").solve(self.map, rhs, floor, self.preconditioner)

    def free(self, covector: Array) -> Array:
        return covector
