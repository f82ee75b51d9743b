"""One library diagnosed on two grids: scores on both, and the exact account of every gap between them, pair by pair."""

from dataclasses import dataclass
from itertools import starmap
from typing import Any

import numpy as np

from physrank.geometry import CrossGrid
from physrank.geometry.space import Array
from physrank.lab.equations import Equation
from physrank.lab.libraries import Library
from physrank.lab.store import predictions
from physrank.lab.studies._kit.cases import Context, problems_and_candidates, trusted

TERMS = ("coarse", "fine", "first_order", "remainder", "candidates_only")  # of `CrossGrid`
ABSTAINS = -1


@dataclass(frozen=True)
class Side:
    """A grid of so many points, and the candidates as they are brought to it."""

    points: int
    realization: str = "native"


def native_points(equation: Equation) -> int:
    """The number by which `problem` calls the grid on which the networks were trained; boundary nodes are not counted."""
    case = equation.population("development", 1)[0]
    problem: Any = equation.problem(case)
    return equation.grid[-1] - (problem.state_shape[-1] - equation.points)


def crossed(
    context: Context, library: Library, population: str, coarse: Side, fine: Side, limit: int | None = None
) -> dict[str, Array]:
    """`scores coarse`, `scores fine` (cases, candidates), each on its own grid; every term of the identity and the `signs`
    that the screen gives (cases, pairs), lifted to the fine grid; its `winner`; the largest `closure`."""
    sides = (coarse, fine)
    key = {
        "content": [context.content(library, population, side.realization) for side in sides],
        "sides": [vars(side) for side in sides],
        "limit": limit,
    }

    def make() -> dict[str, Array]:
        both = [_panel(context, library, population, side, limit) for side in sides]
        said = f"{library.name}: {coarse.points} → {fine.points} points"
        total = limit or predictions.count(context.profile, population)
        return context.told(said, starmap(_account, zip(*both, strict=True)), total)

    return context.cached("crossed", key, make)


def _account(low: Any, high: Any) -> dict[str, Array]:
    lift = high.problem.grid.lift
    account = CrossGrid.of(high.space, (lift(low.proxy), lift(low.outputs)), (high.proxy, high.outputs))
    upper, known = np.triu_indices(len(high.names), 1), account.screen()
    return (
        {name: getattr(account, name)[upper] for name in TERMS}
        | {"scores coarse": trusted(low.scoring), "scores fine": trusted(high.scoring)}
        | {"signs": known.signs[upper], "winner": np.array(ABSTAINS if known.winner is None else known.winner)}
        | {"closure": np.array(account.closure.max())}
    )


def _panel(context: Context, library: Library, population: str, side: Side, limit: int | None) -> Any:
    """Rankings by one shared response at the mean, as in the primary study, on the grid of one side."""
    cases = library.declared.population(population, predictions.count(context.profile, population))
    known = problems_and_candidates(context, library, population, side.realization, limit)
    stated = [(library.declared.problem(case, side.points), v) for case, (_, v) in zip(cases, known, strict=False)]
    return context.panel(stated, anchor="mean", corrections=1)
