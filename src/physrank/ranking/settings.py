"""How rankings are to be made: the keywords of `rank`, checked once and used for one input or for many."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any, Protocol, cast

from physrank import tasks
from physrank.certificates import Certified
from physrank.physics import Correction, Problem
from physrank.ranking import anchors
from physrank.ranking.candidates import Invalid
from physrank.ranking.ranking import Ranking
from physrank.rungs import Asked, Effort, data
from physrank.rungs.effort import EFFORTS
from physrank.rungs.effort import resolve as effort_of
from physrank.tasks import Task


class Verdict(Protocol):
    """What a stopping rule finds: at least whether nothing is open. A certificate is one."""

    @property
    def settled(self) -> bool: ...


Stopping = Callable[[Problem, Ranking], Verdict]


@dataclass(frozen=True, eq=False)
class Settings:
    """The keywords of `rank`, as its docstring explains them."""

    task: Task | None
    anchor: Any
    correction: Correction
    plan: Effort
    asked: Asked  # but for the data, which each problem has its own
    uncertainty: Any
    invalid: Invalid
    allow_unresolved: bool
    stopping: Stopping | None
    most: int

    @classmethod
    def of(
        cls,
        *,
        task: Task | None = None,
        anchor: Any = None,
        corrections: int | Correction | None = None,
        effort: str | Effort | None = None,
        decide: Any = "order",
        tolerance: float = 0.0,
        uncertainty: Any = None,
        invalid: Invalid = "raise",
        allow_unresolved: bool = False,
        until: Stopping | str | None = None,
        max_corrections: int = 3,
        by: Any = None,
    ) -> "Settings":
        plan = _plan(effort, anchor, corrections, until)
        return cls(
            task,
            "auto" if anchor is None else anchor,
            _correction(corrections),
            plan,
            Asked(decide, tolerance),
            uncertainty,
            invalid,
            allow_unresolved,
            _stopping(until, by),
            _most(max_corrections),
        )

    def anchored(self, problem: Problem) -> anchors.Anchor:
        return anchors.resolve(self.anchor, problem)

    def tasked(self, problem: Problem) -> Task:
        return tasks.resolve(self.task, problem)

    def wanted(self, problem: Problem) -> Asked:
        if self.uncertainty is None:
            return self.asked
        return replace(self.asked, doubtful=data.resolve(self.uncertainty, problem))

    def further(self, ranking: Ranking) -> Ranking:
        """Corrected again while what the rule asks for is open."""
        while self.stopping is not None:
            verdict = self.stopping(ranking.problem, ranking)
            ranking = ranking if verdict is ranking else replace(ranking, certificate=verdict)
            if verdict.settled or ranking.corrections >= self.most or ranking.unresolved:
                break
            if verdict is ranking and not ranking.asked.left_open_by(ranking.rung, "linearisation"):
                break  # what is open is not a matter of corrections
            ranking = ranking.corrected()
        return ranking


def _is_settled(_: Problem, ranking: Ranking) -> Verdict:
    return ranking


STOPPINGS: dict[str, Stopping] = {"settled": _is_settled, "certified": Certified()}


def _plan(effort: Any, anchor: Any, *named: Any) -> Effort:
    """As asked; else the ladder, or the response alone where its anchor, corrections or stopping rule are named."""
    if effort is not None:
        return effort_of(effort)
    plain = isinstance(anchor, str) and anchor == "auto"
    return EFFORTS["auto" if (anchor is None or plain) and all(name is None for name in named) else "response"]


def _correction(corrections: Any) -> Correction:
    if corrections is None:
        return Correction()
    if isinstance(corrections, Correction):
        return corrections
    if isinstance(corrections, bool) or not isinstance(corrections, Integral):
        raise ValueError(f"corrections must be a whole number ≥ 1 or a physrank.Correction(...); got {corrections!r}.")
    return Correction(count=int(corrections))


def _stopping(until: Any, by: Any) -> Stopping | None:
    if by is not None:
        if not isinstance(until, str) or until != "certified":
            raise ValueError(
                'by= is how to certify, and goes with until="certified"; with a rule of your own write '
                f"until=physrank.certificates.Certified(…, by=…). Got until={until!r}."
            )
        return Certified(by=by)
    if until is None or (callable(until) and not isinstance(until, str)):
        return cast("Stopping | None", until)
    if isinstance(until, str) and until in STOPPINGS:
        return STOPPINGS[until]
    names = ", ".join(repr(name) for name in STOPPINGS)
    raise ValueError(f"until must be {names} or a rule such as physrank.certificates.Certified(...); got {until!r}.")


def _most(max_corrections: Any) -> int:
    if isinstance(max_corrections, bool) or not isinstance(max_corrections, Integral) or max_corrections < 1:
        raise ValueError(f"max_corrections must be a whole number ≥ 1; got {max_corrections!r}.")
    return int(max_corrections)
