"""Burgers inputs by their number, made where they are needed: what panels on a cluster are measured with."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

import physrank as pr

HOW: dict[str, Any] = {"effort": "response"}


@dataclass(frozen=True)
class Load:
    """Inputs of `points` points and `rows` rows, with so many candidates each."""

    points: int = 96
    rows: int = 24
    candidates: int = 8

    @cached_property
    def axes(self) -> tuple[Any, Any]:
        return np.arange(self.points) * 2 * np.pi / self.points, np.linspace(0.0, 0.4, self.rows)

    def initial(self, k: int) -> Any:
        random, (x, _) = np.random.default_rng(k), self.axes
        return sum(a / 4 * np.sin((j + 1) * x + p) for j, (a, p) in enumerate(random.standard_normal((3, 2))))

    def problem(self, k: int) -> Any:
        return pr.equations.Burgers(
            initial=self.initial(k), viscosity=0.05, times=self.axes[1], points=self.points, substeps=2
        )

    def library(self, k: int) -> dict[str, Any]:
        """Damped and shifted copies of the initial state: as far off as networks that did not learn much."""
        u, (_, t) = self.initial(k), self.axes
        decay = np.exp(-0.3 * t)[:, None]
        return {f"m{i}": decay ** (1 + 0.1 * i) * np.roll(u, i % 3) for i in range(self.candidates)}


@dataclass(frozen=True)
class Stated:
    """A problem that is stated by whoever calls this."""

    load: Load
    k: int

    def __call__(self) -> Any:
        return self.load.problem(self.k)


@dataclass(frozen=True)
class Predicted:
    """Its candidates, likewise."""

    load: Load
    k: int

    def __call__(self) -> Any:
        return self.load.library(self.k)


def panel(load: Load, inputs: int, **options: Any) -> Any:
    """So many inputs, whose number is known: the last tasks are shared."""
    return pr.rank_panel(
        [Stated(load, k) for k in range(inputs)], [Predicted(load, k) for k in range(inputs)], **HOW | options
    )


def stream(load: Load, inputs: int, **options: Any) -> Any:
    """A stream of unknown length, in constant memory."""
    stated, predicted = (Stated(load, k) for k in range(inputs)), (Predicted(load, k) for k in range(inputs))
    return pr.rank_panel(stated, predicted, **HOW | options)
