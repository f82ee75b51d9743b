"""Anchors: reference-free ways to turn candidates into the one state at which the physics is linearised."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from physrank._arrays import Array, not_finite, to_numpy
from physrank.geometry.metrics import AnyMetric
from physrank.physics import Problem, capabilities
from physrank.ranking.candidates import Candidates
from physrank.rungs import Asked, Climber, Question
from physrank.rungs.diagnosis import defect_norm
from physrank.tasks import Task

FAR = 5.0  # times the usual distance among the candidates at which one of them counts as outlying
FEWER = 4.0  # times as small a defect that those outside must have, to be followed instead of those who stay together
BLOCK = 4096  # entries of every candidate that are compared at a time: they stay in the cache
PIVOTS = 32  # candidates to which all distances are taken, when there are more


@dataclass(frozen=True, eq=False)
class Anchored:
    """A state to linearise at, and which candidates had no part in it."""

    state: Array
    left_out: dict[str, str] = field(default_factory=dict)  # name → why


@dataclass(frozen=True)
class Anchor:
    """A named way to find it, `find(names, states)`; it sees only the valid candidates, and the problem if it asks."""

    name: str
    find: Callable[..., "Anchored | Array"]
    asks: bool = False  # for the problem, as a third argument

    def of(self, candidates: Candidates, problem: Problem | None = None) -> Anchored:
        valid = candidates.valid
        names = tuple(name for name, ok in zip(candidates.names, valid, strict=True) if ok)
        if self.name in names and self.name in NAMED:
            raise ValueError(
                f"Anchor {self.name!r} is both a kind of anchor and a candidate's name; "
                f"rename the candidate, or pass anchors.candidate({self.name!r}) to mean it."
            )
        more = (problem,) if self.asks else ()
        states = (
            candidates.states if valid.all() else candidates.states[valid]
        )  # the largest arrays: no copy for nothing
        found = self.find(names, states, *more)
        return found if isinstance(found, Anchored) else Anchored(np.asarray(found, candidates.states.dtype))

    def climber(self, problem: Problem, candidates: Candidates, task: Task, asked: Asked) -> Climber:
        """Candidates of a problem at the foot of the ladder; the anchor is found when a rung asks for it."""

        def start() -> tuple[Array, dict[str, str]]:
            found = self.of(candidates, problem)
            return found.state, found.left_out

        valid = candidates.valid
        states = candidates.states if valid.all() else candidates.states[valid]
        if task.linear and not task.selects:
            task.proxies(states[0], states[-1])  # refuses what is not linear
        return Climber(problem, Question.of(task, candidates.states, valid), asked, states, start)


def auto() -> Anchor:
    """The mean of the candidates that stay together. One that is far from all others has no part in it, so that an absurd
    candidate moves nothing; where distances alone cannot tell, the defect decides."""
    return Anchor("auto", _agreeing, asks=True)


def _agreeing(names: tuple[str, ...], states: Array, problem: Problem | None) -> Anchored:
    kept, why = _cluster(states)
    left = [k for k in range(len(states)) if k not in kept]
    groups = [kept, left] if 3 * len(left) >= len(states) else [kept]
    if len(states) == 2 and problem is not None:
        groups = [[0, 1], [0], [1]]
    if len(groups) > 1 and problem is not None:
        # Fewer than those who stay together must be far better than they are: that is what makes one absurd.
        handicaps = [1.0] + [FEWER if len(group) < len(groups[0]) and len(states) > 2 else 1.0 for group in groups[1:]]
        sizes = [np.nan_to_num(defect_norm(problem, _mean(states[group])), nan=np.inf) for group in groups]
        kept = groups[int(np.argmin(np.multiply(sizes, handicaps)))]
        why |= {k: "the equation speaks against it" for k in range(len(states)) if k not in kept and k not in why}
    together = states if len(kept) == len(states) else states[kept]
    return Anchored(_mean(together), {names[k]: why[k] for k in range(len(states)) if k not in kept})


def _mean(states: Array) -> Array:
    size = float(np.abs(states).max(initial=0.0))
    return states.mean(axis=0) if size < 1e300 else (states / len(states)).sum(axis=0)


def _cluster(states: Array) -> tuple[list[int], dict[int, str]]:
    """Which candidates stay together: the farthest is dropped while it is far, one at a time."""
    flat = states.reshape(len(states), -1)
    size = float(np.abs(flat).max(initial=0.0)) or 1.0
    pivots = np.unique(np.linspace(0, len(flat) - 1, min(len(flat), PIVOTS)).astype(int))
    distances = _distances(flat, pivots, size)
    kept, why = list(range(len(flat))), {}
    while len(kept) >= 3:
        rows = [r for r, k in enumerate(pivots) if k in kept]
        if not rows:
            break
        middle = rows[int(np.argmin(distances[np.ix_(rows, kept)].sum(axis=1)))]
        others = [k for k in kept if k != pivots[middle]]
        sorted_distances = np.sort(distances[middle, others])
        usual = sorted_distances[(len(others) - 1) // 2]
        farthest = max(others, key=lambda k: distances[middle, k])
        reach = float(distances[middle, farthest])
        if not reach > FAR * max(usual, np.finfo(float).tiny):
            break
        kept.remove(farthest)
        times = f"{reach / usual:.3g} times as far from the others as they are from each other" if usual > 0 else ""
        why[farthest] = times or "the others agree with each other exactly, and not with it"
    return kept, why


def _distances(flat: Array, pivots: Array, size: float) -> Array:
    """(pivots, N), some entries at a time: differences of whole libraries are written to memory and read again, 64 times for
    eight candidates. In a unit near their size, a power of two: that rounds nothing."""
    squares, unit = np.zeros((len(pivots), len(flat))), 2.0 ** np.floor(np.log2(size))
    for start in range(0, flat.shape[1], BLOCK):
        some = flat[:, start : start + BLOCK] / unit
        for row, k in enumerate(pivots):
            apart = some - some[k]
            squares[row] += np.vecdot(apart, apart).real
    return np.sqrt(squares)


def mean() -> Anchor:
    """The arithmetic mean of the candidates. An outlying candidate pulls it along."""
    return Anchor("mean", lambda _, states: states.mean(axis=0))


def medoid(metric: AnyMetric | None = None) -> Anchor:
    """The candidate with the smallest sum of distances to all others; ties go to the earlier one.

    Distances are Euclidean over all entries of the state, or in the stated `metric`.
    """

    def find(_: tuple[str, ...], states: Array) -> Array:
        return states[medoid_index(states, metric)]

    return Anchor("medoid", find)


def medoid_index(arrays: Array, metric: AnyMetric | None = None) -> int:
    """Which candidate has the least summed distance to the others."""
    if metric is not None:
        distances = metric.space(arrays.shape[1:]).distances(arrays)
    else:
        flat = arrays.reshape(len(arrays), -1) / (float(np.abs(arrays).max(initial=0.0)) or 1.0)
        distances = np.stack([np.linalg.norm(flat - row, axis=1) for row in flat])
    sums = distances.sum(axis=1)
    return int(np.argmax(sums <= sums.min() * (1 + 1e-12)))  # ties up to rounding: the earlier one


def candidate(name: str) -> Anchor:
    """One candidate by name."""

    def find(names: tuple[str, ...], states: Array) -> Array:
        if name not in names:
            raise ValueError(
                f"Anchor {name!r} is neither {', '.join(NAMED)} nor a valid candidate ({', '.join(names)})."
            )
        return states[names.index(name)]

    return Anchor(f"candidate {name}", find)


def given(state: Any, lift: Callable[[Array], Array] = lambda array: array) -> Anchor:
    """Any state of your own: a previous solution, a coarse solve, a climatology."""
    array = lift(to_numpy("The given anchor", state, allow_complex=True))

    def find(_: tuple[str, ...], states: Array) -> Array:
        if array.shape != states.shape[1:]:
            raise ValueError(
                f"The given anchor has shape {array.shape}; expected {states.shape[1:]}, like the candidates."
            )
        if problem := not_finite(array):
            raise ValueError(f"The given anchor contains {problem}.")
        return array

    return Anchor("given array", find)


def resolve(anchor: Any, problem: Problem) -> Anchor:
    """`"auto"`, `"mean"`, `"medoid"`, a candidate's name, an array (lifted like a candidate), or an `Anchor`."""
    if isinstance(anchor, Anchor):
        return anchor
    if isinstance(anchor, str):
        return NAMED[anchor]() if anchor in NAMED else candidate(anchor)
    if anchor is None or callable(anchor) or np.ndim(anchor) == 0:
        raise ValueError(
            'anchor must be "auto", "mean", "medoid", a candidate\'s name, an array, or one of physrank.anchors such as '
            f"anchors.medoid(metric); got {anchor!r}."
        )
    return given(anchor, lambda array: capabilities.lift(problem, array))


NAMED = {"auto": auto, "mean": mean, "medoid": medoid}
