"""Scorers: the method, its baselines and its honest rivals, all called the same way.

    scorer(problem, candidates, task=…, anchor=…) → Scores

Lower is better. A scorer that does not use the anchor, the task or the physics ignores it.
"""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from physrank import geometry
from physrank._precision import in_double
from physrank.equations import ReactionDiffusion
from physrank.geometry.space import Array
from physrank.physics import Correction, Problem, respond
from physrank.ranking import anchors, tasks
from physrank.ranking.candidates import Library
from physrank.ranking.rank import rank
from physrank.ranking.result import Ranking
from physrank.ranking.scores import Scores
from physrank.ranking.tasks import Task


@dataclass(frozen=True)
class SharedResponse:
    """The method: squared task distance to the shared proxy."""

    corrections: int | Correction = 1

    def __call__(self, problem: Problem, candidates: Any, *, task: Task | None = None, anchor: Any = "mean") -> Scores:
        return rank(
            problem, candidates, task=task, anchor=anchor, corrections=self.corrections, invalid="exclude"
        ).scoring


@dataclass(frozen=True)
class RawResidual:
    """‖A(v_i)‖²_Y: the size of each candidate's complete defect, unpropagated."""

    def __call__(self, problem: Problem, candidates: Any, *, task: Task | None = None, anchor: Any = "mean") -> Scores:
        return _score("raw residual", problem, candidates, lambda states: _raw(problem, states))


@dataclass(frozen=True)
class CandidateWise:
    """‖DQ(v_i) δ_i‖²: every candidate's own correction, one solve after another."""

    def __call__(self, problem: Problem, candidates: Any, *, task: Task | None = None, anchor: Any = "mean") -> Scores:
        chosen = tasks.resolve(task, problem)

        def score(states: Array) -> tuple[Array, str | None, int]:
            values, failed = [], None
            for k, state in enumerate(states):
                response = _respond(problem, jnp.asarray(state), Correction())
                corrected, _ = chosen.proxies(state, np.asarray(response.state))
                own = chosen.outputs(state[None])
                values.append(geometry.scores_of(chosen.space(own), own, corrected)[0])
                failed = failed or (
                    None if bool(response.converged) else f"the solve of candidate {k} did not converge"
                )
            return np.array(values), failed, len(states)

        return _score("candidate-wise corrections", problem, candidates, score)


@dataclass(frozen=True)
class MeanCentrality:
    """Squared task distance to the mean of the candidate outputs. No physics."""

    def __call__(self, problem: Problem, candidates: Any, *, task: Task | None = None, anchor: Any = "mean") -> Scores:
        return _against("distance to mean", problem, candidates, task, lambda outputs: outputs.mean(axis=0))


@dataclass(frozen=True)
class MedoidCentrality:
    """Squared task distance to the medoid of the candidate outputs, in the task metric. No physics."""

    def __call__(self, problem: Problem, candidates: Any, *, task: Task | None = None, anchor: Any = "mean") -> Scores:
        metric = (tasks.resolve(task, problem)).metric
        return _against(
            "distance to medoid",
            problem,
            candidates,
            task,
            lambda outputs: outputs[anchors.medoid_index(outputs, metric)],
        )


@dataclass(frozen=True)
class ValidationLoss:
    """An input-independent order: each candidate's validation loss."""

    losses: Mapping[str, float]

    def __call__(self, problem: Problem, candidates: Any, *, task: Task | None = None, anchor: Any = "mean") -> Scores:
        library = Library.of(candidates, problem, "exclude")
        missing = [name for name in library.names if name not in self.losses]
        if missing:
            raise ValueError(
                f"No validation loss for candidate {missing[0]!r}; losses were given for {list(self.losses)}."
            )
        values = np.array([float(self.losses[name]) for name in library.names])
        return Scores(
            "validation loss", library.names, np.where(library.valid, values, np.nan), excluded=library.excluded
        )


@dataclass(frozen=True)
class ReversedResponse:
    """The response with its direction reversed, w − δ: a control that should rank badly."""

    def __call__(self, problem: Problem, candidates: Any, *, task: Task | None = None, anchor: Any = "mean") -> Scores:
        backwards = Correction(step=-1.0)
        ranking = rank(problem, candidates, task=task, anchor=anchor, corrections=backwards, invalid="exclude")
        # Going backwards raises the defect, as it should; only a failed solve makes the control itself invalid.
        failed = None if bool(ranking.response.converged) else ranking.unresolved
        return replace(ranking.scoring, method="reversed response", unresolved=failed)


@dataclass(frozen=True, eq=False)
class WrongInput:
    """The corrected state of another input: a control for how much of the signal is input-specific."""

    other: Ranking

    def __call__(self, problem: Problem, candidates: Any, *, task: Task | None = None, anchor: Any = "mean") -> Scores:
        chosen = tasks.resolve(task, problem)
        target = chosen.outputs(np.asarray(self.other.state)[None])[0]
        return _against("wrong-input response", problem, candidates, chosen, lambda _: target, self.other.unresolved)


@dataclass(frozen=True)
class CommonEnergy:
    """‖A(v_i)‖² in the dual of the common energy norm K + λ (reaction–diffusion): one inverse action per candidate."""

    def __call__(self, problem: Problem, candidates: Any, *, task: Task | None = None, anchor: Any = "mean") -> Scores:
        return _dual("common-energy dual norm", problem, candidates, adapted=False)


