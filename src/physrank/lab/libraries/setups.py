"""What a network sees and what it predicts, per equation; and the problem and reference behind each input."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from physrank import equations
from physrank.geometry.space import Array
from physrank.lab.inputs import STRATA, BurgersInput, ReactionDiffusionInput, shifted_strata
from physrank.lab.inputs.burgers import HORIZON, LENGTH
from physrank.lab.references import burgers, chebyshev, reaction_diffusion
from physrank.lab.references.pair import Reference
from physrank.physics import Problem

Single = NDArray[np.float32]


class Setup(Protocol):
    """One equation in the laboratory."""

    @property
    def channels(self) -> int: ...

    @property
    def shape(self) -> tuple[int, int]: ...  # of the network's grid

    @property
    def diagnostic(self) -> int: ...  # points of the grid on which candidates are compared

    def sample(self, population: str, index: int, stratum: str) -> Any: ...

    def features(self, cases: Sequence[Any], points: int | None = None) -> Single: ...

    def labels(self, cases: Sequence[Any]) -> Single: ...

    def problem(self, case: Any, points: int | None = None) -> Problem: ...

    def references(self, cases: Sequence[Any], level: str) -> list[Reference]: ...


@dataclass(frozen=True)
class Burgers:
    """48 × 48 space–time grid, space last. Channels: u₀, f, ν, t."""

    channels: int = 4
    shape: tuple[int, int] = (48, 48)
    diagnostic: int = 384

    @property
    def times(self) -> Array:
        return np.linspace(0, HORIZON, self.shape[0])

    def sample(self, population: str, index: int, stratum: str) -> BurgersInput:
        return BurgersInput.sample(population, index, stratum)

    def features(self, cases: Sequence[BurgersInput], points: int | None = None) -> Single:
        n = points or self.shape[1]
        x, t = np.arange(n) * LENGTH / n, self.times[:, None]
        rows = [
            np.stack(
                [
                    np.broadcast_to(case.initial(x), (len(t), n)),
                    3 * case.forcing(t, x),
                    np.full((len(t), n), 20 * case.viscosity - 1),
                    np.broadcast_to(t / HORIZON, (len(t), n)),
                ]
            )
            for case in cases
        ]
        return np.stack(rows).astype(np.float32)

    def labels(self, cases: Sequence[BurgersInput]) -> Single:
        """Training inputs are smooth (modes up to 4, ν ≥ 0.025): 192 points leave 1e-10."""
        return burgers.solve(list(cases), self.times, 192, 6)[:, None, :, ::4].astype(np.float32)

    def problem(self, case: BurgersInput, points: int | None = None) -> equations.Burgers:
        n = points or self.diagnostic
        return equations.Burgers(case.initial, case.viscosity, self.times, case.forcing, points=n)

    def references(self, cases: Sequence[BurgersInput], level: str = "first") -> list[Reference]:
        """Terminal states."""
        found = burgers.pairs(list(cases), self.times, self.diagnostic, level)
        return [Reference(pair.coarse[-1], pair.fine[-1]) for pair in found]


@dataclass(frozen=True)
class ReactionDiffusion:
    """34 × 34 nodes, boundary included. Channels: a, f, λ, γ."""

    channels: int = 4
    shape: tuple[int, int] = (34, 34)
    diagnostic: int = 128

    def sample(self, population: str, index: int, stratum: str) -> ReactionDiffusionInput:
        return ReactionDiffusionInput.sample(population, index, stratum)

    def features(self, cases: Sequence[ReactionDiffusionInput], points: int | None = None) -> Single:
        x = np.linspace(0, 1, points or self.shape[0])
        grid = np.meshgrid(x, x, indexing="ij")
        rows = [
            np.stack(
                [
                    case.diffusion(*grid) - 1.25,
                    case.forcing(*grid),
                    np.full_like(grid[0], case.linear - 1.1),
                    np.full_like(grid[0], case.cubic - 0.65),
                ]
            )
            for case in cases
        ]
        return np.stack(rows).astype(np.float32)

    def labels(self, cases: Sequence[ReactionDiffusionInput]) -> Single:
        x = np.linspace(0, 1, self.shape[0])
        fields = [chebyshev.evaluate(chebyshev.solve(case, 20, rtol=1e-9), x) for case in cases]
        return np.stack(fields)[:, None].astype(np.float32)

    def problem(self, case: ReactionDiffusionInput, points: int | None = None) -> equations.ReactionDiffusion:
        n = points or self.diagnostic
        return equations.ReactionDiffusion(case.diffusion, case.forcing, case.linear, case.cubic, points=n)

    def references(self, cases: Sequence[ReactionDiffusionInput], level: str = "first") -> list[Reference]:
        return [reaction_diffusion.pair(case, self.diagnostic, level) for case in cases]


SETUPS: dict[str, Setup] = {"burgers": Burgers(), "reaction_diffusion": ReactionDiffusion()}


def population(equation: str, name: str, count: int) -> list[Any]:
    """`count` shifted inputs of a population, balanced over the strata."""
    return [SETUPS[equation].sample(name, k, stratum) for k, stratum in enumerate(shifted_strata(count))]


@cache
def law(equation: str) -> str:
    """A hash of a few inputs: what was stored under another input law must not pass for this one."""
    setup = SETUPS[equation]
    probes = [setup.sample("evaluation", k, stratum) for stratum in STRATA for k in range(3)]
    return hashlib.sha256(setup.features(probes, 8).tobytes()).hexdigest()[:12]
