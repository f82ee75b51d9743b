"""What a scorer is: called with a problem and candidates, or given a ranking that has been made, it returns scores."""

import time
from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from physrank import geometry, tasks
from physrank.geometry import TaskSpace
from physrank.geometry.space import Array
from physrank.physics import Correction, Problem
from physrank.ranking import anchors
from physrank.ranking.candidates import Candidates
from physrank.ranking.ranking import Ranking, assemble
from physrank.ranking.scores import Scores
from physrank.rungs import Asked, Question, respond
from physrank.tasks import Task

Found = tuple[Array, str | None, int]  # scores of the valid candidates, why they fail or None, physics solves spent


@dataclass(frozen=True, eq=False)
class Case:
    """One input to be scored; `made` is its ranking where there is one already."""

    problem: Problem
    candidates: Candidates
    task: Task
    anchor: Any = "mean"
    made: Ranking | None = None

    @property
    def states(self) -> Array:
        """Of the valid candidates."""
        return self.candidates.states[self.candidates.valid]

    @cached_property
    def outputs(self) -> Array:
        """Of the valid candidates."""
        return self.task.outputs(self.states) if self.made is None else self.made.outputs[self.candidates.valid]

    @property
    def space(self) -> TaskSpace:
        return self.task.space(self.outputs)

    def ranked(self, corrections: int | Correction = 1) -> Ranking:
        """The ranking that was made, if it was made so; else a new one, without looking for its doubts."""
        if self.made is not None and corrections in (self.made.corrections, self.made.response.variant):
            return self.made
        correction = corrections if isinstance(corrections, Correction) else Correction(count=corrections)
        found = anchors.resolve(self.anchor, self.problem)
        start = found.of(self.candidates, self.problem)
        question = Question.of(self.task, self.candidates.states, self.candidates.valid)
        rung = respond(self.problem, start.state, correction, question, look=False)
        return assemble(self.problem, self.candidates, found.name, rung, Asked(), start.left_out)

    def against(self, target: Array) -> Array:
        """Squared task distances of the valid candidates to a target."""
        return geometry.scores_of(self.space, self.outputs, target)


class Scorer(ABC):
    """Lower scores are better. What a scorer does not use (anchor, task, physics) it ignores."""

    name: ClassVar[Any]  # the method, as tables call it

    @abstractmethod
    def score(self, case: Case) -> Found:
        """Scores of the valid candidates."""

    def __call__(self, problem: Problem, candidates: Any, *, task: Task | None = None, anchor: Any = "mean") -> Scores:
        given = Candidates.of(candidates, problem, "exclude")
        return self._scores(Case(problem, given, tasks.resolve(task, problem), anchor))

    def of(self, ranking: Ranking) -> Scores:
        """From what a ranking has found already: nothing is solved twice."""
        return self._scores(Case(ranking.problem, ranking.candidates, ranking.task, ranking.start, ranking))

    def _scores(self, case: Case) -> Scores:
        """Scores of the valid candidates put in their places, with the time they took."""
        started, names = time.perf_counter(), case.candidates.names
        values = np.full(len(names), np.nan)
        values[case.candidates.valid], failed, solves = self.score(case)
        seconds = time.perf_counter() - started
        return Scores(self.name, names, values, failed, solves, seconds, excluded=case.candidates.excluded)
