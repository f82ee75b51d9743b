"""What certificates of your own problems share: programs over a box, and gaps of pairs from the error of a state.

With u = s + e inside a box, Q(u) − Q(s) is the derivative of Q somewhere inside, applied to e. So

    G_ij(Q(u)) = G_ij(Q(s)) + 2 ⟨c, e⟩,   c ∈ Q'(box)ᵀ W (y_i − y_j),

whether or not the task is linear.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import equinox as eqx
import jax
import numpy as np
from jax.extend.core import ClosedJaxpr
from jaxtyping import Array as JaxArray

from physrank.certificates.actions import compares_states, proxy_of, real
from physrank.certificates.certificate import Assumption, Enclosure, arithmetic, open_gaps
from physrank.certificates.enclosures import ranges
from physrank.certificates.enclosures.programs import digest, program_of
from physrank.certificates.enclosures.rounding import Interval
from physrank.certificates.ranked import Ranked
from physrank.geometry import GapIntervals
from physrank.geometry.space import Array
from physrank.physics import Problem

OPERATIONS = "every operation of the problem and the task can be enclosed over the box"


KEPT = 32  # derivatives, by what their functions say: tracing one takes longer than enclosing it
_slopes: dict[str, ClosedJaxpr] = {}


def _programs(of: Callable[..., JaxArray], place: int, shapes: tuple[Any, ...]) -> tuple[ClosedJaxpr, ClosedJaxpr]:
    """A function of arrays, and its derivative in one of them, flattened: read anew each time, since what it closes over may
    have changed."""
    program, _ = program_of(of, *shapes)
    key = f"{place} {digest(program)}"
    if key not in _slopes:
        value = ranges.plain(program)

        def slopes(*given: Any) -> JaxArray:
            at = given[place]
            flat = lambda x: value(*given[:place], x.reshape(at.shape), *given[place + 1 :])[0].ravel()  # noqa: E731
            return jax.jacfwd(flat)(at.ravel())

        _slopes[key] = program_of(slopes, *shapes)[0]
        for old in list(_slopes)[:-KEPT]:
            del _slopes[old]
    return program, _slopes[key]


class Derivative:
    """A function of a state and of whatever else, with its derivative in the state: both as programs that can be enclosed.

    Arrays of the problem are arguments, taken as stored.
    """

    def __init__(self, function: Callable[..., JaxArray], problem: Any, state: Array, *more: Any):
        arrays, rest = eqx.partition(problem, eqx.is_array)
        self.leaves, tree = jax.tree.flatten(arrays)
        extra, more_tree = jax.tree.flatten(more)
        count = len(self.leaves)

        def of(*given: Any) -> JaxArray:
            whole = eqx.combine(jax.tree.unflatten(tree, given[:count]), rest)
            return function(whole, given[count], *jax.tree.unflatten(more_tree, given[count + 1 :]))

        given = (*self.leaves, state, *extra)
        shapes = tuple(jax.ShapeDtypeStruct(np.shape(x), np.asarray(x).dtype) for x in given)
        self.program, self.slopes = _programs(of, count, shapes)

    def value(self, state: Interval, *more: Any) -> Interval:
        return ranges.over(self.program, [*self.leaves, state, *jax.tree.leaves(more)])[0]

    def jacobian(self, state: Interval, *more: Any) -> Interval:
        """Of the flattened function, in the flattened state."""
        return ranges.over(self.slopes, [*self.leaves, state, *jax.tree.leaves(more)])[0]


@dataclass(frozen=True, eq=False)
class Pairs:
    """All pairs i < j of valid candidates."""

    ranking: Ranked

    @property
    def differences(self) -> Interval:
        """y_i − y_j."""
        outputs = Interval.of(self.ranking.outputs[self.ranking.candidates.valid])
        i, j = np.triu_indices(len(outputs.low), 1)
        return outputs[i] - outputs[j]

    def covectors(self, box: Interval) -> Interval:
        """Q'(box)ᵀ W (y_i − y_j), `(pairs, state)`."""
        weighted = self.differences * self.ranking.space.weights
        if compares_states(self.ranking):
            return weighted.reshape(len(weighted.low), -1)
        program, _ = program_of(self.ranking.task.map, box.low)
        value = ranges.plain(program)

        def pulled(state: JaxArray, covectors: JaxArray) -> JaxArray:
            _, pull = jax.vjp(lambda x: value(x)[0], state)
            return jax.vmap(lambda row: pull(row)[0].ravel())(covectors)

        back, _ = program_of(pulled, box.low, weighted.low)
        return ranges.over(back, [box, weighted])[0]

    def gaps(self, moved: Interval) -> GapIntervals:
        """G_ij(Q(s)) + 2 ⟨c, e⟩, where ⟨c, e⟩ of every pair is enclosed."""
        ranking = self.ranking
        valid = np.flatnonzero(ranking.candidates.valid)
        outputs = Interval.of(ranking.outputs[valid])
        i, j = np.triu_indices(len(valid), 1)
        terms = (self._proxy() * 2.0 - outputs[i] - outputs[j]) * (self.differences * ranking.space.weights)
        found = terms.total(outputs.low.ndim - 1) + moved * 2.0
        low, high = np.full((2, len(ranking.names), len(ranking.names)), np.nan)
        low[valid[i], valid[j]], high[valid[i], valid[j]] = found.low, found.high
        low[valid[j], valid[i]], high[valid[j], valid[i]] = -found.high, -found.low
        return GapIntervals(low, high)

    def _proxy(self) -> Interval:
        if self.ranking.task.selects:
            return Interval.of(proxy_of(self.ranking))
        state = np.asarray(self.ranking.state, np.float64)
        return ranges.over(program_of(self.ranking.task.map, state)[0], [state])[0]


def before(problem: Problem, ranking: Ranked, shape: tuple[int | None, ...] | None) -> tuple[Assumption, ...]:
    """What must hold before anything can be computed."""
    state = np.asarray(ranking.state)
    fits = shape is None or (
        len(shape) == state.ndim and all(n in (None, m) for n, m in zip(shape, state.shape, strict=True))
    )
    finite = bool(np.isfinite(state).all())
    host = getattr(problem, "host", False)
    return (
        arithmetic(),
        Assumption("the problem is written in JAX", not host, "host=True: a black box" if host else "it is"),
        real(ranking),
        Assumption("the response converged", ranking.unresolved is None, ranking.unresolved or "it did"),
        Assumption(
            "the corrected state is finite and has the problem's shape",
            finite and fits,
            f"{state.shape}, {'finite' if finite else 'not finite'}",
        ),
    )


def abstained(target: str, ranking: Ranked, basis: tuple[Assumption, ...]) -> Enclosure:
    return Enclosure("validated", target, open_gaps(len(ranking.names)), np.inf, "the Euclidean norm of states", basis)


def length(sizes: Array) -> float:
    """≥ the Euclidean norm of a vector whose entries are at most these."""
    return float(Interval.of(np.ravel(sizes)).squared().total(1).root().high)
