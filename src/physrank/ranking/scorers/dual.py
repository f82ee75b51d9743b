"""Variational residual norms, for problems that have a dual norm: one inverse action per candidate."""

from dataclasses import dataclass

import jax
from jaxtyping import Array as JaxArray

from physrank import compute
from physrank.physics.capabilities import HasDualNorm
from physrank.ranking.scorers.protocol import Case, Found, Scorer


@dataclass(frozen=True)
class CommonEnergy(Scorer):
    """‖A(v_i)‖² in the dual of the common energy norm."""

    name = "common-energy dual norm"

    def score(self, case: Case) -> Found:
        return _dual(case, self.name, adapted=False)


@dataclass(frozen=True)
class AdaptedMajorant(Scorer):
    """The candidate-adapted L² majorant: an error bound per candidate."""

    name = "candidate-adapted majorant"

    def score(self, case: Case) -> Found:
        return _dual(case, self.name, adapted=True)


def _dual(case: Case, name: str, *, adapted: bool) -> Found:
    if not isinstance(case.problem, HasDualNorm):
        raise ValueError(
            f"{name} needs a problem with a dual norm (a method dual_energy), such as ReactionDiffusion; "
            f"got {type(case.problem).__name__}."
        )
    energies, converged = compute.run(_dual_energies, case.problem, case.states, adapted)
    return energies, None if converged.all() else "an inverse action did not converge", len(case.states)


def _dual_energies(problem: HasDualNorm, states: JaxArray, adapted: bool) -> tuple[JaxArray, JaxArray]:
    return jax.lax.map(lambda state: problem.dual_energy(state, adapted=adapted), states)
