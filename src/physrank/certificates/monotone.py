"""The strongly monotone certificate: ‖s − u‖_M ≤ ‖A(s)‖_{M⁻¹}, and every pair's gap within

    B_ij = 2 ‖A(s)‖_{M⁻¹} ‖Qᵀ W (y_i − y_j)‖_{M⁻¹},

from one inverse action for the residual and at most N − 1 for the candidate differences. Here M = M_s comes from the
secant inequality ⟨A(s) − A(u), s − u⟩ ≥ ‖s − u‖²_M, W holds the task weights, and norms are Euclidean on the free
unknowns (the factor h^d of a grid inner product cancels).
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array as JaxArray

from physrank._precision import double
from physrank.certificates.certificate import Assumption, Enclosure
from physrank.geometry import GapIntervals, gaps_of
from physrank.geometry.space import Array
from physrank.physics import Problem
from physrank.physics.monotone import OwnMetric, SecantMetric
from physrank.ranking import Ranking

TARGET = "the only zero of the stated discrete problem"


@dataclass(frozen=True)
class StronglyMonotone:
    """The certificate in double precision, for any problem that has a `secant_metric`, or is given one here.

    - `metric(state)` returns the symmetric map z ↦ M_s z, a JAX function on states;
    - `coercivity(state)` returns μ with ⟨M_s z, z⟩ ≥ μ ‖z‖², in the Euclidean product;
    - `preconditioner(state)` returns an approximate inverse of M_s, if there is one.

    That the secant inequality holds for them is yours to know: it is what the theorem rests on.
    """

    metric: Callable[[JaxArray], Callable[[JaxArray], JaxArray]] | None = None
    coercivity: Callable[[JaxArray], Any] | None = None
    preconditioner: Callable[[JaxArray], Callable[[JaxArray], JaxArray]] | None = None

    def __post_init__(self) -> None:
        if (self.metric is None) != (self.coercivity is None):
            raise ValueError("Give both metric and coercivity, or neither for a problem that has a secant_metric.")

    def __call__(self, problem: Problem, ranking: Ranking) -> Enclosure:
        actions = inverse_actions(problem, ranking, self)
        gaps = gaps_of(ranking.space, ranking.outputs, proxy_of(ranking))
        return Enclosure(
            kind="theorem",
            target=TARGET,
            gaps=GapIntervals.around(gaps, spread(pair_bounds(actions), ranking)),
            state_bound=actions.residual_norm,
            norm="the energy norm of M",
            assumptions=(*common_assumptions(ranking, actions), *self._stated()),
            solves=actions.solves,
        )

    def prepare(self, problem: Problem, state: JaxArray) -> SecantMetric:
        if self.metric is None or self.coercivity is None:
            return problem.secant_metric(state)  # pyright: ignore[reportAttributeAccessIssue]
        inverse = None if self.preconditioner is None else self.preconditioner(state)
        return OwnMetric(problem.defect(state), jnp.asarray(self.coercivity(state)), self.metric(state), inverse)

    def _stated(self) -> tuple[Assumption, ...]:
        if self.metric is None:
            return ()
        return (Assumption("the secant inequality holds for the metric given", True, "stated by the caller"),)


@dataclass(frozen=True)
class InverseActions:
    """Approximate ẑ ≈ M⁻¹ b with defects ρ = b − M ẑ, flattened: row 0 for the residual, then one per direction."""

    rhs: Array
    values: Array
    defects: Array
    coercivity: float
    fixed: float  # the largest entry of A(s) outside the free unknowns

    @property
    def solves(self) -> int:
        return int(np.sum(np.any(self.rhs != 0, axis=1)))

    @property
    def residual_norm(self) -> float:
        return float(np.sqrt(np.maximum(self._squared[0, 0], 0.0)))

    @property
    def _squared(self) -> Array:
        """‖b‖²_{M⁻¹} = b·ẑ + ρ·ẑ + ‖ρ‖²_{M⁻¹} ≤ b·ẑ + ρ·ẑ + ‖ρ‖²/μ, as a bilinear form in b."""
        mixed = (self.rhs + self.defects) @ self.values.T
        return (mixed + mixed.T) / 2 + self.defects @ self.defects.T / self.coercivity

    @property
    def distances(self) -> Array:
        """‖b_i − b_j‖_{M⁻¹} between directions; the first candidate's direction is zero."""
        gram = np.pad(self._squared[1:, 1:], ((1, 0), (1, 0)))
        sizes = np.diag(gram)
        return np.sqrt(np.maximum(sizes[:, None] + sizes[None, :] - 2 * gram, 0.0))


