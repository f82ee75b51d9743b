"""Approximate inverse actions for candidate differences, and what certificates by linear tasks share."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array as JaxArray

from physrank import compute, tasks
from physrank.certificates.certificate import Assumption, arithmetic
from physrank.certificates.enclosures.rounding import gamma
from physrank.certificates.enclosures.running import evaluated
from physrank.certificates.ranked import Ranked
from physrank.geometry.space import Array
from physrank.physics import Problem
from physrank.physics.monotone import SecantMetric


class Prepares(Protocol):
    """Whatever finds the metric M_s of a problem."""

    def prepare(self, problem: Problem, state: JaxArray) -> SecantMetric: ...


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


def inverse_actions(
    problem: Problem, ranking: Ranked, method: Prepares, reach: Array | None = None, residual: Array | None = None
) -> InverseActions:
    """For the residual, or for one that is known better than the problem computes it."""
    directions = pulled_differences(ranking)
    if reach is not None:
        directions = np.concatenate([directions, reach[None]])
    found = compute.run(_actions, problem, method, ranking.state, directions, residual)
    *rows, coercivity, fixed, hypotheses = found
    flat = [x.reshape(len(x), -1) for x in rows]
    needed = {name: float(value) for name, value in hypotheses.items()}
    all_free = flat[0].shape[1] == np.size(ranking.state)
    left = None if all_free else float(fixed)
    return InverseActions(*flat, coercivity=float(coercivity), fixed=left, hypotheses=needed, reaches=reach is not None)


def real(ranking: Ranked) -> Assumption:
    """No theorem here is about complex numbers, whose imaginary parts a conversion would drop."""
    state, outputs = np.asarray(ranking.state), np.asarray(ranking.outputs)
    holds = not (np.iscomplexobj(state) or np.iscomplexobj(outputs))
    return Assumption("states and outputs are real", holds, f"{state.dtype}, {outputs.dtype}")


def compares_states(ranking: Ranked) -> bool:
    """Whether the task is the whole state, entry by entry."""
    return ranking.task.map is tasks.field().map and ranking.outputs.shape[1:] == np.shape(ranking.state)


def proxy_of(ranking: Ranked) -> Array:
    """q = Q(s), from the state itself."""
    return ranking.task.outputs(np.asarray(ranking.state)[None])[0]


def pulled_differences(ranking: Ranked) -> Array:
    """Qᵀ W (y_k − y_1) for all valid candidates but the first, as covectors of the state."""
    outputs = ranking.outputs[ranking.candidates.valid]
    return _pulled(ranking, outputs[1:] - outputs[0])


def _pulled(ranking: Ranked, differences: Array) -> Array:
    weighted = ranking.space.weights * differences
    return weighted if compares_states(ranking) else compute.run(pull_back, ranking.task.map, ranking.state, weighted)


def pull_back(task: Callable[[JaxArray], JaxArray], state: JaxArray, covectors: JaxArray) -> JaxArray:
    _, pull = jax.vjp(task, state)
    return jax.vmap(lambda d: pull(d)[0])(covectors)


def _actions(problem: Problem, method: Prepares, state: JaxArray, differences: JaxArray, residual: JaxArray | None):
    """Right-hand sides (the residual, then the differences), approximate solutions, defects; μ; the largest fixed row."""
    metric = method.prepare(problem, state)
    first = metric.residual if residual is None else residual
    rhs = jnp.concatenate([first[None], jax.vmap(metric.free)(differences)])

    def one(b: JaxArray) -> tuple[JaxArray, JaxArray]:
        solve = metric.solve(b)
        return solve.value, -solve.defect

    values, defects = jax.lax.map(one, rhs)
    _, pull = jax.vjp(metric.free, state)
    free = pull(jnp.ones_like(metric.residual))[0]
    fixed = jnp.max(jnp.abs(problem.defect(state)) * (1 - free))
    return rhs, values, defects, metric.coercivity, fixed, metric.hypotheses


def proxy_with_doubt(ranking: Ranked) -> tuple[Array, Array, bool]:
    """q = Q(s), how far its round-off may move the gaps of valid candidates, and whether that is a bound."""
    if ranking.task.selects:
        (proxy, off), known = (proxy_of(ranking), 0.0), True
    else:
        (proxy, off), known = evaluated(_output, ranking.task.map, np.asarray(ranking.state, np.float64))
    outputs = ranking.outputs[ranking.candidates.valid]
    weighted, axes = ranking.space.weights * off, tuple(range(1, outputs.ndim))
    with np.errstate(all="ignore"):
        moved = np.stack([np.sum(weighted * np.abs(outputs - y), axis=axes) for y in outputs])
        return proxy, 2 * (1 + gamma(outputs[0].size + 8)) * moved, known


def _output(task: Callable[[JaxArray], JaxArray], state: JaxArray) -> JaxArray:
    return task(state)


def in_all_places(bounds: Array, ranking: Ranked) -> Array:
    """Bounds of valid candidates in the place of all; what is excluded stays open."""
    valid = ranking.candidates.valid
    full = np.full((len(valid), len(valid)), np.nan)
    full[np.ix_(valid, valid)] = bounds
    return full


def common_assumptions(ranking: Ranked, actions: InverseActions) -> tuple[Assumption, ...]:
    """What every strongly monotone certificate rests on and can be checked."""
    residual = actions.rhs[0]
    return (
        arithmetic(),
        Assumption("the response converged", ranking.unresolved is None, ranking.unresolved or "it did"),
        Assumption("the task is linear, as declared", ranking.task.linear, ranking.task.name),
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


def refutable(actions: InverseActions, constant: float) -> tuple[Assumption, ...]:
    """What the solves say about the metric, in double precision: of one that is stated by a formula they can say nothing."""
    return (
        Assumption("the metric is coercive: μ > 0", bool(np.isfinite(constant) and constant > 0), constant),
        Assumption(
            "no solve contradicts it: the smallest ẑ·Mẑ / ẑ·ẑ seen is not below μ",
            actions.rayleigh >= (1 - 1e-6) * constant,
            actions.rayleigh,
        ),
        Assumption("nor that it is symmetric: ẑ_i·Mẑ_j = ẑ_j·Mẑ_i", actions.asymmetry <= 1e-6, actions.asymmetry),
    )
