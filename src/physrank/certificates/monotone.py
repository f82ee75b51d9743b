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

from physrank import compute
from physrank.certificates.actions import (
    InverseActions,
    common_assumptions,
    compares_states,
    in_all_places,
    inverse_actions,
    proxy_with_doubt,
    pull_back,
    real,
    refutable,
)
from physrank.certificates.certificate import Assumption, Enclosure, Kind, open_gaps
from physrank.certificates.enclosures.programs import affine
from physrank.certificates.enclosures.rounding import UNIT, gamma
from physrank.certificates.enclosures.running import evaluated
from physrank.certificates.ranked import Ranked
from physrank.geometry import GapIntervals, gaps_of
from physrank.geometry.space import Array
from physrank.physics import Problem, fits
from physrank.physics.monotone import OwnMetric, SecantMetric

UP = 1 + 2.0**-40  # covers the few roundings of scalars in a bound

TARGET = "the only zero of the stated discrete problem"


@dataclass(frozen=True)
class StronglyMonotone:
    """The certificate for any problem that has a `secant_metric`, or is given one here, with its round-off bounded.

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

    def __call__(
        self,
        problem: Problem,
        ranking: Ranked,
        reach: Array | None = None,
        more: float = 0.0,
        metric_of: Problem | None = None,
    ) -> Enclosure:
        """`reach`: how far A(s) may be off, entry by entry, if M is a Stieltjes matrix; `more`: in the dual norm;
        `metric_of`: the problem whose metric to take, if it is not this one."""
        for needed in (_belongs(problem, ranking), real(ranking)):
            if not needed.holds:
                return _unknown(ranking, needed)
        if self.metric is not None and compute.on_host(problem):
            raise ValueError(
                f"A metric is for problems written in JAX; {type(problem).__name__} lives on the host. Use "
                "physrank.certificates.LocalNewton(inverse=…, lipschitz=…)."
            )
        actions = inverse_actions(metric_of or problem, ranking, self, reach)
        found = _Evaluated.of(problem, metric_of or problem, ranking, self, actions)
        norms = found.norms()
        first = 1 + actions.reaches
        with np.errstate(all="ignore"):
            state_bound = UP * (float(np.sum(norms[:first])) + more)
            bounds = UP * (2 * state_bound * _in_pairs(norms[first:]) + found.proxy_doubt)
        gaps = gaps_of(ranking.space, ranking.outputs, found.proxy)
        return Enclosure(
            kind=found.kind,
            target=TARGET,
            gaps=GapIntervals.around(gaps, in_all_places(bounds, ranking)),
            state_bound=state_bound,
            norm="the energy norm of M",
            assumptions=(
                *common_assumptions(ranking, actions),
                *refutable(actions, found.coercivity),
                *self._stated(problem, ranking),
            ),
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


@dataclass(frozen=True, eq=False)
class _Evaluated:
    """b, ẑ and M ẑ with bounds of their round-off: rows for the residual, for what it may be off by, and for all pairs.

    Each is the value of a program whose round-off is bounded operation by operation (`enclosures/running.py`); where that is
    not possible, errors are taken for zero and the kind is "estimate". Differences of pairs are formed before anything is
    multiplied: of two nearly equal candidates, a Gram matrix would leave only round-off.
    """

    rhs: tuple[Array, Array]
    values: Array
    images: tuple[Array, Array]
    coercivity: float  # less its own error
    proxy: Array
    proxy_doubt: Array  # (N, N): how far it may move a gap
    kind: Kind

    @classmethod
    def of(
        cls, problem: Problem, metric_of: Problem, ranking: Ranked, method: StronglyMonotone, actions: InverseActions
    ) -> "_Evaluated":
        outputs, weights, state = ranking.outputs[ranking.candidates.valid], ranking.space.weights, ranking.state
        i, j = np.triu_indices(len(outputs), 1)
        solutions = np.concatenate([np.zeros_like(actions.values[:1]), actions.values[actions.directions]])
        ends = actions.values[[0, -1] if actions.reaches else [0]]
        values = np.concatenate([ends, solutions[i] - solutions[j]])
        task = None if compares_states(ranking) else ranking.task.map
        found = [
            evaluated(_residual, problem, method, state),
            evaluated(_pair_covectors, metric_of, method, task, state, weights, outputs[i], outputs[j]),
            evaluated(_images, metric_of, method, state, values),
            evaluated(_coercivity, metric_of, method, state),
        ]
        (residual, covectors, images, (constant, error)), known = zip(*found, strict=True)
        proxy, doubt, sure = proxy_with_doubt(ranking)
        reach = [(actions.rhs[-1:], np.zeros_like(actions.rhs[-1:]))] if actions.reaches else []
        stacked = [[p.reshape(-1, values.shape[1]) for p in pair] for pair in (residual, *reach, covectors)]
        rhs = tuple(np.concatenate(part) for part in zip(*stacked, strict=True))
        return cls(
            (rhs[0], rhs[1]),
            values,
            tuple(p.reshape(len(values), -1) for p in images),
            float(constant - error) * (1 - 4 * UNIT),
            proxy,
            doubt,
            "theorem" if all(known) and sure and (task is None or affine(task, state)) else "estimate",
        )

    def norms(self) -> Array:
        """‖b‖_{M⁻¹} of every row: for the stored b, ‖b‖²_{M⁻¹} = b·ẑ + ρ·ẑ + ‖ρ‖²_{M⁻¹} ≤ b·ẑ + ρ·ẑ + ‖ρ‖²/μ, and ‖δ‖/√μ for
        what b may be off by. Products of n terms are within γ_n of the sums of their sizes. NaN: a square was negative."""
        (b, off), z, (image, missed), mu = self.rhs, self.values, self.images, self.coercivity
        grow, size = gamma(b.shape[1] + 16), np.abs(z)
        with np.errstate(all="ignore"):
            rho, doubt = b - image, missed + 4 * UNIT * (np.abs(b) + np.abs(image))
            product = np.sum((b + rho) * z, axis=1)
            slack = np.sum((doubt + grow * (np.abs(b) + np.abs(rho))) * size, axis=1) + b.shape[1] * SMALL
            lost = (np.linalg.norm(rho, axis=1) + np.linalg.norm(doubt, axis=1) + ROOT_SMALL) * (1 + grow)
            square = (product + (slack + lost**2 / mu) * (1 + grow)) * UP
            unstated = (np.linalg.norm(off, axis=1) + np.where(off.any(axis=1), ROOT_SMALL, 0)) / np.sqrt(mu)
            return UP * (np.sqrt(square) + unstated * (1 + grow))


SMALL, ROOT_SMALL = 2.0**-1000, 2.0**-500  # above what underflow can take from a product, and from a norm


def _residual(problem: Problem, method: StronglyMonotone, state: JaxArray) -> JaxArray:
    return method.prepare(problem, state).residual


def _coercivity(problem: Problem, method: StronglyMonotone, state: JaxArray) -> JaxArray:
    return method.prepare(problem, state).coercivity


def _images(problem: Problem, method: StronglyMonotone, state: JaxArray, rows: JaxArray) -> JaxArray:
    """M ẑ for every row."""
    metric = method.prepare(problem, state)
    shape = metric.residual.shape
    return jax.lax.map(lambda row: metric.apply(row.reshape(shape)), rows)


def _pair_covectors(
    problem: Problem,
    method: StronglyMonotone,
    task: Callable[[JaxArray], JaxArray] | None,
    state: JaxArray,
    weights: JaxArray,
    left: JaxArray,
    right: JaxArray,
) -> JaxArray:
    """Qᵀ W (y_i − y_j) on the free unknowns, for every pair."""
    weighted = weights * (left - right)
    pulled = weighted if task is None else pull_back(task, state, weighted)
    return jax.vmap(method.prepare(problem, state).free)(pulled)


def _in_pairs(upper: Array) -> Array:
    """A symmetric matrix from its entries above the diagonal, which is zero."""
    count = round((1 + np.sqrt(1 + 8 * len(upper))) / 2)
    found = np.zeros((count, count))
    found[np.triu_indices(count, 1)] = upper
    return found + found.T


def _secant_ratios(problem: Problem, method: StronglyMonotone, state: JaxArray, others: JaxArray) -> JaxArray:
    """⟨A(s) − A(v), s − v⟩ / ‖s − v‖²_M for every v; NaN where v = s."""
    metric = method.prepare(problem, state)

    def one(v: JaxArray) -> JaxArray:
        e = state - v
        return jnp.sum((problem.defect(state) - problem.defect(v)) * e) / jnp.sum(e * metric.apply(e))

    return jax.lax.map(one, others)


def _belongs(problem: Problem, ranking: Ranked) -> Assumption:
    shape, own = np.shape(ranking.state), problem.state_shape
    return Assumption("the ranking's state belongs to the problem", fits(shape, own), f"{shape}, the problem has {own}")


def _unknown(ranking: Ranked, because: Assumption) -> Enclosure:
    return Enclosure("theorem", TARGET, open_gaps(len(ranking.names)), np.inf, "the energy norm of M", (because,))
