"""The result of a race: who won, how far that is settled, and what it took."""

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from physrank import report
from physrank._io import write_json
from physrank.geometry.space import Array
from physrank.ranking.duels import Duels
from physrank.ranking.standing import Standing, error_of

DRAWN = 40  # points of a curve in the picture


@dataclass(frozen=True)
class Dropped:
    """A candidate that was not run any more: after how many inputs, and why."""

    after: int
    against: str | None  # who is better than it; None: it was excluded
    why: str


@dataclass(frozen=True, eq=False)
class Race:
    """Who won, how far that is settled, and what it took. Arrays are in the order of `names`."""

    names: tuple[str, ...]
    winner: str
    standing: Standing
    dropped: dict[str, Dropped]
    means: Array  # mean score over the inputs on which each candidate ran
    unresolved: dict[int, str]  # inputs that decided nothing, and why
    order: tuple[int, ...]  # positions of the inputs in the order in which they were read
    runs: int  # of models
    solves: int
    seconds: float  # of physics
    duels: Duels = field(repr=False)

    @property
    def settled(self) -> bool:
        """Whether the winner is the best, or within the tolerance of the best, at the stated confidence."""
        return self.standing.settled

    @property
    def alive(self) -> list[str]:
        """Who was still running at the end, best first."""
        left = [i for i, name in enumerate(self.names) if name not in self.dropped]
        return [self.names[i] for i in sorted(left, key=lambda i: (self.means[i], i))]

    @property
    def inputs(self) -> int:
        return self.standing.inputs

    @property
    def runs_saved(self) -> int:
        """Beside running every model on every input: of the panel, or of those that were read."""
        return len(self.names) * (self.standing.total or self.inputs) - self.runs

    def excess(self, name: str, upto: int | None = None) -> tuple[float, float, float]:
        """How much worse than the winner in the mean: on the inputs read, at least, at most (anytime-valid)."""
        pair = self.names.index(self.winner), self.names.index(name)
        if name == self.winner:
            return 0.0, 0.0, 0.0
        return self.duels.excess(*pair, error_of(self.standing.confidence), upto)

    def to_dict(self) -> dict[str, Any]:
        """Plain Python, ready for JSON."""
        return {
            "winner": self.winner,
            **self.standing.to_dict(),
            "about": self.standing.about,
            "alive": self.alive,
            "candidates": {
                name: {
                    "mean_score": _number(mean),
                    "excess": [_number(value) for value in self.excess(name)],
                    "dropped": None if (found := self.dropped.get(name)) is None else vars(found),
                }
                for name, mean in zip(self.names, self.means, strict=True)
            },
            "unresolved_inputs": {str(k): why for k, why in self.unresolved.items()},
            "order": list(self.order),
            "runs": self.runs,
            "runs_saved": self.runs_saved,
            "solves": self.solves,
            "seconds": self.seconds,
        }

    def to_json(self, path: str | os.PathLike[str]) -> Path:
        """Write `to_dict()`; an existing file stays intact until the new one is complete."""
        return write_json(path, self.to_dict())

    def plot(self) -> Any:
        """A matplotlib figure: mean difference to the winner, with its band, against inputs."""
        curves = {}
        for name in self.names:
            last = self.dropped[name].after if name in self.dropped else self.inputs
            at = np.unique(np.linspace(1, last, min(last, DRAWN)).astype(int))
            if name != self.winner:
                curves[name] = (at, np.array([self.excess(name, int(k)) for k in at]))
        level = float(self.means[self.names.index(self.winner)])
        return report.race_figure(self.winner, curves, level, self.standing.total, self.inputs, self.settled)

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        return report.race_in_words(self.to_dict())


def _number(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None
