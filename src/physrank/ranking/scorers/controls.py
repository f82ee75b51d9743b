"""Controls: what must rank badly if the response carries the signal."""

from dataclasses import dataclass

import numpy as np

from physrank.ranking.ranking import Ranking
from physrank.ranking.scorers.protocol import Case, Found, Scorer


@dataclass(frozen=True)
class ReversedResponse(Scorer):
    """The response with its direction reversed, w − δ: a control that should rank badly."""

    name = "reversed response"

    def score(self, case: Case) -> Found:
        ranking = case.ranked()
        response = ranking.response
        backwards = np.asarray(response.base) - np.asarray(response.correction)
        # Going backwards raises the defect, as it should; only a failed solve makes the control itself invalid.
        failed = None if bool(response.solved) else ranking.unresolved
        return case.against(case.task.outputs(backwards[None])[0]), failed, ranking.scoring.solves


@dataclass(frozen=True, eq=False)
class WrongInput(Scorer):
    """The corrected state of another input: a control for how much of the signal is input-specific."""

    other: Ranking

    name = "wrong-input response"

    def score(self, case: Case) -> Found:
        return case.against(case.task.outputs(self.other.state[None])[0]), self.other.unresolved, 0
