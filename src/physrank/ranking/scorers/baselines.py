"""What people use instead: residuals, centrality among the candidates, validation losses, a correction per candidate."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from jaxtyping import Array as JaxArray

from physrank import compute, geometry
from physrank.physics import Correction, Problem, respond
from physrank.ranking import anchors
from physrank.ranking.scorers.protocol import Case, Found, Scorer


@dataclass(frozen=True)
class RawResidual(Scorer):
    """‖A(v_i)‖²_Y: the size of each candidate's complete defect, unpropagated."""

    name = "raw residual"

    def score(self, case: Case) -> Found:
        return compute.run(_raw_energies, case.problem, case.states), None, 0


@dataclass(frozen=True)
class CandidateWise(Scorer):
    """‖DQ(v_i) δ_i‖²: every candidate's own correction, one solve after another."""

    name = "candidate-wise corrections"

    def score(self, case: Case) -> Found:
        values, failed = [], None
        for k, (state, own) in enumerate(zip(case.states, case.outputs, strict=True)):
            response = compute.run(respond, case.problem, state, Correction())
            corrected, _ = case.task.proxies(state, response.state)
            values.append(geometry.scores_of(case.space, own[None], corrected)[0])
            if failed is None and not bool(response.converged):
                failed = f"the solve of candidate {k} did not converge"
        return np.array(values), failed, len(case.states)


@dataclass(frozen=True)
class MeanCentrality(Scorer):
    """Squared task distance to the mean of the candidate outputs. No physics."""

    name = "distance to mean"

    def score(self, case: Case) -> Found:
        return case.against(case.outputs.mean(axis=0)), None, 0


@dataclass(frozen=True)
class MedoidCentrality(Scorer):
    """Squared task distance to the medoid of the candidate outputs, in the task metric. No physics."""

    name = "distance to medoid"

    def score(self, case: Case) -> Found:
        return case.against(case.outputs[anchors.medoid_index(case.outputs, case.task.metric)]), None, 0


@dataclass(frozen=True)
class ValidationLoss(Scorer):
    """An input-independent order: each candidate's validation loss."""

    losses: Mapping[str, float]

    name = "validation loss"

    def score(self, case: Case) -> Found:
        missing = [name for name in case.candidates.names if name not in self.losses]
        if missing:
            raise ValueError(
                f"No validation loss for candidate {missing[0]!r}; losses were given for {list(self.losses)}."
            )
        values = np.array([float(self.losses[name]) for name in case.candidates.names])
        return values[case.candidates.valid], None, 0


def _raw_energies(problem: Problem, states: JaxArray) -> JaxArray:
    return compute.each(lambda state: problem.residual_energy(problem.defect(state)), states, problem)
