"""The strongly monotone certificate: ‖s − u‖_M ≤ ‖A(s)‖_{M⁻¹}, and every pair's gap within

    B_ij = 2 ‖A(s)‖_{M⁻¹} ‖Qᵀ W (y_i − y_j)‖_{M⁻¹},

from one inverse action for the residual and at most N − 1 for the candidate differences. Here M = M_s comes from the
secant inequality ⟨A(s) − A(u), s − u⟩ ≥ ‖s − u‖²_M, W holds the task weights, and norms are Euclidean on the free
unknowns (the factor h^d of a grid inner product cancels).
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array as JaxArray

from physrank import compute, tasks
from physrank.certificates.certificate import Assumption, Enclosure, open_gaps
from physrank.certificates.ranked import Ranked
from physrank.geometry import GapIntervals, gaps_of
from physrank.geometry.space import Array
from physrank.physics import Problem, fits
from physrank.physics.monotone import OwnMetric, SecantMetric

ROUNDING = 4 * float(np.finfo(np.float64).eps)

TARGET = "the only zero of the stated discrete problem"


@dataclass(frozen=True)
class StronglyMonotone:
    """The certificate in double precision, for any problem that has a `secant_metric`, or is given one here.

    - `metric(state)` returns the symmetric map z ↦ M_s z, a JAX function on states;
    - `coercivity(state)` returns μ with ⟨M_s z, z⟩ ≥ μ ‖z‖², in the Euclidean product; a number if it is always the same;
    - `preconditioner(state)` returns an approximate inverse of M_s, if there is one.

    That the secant inequality holds for them is yours to know: it is what the theorem rests on. It is for all entries of the
    state, boundary rows included if your defect has them; the candidates are used to look for a contradiction.
    """

    metric: Callable[[JaxArray], Callable[[JaxArray], JaxArray]] | None = None
    coercivity: Callable[[JaxArray], Any] | float | None = None
    preconditioner: Callable[[JaxArray], Callable[[JaxArray], JaxArray]] | None = None

    def __post_init__(self) -> None:
        if (self.metric is None) != (self.coercivity is None):
            raise ValueError("Give both metric and coercivity, or neither for a problem that has a secant_metric.")
        if self.metric is not None and not callable(self.metric):
            raise ValueError(f"metric must be a function of the state that returns z ↦ M_s z; got {self.metric!r}.")

    def __call__(self, problem: Problem, ranking: Ranked, reach: Array | None = None, more: float = 0.0) -> Enclosure:
        """`reach`: how far A(s) may be off, entry by entry, if M is a Stieltjes matrix; `more`: in the dual norm."""
        if not fits(np.shape(ranking.state), problem.state_shape):
            return _foreign(problem, ranking)
        actions = inverse_actions(problem, ranking, self, reach)
        state_bound = actions.residual_norm + actions.reach_norm + more
        bounds = 2 * state_bound * pair_distances(problem, ranking, self, actions)
        gaps = gaps_of(ranking.space, ranking.outputs, proxy_of(ranking))
        return Enclosure(
            kind="theorem",
            target=TARGET,
            gaps=GapIntervals.around(gaps, in_all_places(bounds, ranking)),
            state_bound=state_bound,
            norm="the energy norm of M",
            assumptions=(*common_assumptions(ranking, actions), *self._stated(problem, ranking)),
            solves=actions.solves,
        )

    def prepare(self, problem: Problem, state: JaxArray) -> SecantMetric:
        if self.metric is None or self.coercivity is None:
            if "secant_metric" not in vars(type(problem)):
                raise ValueError(
                    f"{type(problem).__name__} has no secant_metric of its own (one that is inherited may belong to another "
                    "defect): define it in the class, or give metric and coercivity."
                )
            return problem.secant_metric(state)  # pyright: ignore[reportAttributeAccessIssue]
        inverse = None if self.preconditioner is None else self.preconditioner(state)
        constant = self.coercivity(state) if callable(self.coercivity) else self.coercivity
        return OwnMetric(problem.defect(state), jnp.asarray(constant, float), self.metric(state), inverse)

    def _stated(self, problem: Problem, ranking: Ranked) -> tuple[Assumption, ...]:
        if self.metric is None:
            return ()
        anchor, candidates = (
            np.asarray(ranking.response.anchor)[None],
            ranking.candidates.states[ranking.candidates.valid],
        )
        found = compute.run(_secant_ratios, problem, self, ranking.state, np.concatenate([anchor, candidates]))
        least = float(np.min(found[~np.isnan(found)], initial=np.inf))
        return (
            Assumption(
                "the secant inequality holds for the metric given (stated by the caller; least ratio of its two sides, "
                "which must be 1, at anchor and candidates)",
                least >= 1 - 1e-6,
                least,
            ),
        )


@dataclass(frozen=True)
class InverseActions:
    """Approximate ẑ ≈ M⁻¹ b with defects ρ = b − M ẑ, flattened: row 0 for the residual, then one per direction, and one
    for what the residual may be off by, where data are uncertain."""

    rhs: Array
    values: Array
    defects: Array
    coercivity: float
    fixed: float | None  # the largest entry of A(s) outside the free unknowns; None: every entry is free
    hypotheses: dict[str, float]  # numbers that the metric needs to be ≥ 0
    reaches: bool = False  # whether there is such a last row

    @property
    def directions(self) -> slice:
        """The rows of candidate differences."""
        return slice(1, len(self.rhs) - self.reaches)

    @property
    def solves(self) -> int:
        return int(np.sum(np.any(self.rhs != 0, axis=1)))

    @property
    def residual_norm(self) -> float:
        return self._norm(0)

    @property
    def reach_norm(self) -> float:
        return self._norm(-1) if self.reaches else 0.0

    def _norm(self, row: int) -> float:
        b, z, rho = self.rhs[row], self.values[row], self.defects[row]
        return float(np.sqrt(_squared_norm(b, z, rho, self.coercivity)))

    @property
    def asymmetry(self) -> float:
        """The largest |ẑ_i·Mẑ_j − ẑ_j·Mẑ_i|, relative to the energies of the two."""
        products = self.values @ (self.rhs - self.defects).T
        sizes = np.sqrt(np.abs(np.diag(products)))
        scale = np.outer(sizes, sizes)
        return float(np.max(np.abs(products - products.T)[scale > 0] / scale[scale > 0], initial=0.0))

    @property
    def rayleigh(self) -> float:
        """The smallest ẑ·Mẑ / ẑ·ẑ among the solutions: μ cannot be larger, and M not be positive if this is not."""
        used = np.any(self.values != 0, axis=1)
        energy, size = (np.sum(self.values[used] * x[used], axis=1) for x in (self.rhs - self.defects, self.values))
        return float(np.min(energy / size, initial=np.inf))


def _squared_norm(b: Array, z: Array, rho: Array, coercivity: float) -> Array:
    """‖b‖²_{M⁻¹} = b·ẑ + ρ·ẑ + ‖ρ‖²_{M⁻¹} ≤ b·ẑ + ρ·ẑ + ‖ρ‖²/μ, along the last axis; NaN where it comes out negative."""
    sizes = [np.linalg.norm(x, axis=-1) for x in (b, z, rho)]
    slack = ROUNDING * np.sqrt(b.shape[-1]) * (sizes[0] + sizes[2]) * sizes[1]
    found = np.sum((b + rho) * z, axis=-1) + sizes[2] ** 2 / coercivity
    return np.where(found >= -slack, np.maximum(found, 0.0) + slack, np.nan)


def pair_distances(problem: Problem, ranking: Ranked, method: StronglyMonotone, actions: InverseActions) -> Array:
    """‖Qᵀ W (y_i − y_j)‖_{M⁻¹} among the valid candidates, from the N − 1 solutions.

    Differences are formed before anything is multiplied: of two nearly equal candidates, a Gram matrix would leave only
    round-off.
    """
    outputs, solutions = ranking.outputs[ranking.candidates.valid], actions.values[actions.directions]
    i, j = np.triu_indices(len(outputs), 1)
    z = np.concatenate([np.zeros_like(solutions[:1]), solutions])
    z = z[i] - z[j]
    pair_defects = compute.run(
        _pair_defects, problem, method, ranking.state, _pulled(ranking, outputs[i] - outputs[j]), z
    )
    flat = [x.reshape(len(z), -1) for x in pair_defects]
    found = np.zeros((len(outputs), len(outputs)))
    found[i, j] = found[j, i] = np.sqrt(_squared_norm(flat[0], z, flat[1], actions.coercivity))
    return found


def _pair_defects(problem: Problem, method: StronglyMonotone, state: JaxArray, covectors: JaxArray, z: JaxArray):
    """b and b − M ẑ for every pair."""
    metric = method.prepare(problem, state)
    shape = metric.residual.shape
    rhs = jax.vmap(metric.free)(covectors)
    return rhs, rhs - jax.lax.map(lambda row: metric.apply(row.reshape(shape)), z)


def pulled_differences(ranking: Ranked) -> Array:
    """Qᵀ W (y_k − y_1) for all valid candidates but the first, as covectors of the state."""
    outputs = ranking.outputs[ranking.candidates.valid]
    return _pulled(ranking, outputs[1:] - outputs[0])


def _pulled(ranking: Ranked, differences: Array) -> Array:
    weighted = ranking.space.weights * differences
    return weighted if compares_states(ranking) else compute.run(_pull_back, ranking.task.map, ranking.state, weighted)


def _pull_back(task: Callable[[JaxArray], JaxArray], state: JaxArray, covectors: JaxArray) -> JaxArray:
    _, pull = jax.vjp(task, state)
    return jax.vmap(lambda d: pull(d)[0])(covectors)


def _actions(problem: Problem, method: StronglyMonotone, state: JaxArray, differences: JaxArray):
    """Right-hand sides (the residual, then the differences), approximate solutions, defects; μ; the largest fixed row."""
    metric = method.prepare(problem, state)
    rhs = jnp.concatenate([metric.residual[None], jax.vmap(metric.free)(differences)])

    def one(b: JaxArray) -> tuple[JaxArray, JaxArray]:
        solve = metric.solve(b)
        return solve.value, -solve.defect

    values, defects = jax.lax.map(one, rhs)
    _, pull = jax.vjp(metric.free, state)
    free = pull(jnp.ones_like(metric.residual))[0]
    fixed = jnp.max(jnp.abs(problem.defect(state)) * (1 - free))
    return rhs, values, defects, metric.coercivity, fixed, metric.hypotheses


def _secant_ratios(problem: Problem, method: StronglyMonotone, state: JaxArray, others: JaxArray) -> JaxArray:
    """⟨A(s) − A(v), s − v⟩ / ‖s − v‖²_M for every v; NaN where v = s."""
    metric = method.prepare(problem, state)

    def one(v: JaxArray) -> JaxArray:
        e = state - v
        return jnp.sum((problem.defect(state) - problem.defect(v)) * e) / jnp.sum(e * metric.apply(e))

    return jax.lax.map(one, others)


def inverse_actions(
    problem: Problem, ranking: Ranked, method: StronglyMonotone, reach: Array | None = None
) -> InverseActions:
    directions = pulled_differences(ranking)
    if reach is not None:
        directions = np.concatenate([directions, reach[None]])
    found = compute.run(_actions, problem, method, ranking.state, directions)
    *rows, coercivity, fixed, hypotheses = found
    flat = [x.reshape(len(x), -1) for x in rows]
    needed = {name: float(value) for name, value in hypotheses.items()}
    all_free = flat[0].shape[1] == np.size(ranking.state)
    left = None if all_free else float(fixed)
    return InverseActions(*flat, coercivity=float(coercivity), fixed=left, hypotheses=needed, reaches=reach is not None)


def compares_states(ranking: Ranked) -> bool:
    """Whether the task is the whole state, entry by entry."""
    return ranking.task.map is tasks.field().map and ranking.outputs.shape[1:] == np.shape(ranking.state)


def proxy_of(ranking: Ranked) -> Array:
    """q = Q(s), from the state itself."""
    return ranking.task.outputs(np.asarray(ranking.state)[None])[0]


def _foreign(problem: Problem, ranking: Ranked) -> Enclosure:
    said = f"{np.shape(ranking.state)}, the problem has {problem.state_shape}"
    belongs = Assumption("the ranking's state belongs to the problem", False, said)
    return Enclosure("theorem", TARGET, open_gaps(len(ranking.names)), np.inf, "the energy norm of M", (belongs,))


def in_all_places(bounds: Array, ranking: Ranked) -> Array:
    """Bounds of valid candidates in the place of all; what is excluded stays open."""
    valid = ranking.candidates.valid
    full = np.full((len(valid), len(valid)), np.nan)
    full[np.ix_(valid, valid)] = bounds
    return full


def common_assumptions(ranking: Ranked, actions: InverseActions) -> tuple[Assumption, ...]:
    """What every strongly monotone certificate rests on and can be checked."""
    constant, residual = actions.coercivity, actions.rhs[0]
    return (
        Assumption("the response converged", ranking.unresolved is None, ranking.unresolved or "it did"),
        Assumption("the task is linear, as declared", ranking.task.linear, ranking.task.name),
        Assumption("the metric is coercive: μ > 0", bool(np.isfinite(constant) and constant > 0), constant),
        Assumption(
            "no solve contradicts it: the smallest ẑ·Mẑ / ẑ·ẑ seen is not below μ",
            actions.rayleigh >= (1 - 1e-6) * constant,
            actions.rayleigh,
        ),
        Assumption("nor that it is symmetric: ẑ_i·Mẑ_j = ẑ_j·Mẑ_i", actions.asymmetry <= 1e-6, actions.asymmetry),
        *(Assumption(f"{name} ≥ 0", value >= 0, value) for name, value in actions.hypotheses.items()),
        *(
            []
            if actions.fixed is None
            else [Assumption("boundary rows hold exactly", actions.fixed == 0, actions.fixed)]
        ),
        Assumption(
            "state and residual are finite",
            bool(np.isfinite(ranking.state).all() and np.isfinite(residual).all()),
            float(np.abs(residual).max(initial=0.0)),
        ),
    )
