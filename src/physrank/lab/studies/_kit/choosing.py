"""One checkpoint for good: who wins an unlabeled panel, and how good that choice is on other inputs."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from physrank.geometry.decisions import REGRET_FLOOR
from physrank.geometry.space import Array
from physrank.lab.evaluation.compact import quantiles
from physrank.lab.libraries import Library
from physrank.lab.studies._kit.cases import Context, problems_and_candidates, trusted
from physrank.ranking import scorers

TOLERANT = 1e-6  # of the mean loss: a choice within it of the best is tolerantly the best


def winners(scores: Array) -> np.ndarray:
    """The least mean score of each panel `(panels, inputs, candidates)`, over the inputs that were resolved."""
    resolved: np.ndarray = np.all(np.isfinite(scores), axis=2)
    if not np.all(np.any(resolved, axis=1)):
        raise ValueError("A panel has no input whose response was resolved: there is nothing to choose from.")
    return np.argmin(np.mean(scores, axis=1, where=resolved[:, :, None]), axis=1)


def judged(picks: np.ndarray, risk: Array) -> dict[str, Any]:
    """Choices `(libraries, panels)` by the mean losses `(libraries, candidates)` on other inputs, over all routes."""
    excess, normalized = _excess(picks, risk)
    places = np.argsort(np.argsort(risk, axis=1, kind="stable"), axis=1)
    return {
        "routes": int(picks.size),
        "mean_normalized_regret": float(normalized.mean()),
        "exact": int(np.sum(picks == risk.argmin(axis=1)[:, None])),
        "tolerant": int(np.sum(excess <= TOLERANT)),
        "top2": int(np.sum(np.take_along_axis(places, picks, axis=1) < 2)),
    }


def regrets(picks: np.ndarray, risk: Array) -> list[float]:
    """The distribution of normalized regret over all routes, for pictures."""
    return quantiles(_excess(picks, risk)[1])


def _excess(picks: np.ndarray, risk: Array) -> tuple[Array, Array]:
    """Mean loss of each choice above the least, and over the span of its library."""
    best, worst = risk.min(axis=1, keepdims=True), risk.max(axis=1, keepdims=True)
    excess = np.take_along_axis(risk, picks, axis=1) - best
    return excess, excess / np.maximum(worst - best, REGRET_FLOOR)


def by_library(names: Sequence[str], picks: np.ndarray, risk: Array) -> dict[str, dict[str, Any]]:
    """The same for every library on its own: a mean hides the one in which choices fail."""
    return {name: judged(picks[k : k + 1], risk[k : k + 1]) for k, name in enumerate(names)}


def one_by_one(context: Context, library: Library, population: str, inputs: int) -> Array:
    """Scores of the first inputs of a population from one response per candidate."""
    key = context.content(library, population) | {"inputs": inputs}

    def make() -> dict[str, Array]:
        cases = problems_and_candidates(context, library, population, limit=inputs)
        rows = context.each(f"{library.name}, {population}: candidate-wise", scorers.CandidateWise(), cases, inputs)
        return {"scores": np.stack([trusted(row) for row in rows])}

    return context.cached("one-by-one", key, make)["scores"]
