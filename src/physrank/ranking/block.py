"""A block of a panel: inputs that move through the same compiled programs. Here and on a worker it is this code that runs."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from physrank import compute, rungs
from physrank.physics import Problem
from physrank.ranking.candidates import Candidates, check_problem, opened
from physrank.ranking.ranking import Ranking, assemble
from physrank.ranking.settings import Settings

Input = tuple[int, Any, Any]  # place in the panel, problem, candidates; functions that fetch them will do
Failing = Literal["raise", "report"]


def failing_of(failing: Failing | None, client: Any) -> Failing:
    """As asked; else an exception costs little here, and on a cluster hours of others' work."""
    if failing not in (None, "raise", "report"):
        raise ValueError(f'failing must be "raise" or "report"; got {failing!r}.')
    return failing or ("raise" if client is None else "report")


@dataclass(frozen=True)
class Failed:
    """An input of a panel that could not be ranked, and why. The others were."""

    input: int
    why: str


@dataclass(frozen=True, eq=False)
class Work:
    """What is done with every block of a panel: `work(block)` gives one record for each of its inputs.

    The number of inputs in a block, filled up to `width`, decides which programs run; so blocks are the same wherever they
    are computed, and whoever groups them groups whole ones.
    """

    how: Settings
    width: int
    failing: Failing
    record: Callable[[Ranking], Any] | None = None  # None: the rankings themselves
    quick: bool = False  # as in `compute.once`

    def __call__(self, block: Sequence[Input]) -> list[Any]:
        found: dict[int, Ranking | Failed] = {}
        cases: list[tuple[int, Problem, Candidates]] = []
        with compute.once(self.quick):
            for k, problem, given in block:
                try:
                    cases.append((k, *self._stated(problem, given)))
                except Exception as error:
                    found[k] = self._failed(k, error)
            try:
                found |= self._together(cases)
            except Exception:
                if self.failing == "raise":
                    raise
                found |= self._one_by_one(cases)
            return [self._recorded(found[k]) for k, *_ in block]

    def _stated(self, problem: Any, given: Any) -> tuple[Problem, Candidates]:
        problem = problem if isinstance(problem, Problem) else opened(problem)
        check_problem(problem)
        return problem, Candidates.of(given, problem, self.how.invalid)

    def _failed(self, k: int, error: Exception) -> Failed:
        if self.failing == "report":
            return Failed(k, f"{type(error).__name__}: {error}")
        if isinstance(error, ValueError):
            raise ValueError(f"Input {k} of the panel: {error}") from None
        raise RuntimeError(f"Input {k} of the panel: {type(error).__name__}: {error}") from error

    def _together(self, cases: Sequence[tuple[int, Problem, Candidates]]) -> dict[int, Ranking | Failed]:
        if not cases:
            return {}
        how, first = self.how, cases[0][1]
        anchor, task = how.anchored(first), how.tasked(first)
        started = time.perf_counter()
        climbers = [anchor.climber(problem, given, task, how.wanted(problem)) for _, problem, given in cases]
        batch = rungs.climb(climbers, how.plan, how.correction, self.width)
        seconds, found = (time.perf_counter() - started) / len(cases), {}
        for (k, problem, given), climber, rung in zip(cases, climbers, batch, strict=True):
            started = time.perf_counter()
            ranking = assemble(problem, given, anchor.name, rung, climber.asked, climber.left_out, how.allow_unresolved)
            found[k] = how.further(ranking).timed(seconds + time.perf_counter() - started)
        return found

    def _one_by_one(self, cases: Sequence[tuple[int, Problem, Candidates]]) -> dict[int, Ranking | Failed]:
        """One of them spoils the batch: whoever does, fails alone."""
        found: dict[int, Ranking | Failed] = {}
        for case in cases:
            try:
                found |= self._together([case])
            except Exception as error:
                found[case[0]] = self._failed(case[0], error)
        return found

    def _recorded(self, found: Ranking | Failed) -> Any:
        return found if self.record is None or isinstance(found, Failed) else self.record(found)
