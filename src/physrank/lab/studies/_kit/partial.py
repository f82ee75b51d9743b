"""Partial corrections s_α = w + α δ of one response: errors of state, comparison and task, and scores, at every α."""

from collections.abc import Sequence

import numpy as np

from physrank import geometry
from physrank.geometry import ComparisonSubspace, TaskSpace
from physrank.geometry.space import Array
from physrank.lab.libraries import Library
from physrank.lab.store import predictions
from physrank.lab.studies._kit import anchoring
from physrank.lab.studies._kit.cases import Context, problems_and_candidates, references_of
from physrank.ranking import Ranking

ALPHAS = (0.0, 0.25, 0.5, 0.75, 1.0, 1.25)
CHUNK = 12  # inputs solved together


def walked(context: Context, library: Library, anchor: str) -> dict[str, Array]:
    """Every evaluation input of a library: `state`, `comparison`, `task` errors `(inputs, α)`, `scores` `(inputs, α,
    candidates)`, hidden `losses`, how far the full correction `moved` every gap, and the identity's `closure`."""
    name = library.instances
    key = context.content(library, name) | {"anchor": anchor, "alphas": ALPHAS}

    def make() -> dict[str, Array]:
        cases = list(problems_and_candidates(context, library, name))
        true = true_states(context, library, name)
        panel = context.panel(cases, anchor=anchoring.resolve(anchor, cases[0][0]), corrections=1)
        rows = (along(found, truth, state_space(found)) for found, truth in zip(panel, true, strict=True))
        return context.told(f"{library.name}: partial corrections", rows, len(cases))

    return context.cached("partial", key, make)


def true_states(context: Context, library: Library, population: str) -> Array:
    """Whole solutions, on the comparison grid: the fine references, and of evolutions all of their rows."""
    equation, count = library.declared, predictions.count(context.profile, population)
    if "time" not in equation.axes:
        return np.stack([reference.fine for reference in references_of(context, library, population)])
    cases = equation.population(population, count)
    times = np.asarray(equation.problem(cases[0]).times)

    def make() -> dict[str, Array]:
        rows = []
        for first in range(0, count, CHUNK):
            chunk = equation.solver.references(cases[first : first + CHUNK], times, equation.points)
            rows += [found.fine for found in chunk]
            context.progress(f"{equation.title}: trajectories", len(rows), count)
        return {"fine": np.stack(rows)}

    key = {"law": equation.input_fingerprint, "population": population, "count": count, "levels": equation.levels}
    return context.cached("trajectories", key, make)["fine"]


def state_space(found: Ranking) -> TaskSpace:
    """∫ ‖·‖² dt of trajectories; of a stationary state, its own metric."""
    shape = found.candidates.states.shape[1:]
    problem = found.problem
    return (anchoring.trajectory_metric(problem) if hasattr(problem, "times") else problem.metric()).space(shape)


def along(found: Ranking, truth: Array, space: TaskSpace, alphas: Sequence[float] = ALPHAS) -> dict[str, Array]:
    """One input; nothing is solved again."""
    anchor, change = np.asarray(found.response.anchor), np.asarray(found.response.correction)
    target, outputs = found.task.outputs(truth[None])[0], found.outputs
    subspace = ComparisonSubspace.of(space, found.candidates.states)
    states = [anchor + alpha * change for alpha in alphas]
    proxies = found.task.outputs(np.stack(states))
    losses = geometry.scores_of(found.space, outputs, target)
    scores = np.stack([geometry.scores_of(found.space, outputs, proxy) for proxy in proxies])
    error = target - proxies[list(alphas).index(1.0)]
    exact = 2 * (found.space.inner(error, outputs)[:, None] - found.space.inner(error, outputs)[None, :])
    moved = geometry.gap_matrix(losses) - geometry.gap_matrix(scores[list(alphas).index(1.0)])
    upper = np.triu_indices(len(outputs), 1)
    return {
        "state": np.array([space.norm(truth - state) for state in states]),
        "comparison": np.array([np.linalg.norm(subspace.coordinates(truth - state)) for state in states], np.float64),
        "task": np.array([found.space.norm(target - proxy) for proxy in proxies]),
        "best": np.array(space.norm(truth - found.candidates.states).min()),
        "scores": scores,
        "losses": losses,
        "moved": exact[upper],
        "closure": np.array(np.abs(moved - exact).max() / max(float(losses.max()), np.finfo(float).tiny)),
    }
