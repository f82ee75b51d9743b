"""Scores of a panel, added up as they come: what is kept does not grow with the number of inputs."""

import numpy as np

from physrank.geometry.space import Array
from physrank.geometry.theory import mean_score_radius
from physrank.ranking.scores import Scores

GROUPS = 4096  # that are resampled: single inputs, as long as there are no more


class Tally:
    """Sums, extremes and groups of scores. Beyond `GROUPS` inputs, neighbours are grouped: their sums are resampled."""

    def __init__(self, names: tuple[str, ...], unit: float):
        self.names, self.unit = names, unit
        number = len(names)
        self.inputs, self.open_inputs = 0, 0
        self.excluded: dict[str, str] = {}
        self.sums, self.doubts = np.zeros(number), np.zeros((number, number))
        self.least, self.most = np.full(number, np.inf), np.full(number, -np.inf)
        self.groups, self.each = np.zeros((GROUPS, number)), 1  # sums of so many inputs

    def add(self, k: int, scores: Scores) -> None:
        """Input k, in the order and unit of this tally."""
        for name, ok in zip(self.names, scores.valid, strict=True):
            if not ok:
                self.excluded.setdefault(name, f"no valid prediction on input {k}")
        values = np.asarray(scores.values, dtype=float)
        self.sums, self.doubts = self.sums + values, self.doubts + self.doubt(scores)
        self.least, self.most = np.minimum(self.least, values), np.maximum(self.most, values)
        if self.inputs == GROUPS * self.each:
            self.groups[: GROUPS // 2] = self.groups[::2] + self.groups[1::2]
            self.groups[GROUPS // 2 :], self.each = 0.0, 2 * self.each
        self.groups[self.inputs // self.each] += values
        self.inputs += 1
        self.open_inputs += scores.best_settled is False

    @staticmethod
    def doubt(scores: Scores) -> Array:
        """How far each gap may move; anywhere, where the input is unresolved: it is let in, but helps to settle nothing."""
        number = len(scores.names)
        if scores.unresolved:
            return np.where(np.eye(number, dtype=bool), 0.0, np.inf)
        return np.full((number, number), np.nan) if scores.uncertainty is None else scores.uncertainty

    @property
    def alive(self) -> np.ndarray:
        """Who was valid on every input."""
        return np.array([name not in self.excluded for name in self.names])

    @property
    def means(self) -> Array:
        """NaN for who was not valid somewhere."""
        return np.where(self.alive, self.sums / self.inputs, np.nan)

    def frequency(self, resamples: int, seed: int) -> Array:
        """Share of resamples of the inputs in which each candidate has the lowest mean."""
        groups = -(-self.inputs // self.each)
        sizes = np.full(groups, self.each)
        sizes[-1] = self.inputs - (groups - 1) * self.each
        random, wins = np.random.default_rng(seed), np.zeros(len(self.names))
        for start in range(0, resamples, 256):  # drawn a few at a time, in the same sequence
            number = min(256, resamples - start)
            counts = random.multinomial(groups, np.full(groups, 1 / groups), size=number)
            means = np.full((number, len(self.names)), np.inf)
            means[:, self.alive] = counts @ self.groups[:groups, self.alive] / (counts @ sizes)[:, None]
            wins += np.bincount(np.argmin(means, axis=1), minlength=len(self.names))
        return wins / resamples

    def radius(self, bound: float, confidence: float) -> float:
        """Concentration radius of every mean score, in units²."""
        least, most = self.least[self.alive].min(), self.most[self.alive].max()
        if not (np.isfinite(bound) and least >= 0 and most <= bound):
            raise ValueError(
                f"bound must be a finite number that no score exceeds; got {bound}, but scores go from {least:g} "
                f"to {most:g}. The radius holds for scores from 0 to bound."
            )
        return mean_score_radius(bound, len(self.names), self.inputs, 1 - confidence)