def pair_bounds(actions: InverseActions) -> Array:
    """B_ij among the valid candidates."""
    return 2 * actions.residual_norm * actions.distances


def pulled_differences(ranking: Ranking) -> JaxArray:
    """Qᵀ W (y_k − y_1) for all valid candidates but the first, as covectors of the state."""
    outputs = ranking.outputs[ranking.library.valid]
    weighted = jnp.asarray(ranking.space.weights * (outputs[1:] - outputs[0]))
    if ranking.task.selects and weighted.shape[1:] == np.shape(ranking.state):
        return weighted
    _, pull = jax.vjp(ranking.task.map, jnp.asarray(ranking.state))
    return jax.vmap(lambda d: pull(d)[0])(weighted)


@eqx.filter_jit
def _actions(problem: Problem, rule: StronglyMonotone, state: JaxArray, differences: JaxArray):
    """Right-hand sides (the residual, then the differences), approximate solutions, defects; μ; the largest fixed row."""
    metric = rule.prepare(problem, state)
    rhs = jnp.concatenate([metric.residual[None], jax.vmap(metric.free)(differences)])

    def one(b: JaxArray) -> tuple[JaxArray, JaxArray]:
        solve = metric.solve(b)
        return solve.value, -solve.defect

    values, defects = jax.lax.map(one, rhs)
    _, pull = jax.vjp(metric.free, state)
    free = pull(jnp.ones_like(metric.residual))[0]
    fixed = jnp.max(jnp.abs(problem.defect(state)) * (1 - free))
    return rhs, values, defects, metric.coercivity, fixed


def inverse_actions(problem: Problem, ranking: Ranking, rule: StronglyMonotone) -> InverseActions:
    with double():
        *rows, coercivity, fixed = _actions(
            problem, rule, jnp.asarray(ranking.state, float), pulled_differences(ranking)
        )
    flat = [np.asarray(x).reshape(len(x), -1) for x in rows]
    return InverseActions(*flat, coercivity=float(coercivity), fixed=float(fixed))


def proxy_of(ranking: Ranking) -> Array:
    """q = Q(s), from the state itself."""
    return ranking.task.outputs(np.asarray(ranking.state)[None])[0]


def spread(bounds: Array, ranking: Ranking) -> Array:
    """Bounds of valid candidates in the place of all; what is excluded stays open."""
    valid = ranking.library.valid
    full = np.full((len(valid), len(valid)), np.nan)
    full[np.ix_(valid, valid)] = bounds
    return full


def common_assumptions(ranking: Ranking, actions: InverseActions) -> tuple[Assumption, ...]:
    """What every strongly monotone certificate rests on and can be checked."""
    constant, residual = actions.coercivity, actions.rhs[0]
    return (
        Assumption("the response converged", ranking.unresolved is None, ranking.unresolved or "it did"),
        Assumption("the task is linear", ranking.task.linear, ranking.task.name),
        Assumption("the metric is coercive: μ > 0", bool(np.isfinite(constant) and constant > 0), constant),
        Assumption("boundary rows hold exactly", actions.fixed == 0, actions.fixed),
        Assumption(
            "state and residual are finite",
            bool(np.isfinite(ranking.state).all() and np.isfinite(residual).all()),
            float(np.abs(residual).max(initial=0.0)),
        ),
    )
