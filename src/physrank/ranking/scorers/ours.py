"""The method, and the yardstick that every cleverness must face."""

from dataclasses import dataclass

from physrank.geometry.space import Array
from physrank.physics import Correction, Problem
from physrank.ranking import anchors
from physrank.ranking.scorers.protocol import Case, Found, Scorer
from physrank.rungs import Asked, Effort, climb, coarsened
from physrank.rungs.effort import resolve
from physrank.rungs.solve import solution


@dataclass(frozen=True)
class SharedResponse(Scorer):
    """The method: squared task distance to the shared proxy."""

    corrections: int | Correction = 1

    name = "shared response"

    def score(self, case: Case) -> Found:
        ranking = case.ranked(self.corrections)
        return ranking.scores[case.candidates.valid], ranking.unresolved, ranking.scoring.solves


@dataclass(frozen=True)
class Ladder(Scorer):
    """As `rank` does it: the cheapest rung that settles every pair beyond `tolerance`."""

    effort: str | Effort = "auto"
    tolerance: float = 0.0

    name = "ladder"

    def score(self, case: Case) -> Found:
        anchor = anchors.resolve(case.anchor, case.problem)
        climber = anchor.climber(case.problem, case.candidates, case.task, Asked(tolerance=self.tolerance))
        (rung,) = climb([climber], resolve(self.effort), Correction())
        return rung.scores[case.candidates.valid], rung.failed, rung.solves


@dataclass(frozen=True)
class DirectSolve(Scorer):
    """Solve the equation itself and rank by distance to that.

    On the same grid by default; `points`, `substeps` and `rows` ask for a coarser one, where the problem can be coarsened;
    `on` is a coarser problem of your own whose solution the problem can lift.
    """

    points: int | None = None
    substeps: int | None = None
    rows: int | None = None
    on: Problem | None = None

    @property
    def name(self) -> str:  # pyright: ignore[reportIncompatibleVariableOverride]
        return "direct solve" + (f", {self.points} points" if self.points else "")

    def score(self, case: Case) -> Found:
        state, failed = self.solution(case.problem, case.candidates.states.shape[1:])
        return case.against(case.task.outputs(state[None])[0]), failed, 1

    def solution(self, problem: Problem, shape: tuple[int, ...]) -> tuple[Array, str | None]:
        """The solution on the problem's grid, for states of `shape`, and why it failed if it did."""
        coarse = self.on or coarsened(problem, points=self.points, substeps=self.substeps, rows=self.rows)
        return solution(problem, coarse, shape)