@dataclass(frozen=True)
class AdaptedMajorant:
    """The candidate-adapted L² majorant (reaction–diffusion): an error bound per candidate."""

    def __call__(self, problem: Problem, candidates: Any, *, task: Task | None = None, anchor: Any = "mean") -> Scores:
        return _dual("candidate-adapted majorant", problem, candidates, adapted=True)


@dataclass(frozen=True)
class DirectSolve:
    """Solve the equation itself and rank by distance to that: the yardstick every cleverness must face.

    On the same grid by default; `points` (and for Burgers `substeps`) ask for a coarser one; `on` is a coarser problem
    of your own whose solution the problem can lift.
    """

    points: int | None = None
    substeps: int | None = None
    on: Problem | None = None

    def __call__(self, problem: Problem, candidates: Any, *, task: Task | None = None, anchor: Any = "mean") -> Scores:
        chosen = tasks.resolve(task, problem)
        coarse = self._coarse(problem)  # set-up, like building the problem itself: not timed

        def score(states: Array) -> tuple[Array, str | None, int]:
            state, failed = _solution(problem, coarse, states.shape[1:])
            outputs = chosen.outputs(states)
            return geometry.scores_of(chosen.space(outputs), outputs, chosen.outputs(state[None])[0]), failed, 1

        name = "direct solve" + (f", {self.points} points" if self.points else "")
        return _score(name, problem, candidates, score)

    @in_double
    def solution(self, problem: Problem, shape: tuple[int, ...]) -> tuple[Array, str | None]:
        """The solution on the problem's grid, for states of `shape`, and why it failed if it did."""
        return _solution(problem, self._coarse(problem), shape)

    def _coarse(self, problem: Problem) -> Problem:
        if self.on is not None:
            return self.on
        options = {"points": self.points, "substeps": self.substeps}
        options = {key: value for key, value in options.items() if value is not None}
        if not options:
            return problem
        if not hasattr(problem, "coarsen"):
            raise ValueError(
                f"{type(problem).__name__} cannot be coarsened by itself; pass DirectSolve(on=coarser_problem)."
            )
        return problem.coarsen(**options)  # pyright: ignore


def _solution(problem: Problem, coarse: Problem, shape: tuple[int, ...]) -> tuple[Array, str | None]:
    own = coarse.state_shape or shape
    guess = jnp.zeros(tuple(n if n is not None else m for n, m in zip(own, shape, strict=True)))
    result = _solve(coarse, guess)
    lifted = problem.lift(np.asarray(result.state))
    if lifted.shape != shape:
        raise ValueError(f"The coarse solution has shape {lifted.shape} after lifting; expected {shape}.")
    return lifted, None if bool(result.converged) else "the direct solve did not converge"


_respond = eqx.filter_jit(respond)


@eqx.filter_jit
def _solve(problem: Problem, guess: jax.Array) -> Any:
    return problem.solve(guess)


@eqx.filter_jit
def _raw_energies(problem: Problem, states: jax.Array) -> jax.Array:
    return jax.vmap(lambda state: problem.residual_energy(problem.defect(state)))(states)


@eqx.filter_jit
def _dual_energies(problem: ReactionDiffusion, states: jax.Array, adapted: bool) -> tuple[jax.Array, jax.Array]:
    return jax.lax.map(lambda state: problem.dual_energy(state, adapted=adapted), states)


def _raw(problem: Problem, states: Array) -> tuple[Array, str | None, int]:
    return np.asarray(_raw_energies(problem, jnp.asarray(states))), None, 0


def _dual(method: str, problem: Problem, candidates: Any, *, adapted: bool) -> Scores:
    if not isinstance(problem, ReactionDiffusion):
        raise ValueError(f"{method} is defined for ReactionDiffusion; got {type(problem).__name__}.")

    def score(states: Array) -> tuple[Array, str | None, int]:
        energies, converged = map(np.asarray, _dual_energies(problem, jnp.asarray(states), adapted))
        return energies, None if converged.all() else "an inverse action did not converge", len(states)

    return _score(method, problem, candidates, score)


@in_double
def _score(
    method: str, problem: Problem, candidates: Any, score: Callable[[Array], tuple[Array, str | None, int]]
) -> Scores:
    """Scores of the valid candidates put in their places, with the time they took."""
    library = Library.of(candidates, problem, "exclude")
    started = time.perf_counter()
    values = np.full(len(library.names), np.nan)
    values[library.valid], failed, solves = score(library.states[library.valid])
    return Scores(
        method, library.names, values, failed, solves, time.perf_counter() - started, excluded=library.excluded
    )


def _against(
    method: str,
    problem: Problem,
    candidates: Any,
    task: Task | None,
    target: Callable[[Array], Array],
    failed: str | None = None,
) -> Scores:
    """Squared task distance to a target made from the outputs."""
    chosen = tasks.resolve(task, problem)

    def score(states: Array) -> tuple[Array, str | None, int]:
        outputs = chosen.outputs(states)
        return geometry.scores_of(chosen.space(outputs), outputs, target(outputs)), failed, 0

    return _score(method, problem, candidates, score)
