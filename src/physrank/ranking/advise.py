"""`advise`: the rungs tried on one input, what each costs and settles, and what this problem needs, in one sentence."""

import time
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from physrank.physics import Problem
from physrank.ranking.candidates import Candidates
from physrank.ranking.rank import rank
from physrank.ranking.ranking import Ranking
from physrank.rungs import Effort
from physrank.tasks import Task

NOISE = 1.2
ON_GRID = "Effort(levels=0)"  # corrections on the problem's own grid, whatever coarser ones would say
TRIED: dict[str, str | Effort] = {
    'effort="auto"': "auto",
    'effort="response"': "response",
    ON_GRID: Effort(levels=0),
    'effort="solve"': "solve",
}


@dataclass(frozen=True)
class Tried:
    """One way of ranking, on one input, once everything is compiled."""

    way: str
    rung: str  # where it ended
    seconds: float
    settled: int | None  # pairs; None: it did not resolve
    differs: int  # pairs that the solve on the problem's grid orders otherwise

    def to_dict(self) -> dict[str, Any]:
        return dict(vars(self))


@dataclass(frozen=True)
class Advice:
    """What was tried, and what it says."""

    pairs: int
    tried: tuple[Tried, ...]
    sentence: str

    def to_dict(self) -> dict[str, Any]:
        return {"pairs": self.pairs, "tried": [row.to_dict() for row in self.tried], "sentence": self.sentence}

    def __str__(self) -> str:
        last = self.tried[-1].seconds
        lines = [f"{'':<20}  {'ms':>8}  {'÷ solve':>7}  {'settled':>9}  {'differ':>6}  ended on"]
        for row in self.tried:
            settled = "failed" if row.settled is None else f"{row.settled}/{self.pairs}"
            timed = f"{1e3 * row.seconds:8.3g}  {row.seconds / last:7.2f}"
            lines.append(f"{row.way:<20}  {timed}  {settled:>9}  {row.differs:6d}  {row.rung}")
        return "\n".join([*lines, self.sentence])

    __repr__ = __str__


def advise(
    problem: Problem,
    candidates: Any,
    *,
    task: Task | None = None,
    decide: Literal["order", "best"] = "order",
    tolerance: float = 0.0,
    repeats: int = 3,
) -> Advice:
    """Try the rungs on one input and say what this problem needs.

    Every way of ranking is run once to compile it, then `repeats` times; the least time counts. "differ" counts the pairs
    beyond `tolerance` that a solve on the problem's own grid orders the other way.

    ```python
    print(pr.advise(problem, candidates))
    ```
    """
    if isinstance(repeats, bool) or not isinstance(repeats, int) or repeats < 1:
        raise ValueError(f"repeats must be a whole number ≥ 1; got {repeats!r}.")
    given = Candidates.of(candidates, problem)
    found: dict[str, tuple[Ranking, float]] = {}
    for way, effort in TRIED.items():
        options: dict[str, Any] = {"effort": effort, "decide": decide, "tolerance": tolerance, "allow_unresolved": True}
        ranking, seconds = rank(problem, given, task=task, **options), np.inf
        for _ in range(repeats):
            started = time.perf_counter()
            rank(problem, given, task=task, **options)
            seconds = min(seconds, time.perf_counter() - started)
        found[way] = ranking, float(seconds)
    truth = list(found.values())[-1][0]
    tried = tuple(_tried(way, ranking, seconds, truth, tolerance) for way, (ranking, seconds) in found.items())
    return Advice(len(_upper(truth)[0]), tried, _sentence(tried, [ranking for ranking, _ in found.values()]))


def _upper(ranking: Ranking) -> tuple[np.ndarray, ...]:
    return np.triu_indices(len(ranking.names), 1)


def _tried(way: str, ranking: Ranking, seconds: float, truth: Ranking, tolerance: float) -> Tried:
    upper = _upper(ranking)
    settled = None if ranking.unresolved else int(ranking.settled_pairs[upper].sum())
    gaps, true = ranking.gaps[upper], truth.gaps[upper]
    differs = int(np.sum((np.sign(gaps) != np.sign(true)) & (np.abs(true) > tolerance)))
    return Tried(way, ranking.rung.name, seconds, settled, differs)


def _sentence(tried: tuple[Tried, ...], rankings: list[Ranking]) -> str:
    whole = tried[-1]
    # A way that asks no coarser grid leaves out a doubt that the others have: that is no reason to prefer it.
    doubted = any("discretisation" in ranking.rung.seen.changes for ranking in rankings)
    able = [
        row
        for row, ranking in zip(tried, rankings, strict=True)
        if ranking.settled and not (doubted and row.way == ON_GRID)
    ]
    if not able:
        named = next((doubt for doubt in rankings[-1].doubts), None) or "they are closer than the physics can tell"
        return (
            f'Nothing settles what was asked on this input: {named}. Ask for less (decide="best", a tolerance), or a '
            "finer grid."
        )
    least = min(row.seconds for row in able)
    best = next(
        row for row in able if row.seconds <= NOISE * least
    )  # the first that is as fast as any: times are noisy
    if best is whole:
        return f"Solve: on this input the equation itself, in {1e3 * whole.seconds:.3g} ms, is the cheapest that settles it."
    share = best.seconds / whole.seconds
    return (
        f"Use {best.way}: it settles what was asked in {1e3 * best.seconds:.3g} ms, {share:.2g} of a solve on the problem's "
        f"grid, and ends on: {best.rung}."
    )
