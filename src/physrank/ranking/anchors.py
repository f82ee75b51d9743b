"""Anchors: reference-free ways to turn candidates into the one state at which the physics is linearised."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from physrank._arrays import Array, not_finite, to_numpy
from physrank.geometry.metrics import AnyMetric
from physrank.physics import Problem, capabilities
from physrank.ranking.candidates import Candidates


@dataclass(frozen=True)
class Anchor:
    """A named way to find it; it sees only the valid candidates."""

    name: str
    find: Callable[[tuple[str, ...], Array], Array]

    def of(self, candidates: Candidates) -> Array:
        valid = candidates.valid
        names = tuple(name for name, ok in zip(candidates.names, valid, strict=True) if ok)
        if self.name in names and self.name in NAMED:
            raise ValueError(
                f"Anchor {self.name!r} is both a kind of anchor and a candidate's name; "
                f"rename the candidate, or pass anchors.candidate({self.name!r}) to mean it."
            )
        return np.asarray(self.find(names, candidates.states[valid]), np.float64)


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
    if metric is not None:
        distances = metric.space(arrays.shape[1:]).distances(arrays)
    else:
        flat = arrays.reshape(len(arrays), -1)
        distances = np.stack([np.linalg.norm(flat - row, axis=1) for row in flat])
    sums = distances.sum(axis=1)
    return int(np.argmax(sums <= sums.min() * (1 + 1e-12)))  # ties up to rounding: the earlier one


def candidate(name: str) -> Anchor:
    """One candidate by name."""

    def find(names: tuple[str, ...], states: Array) -> Array:
        if name not in names:
            raise ValueError(f"Anchor {name!r} is neither mean, medoid nor a valid candidate ({', '.join(names)}).")
        return states[names.index(name)]

    return Anchor(f"candidate {name}", find)


def given(state: Any, lift: Callable[[Array], Array] = lambda array: array) -> Anchor:
    """Any state of your own: a previous solution, a coarse solve, a climatology."""
    array = lift(to_numpy("The given anchor", state))

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
    """`"mean"`, `"medoid"`, a candidate's name, an array (lifted like a candidate), or an `Anchor`."""
    if isinstance(anchor, Anchor):
        return anchor
    if isinstance(anchor, str):
        return NAMED[anchor]() if anchor in NAMED else candidate(anchor)
    if anchor is None or callable(anchor) or np.ndim(anchor) == 0:
        raise ValueError(
            'anchor must be "mean", "medoid", a candidate\'s name, an array, or one of physrank.anchors such as '
            f"anchors.medoid(metric); got {anchor!r}."
        )
    return given(anchor, lambda array: capabilities.lift(problem, array))


NAMED = {"mean": mean, "medoid": medoid}
