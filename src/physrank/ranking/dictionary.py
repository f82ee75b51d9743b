"""A ranking as plain Python: what JSON, pages, words and data sets are made from."""

from typing import Any

import numpy as np

from physrank._version import __version__
from physrank.physics import stated

STATED = 8  # numbers of the problem's data that are repeated


def of(ranking: Any) -> dict[str, Any]:
    """Ready for JSON: decisions, doubts, numbers, no fields."""
    response, scoring = ranking.rung.response, ranking.scoring
    return {
        "physrank": __version__,
        "method": scoring.method,
        "equation": type(ranking.problem).__name__,
        "stated": stated.in_words(ranking.problem, most=STATED),
        "task": ranking.task.name,
        "metric": ranking.task.metric.name,
        "anchor": ranking.anchor,
        "correction": None if response is None else response.variant.name,
        "unresolved": ranking.unresolved,
        "order": None if ranking.unresolved else ranking.order,
        "decide": ranking.asked.decide,
        "tolerance": float(ranking.asked.tolerance),
        "settled": ranking.settled,
        "best_settled": ranking.best_settled,
        "open_groups": [] if ranking.unresolved else ranking.open_groups,
        "open_apart": [] if ranking.unresolved else ranking.open_apart,
        "doubts": list(ranking.doubts),
        "candidates": {
            name: {
                "score": number(ranking.scores[i]),
                "error_estimate": number(ranking.error_estimates[i]),
                "relative_error": number(ranking.relative_errors[i]),
                "excluded": scoring.excluded.get(name),
            }
            for i, name in enumerate(ranking.names)
        },
        "error_uncertainty": number(ranking.error_uncertainty),
        "gaps": matrix(ranking.gaps),
        "uncertainty": {
            "all": matrix(ranking.uncertainty),
            "parts": {cause: matrix(ranking.squared(part)) for cause, part in ranking.rung.parts.items()},
        },
        "settled_pairs": ranking.settled_pairs.tolist(),
        "response": None if response is None else _response(ranking, response),
        "effort": [
            {"rung": step.rung, "seconds": step.seconds, "solves": step.solves, "open_pairs": step.open}
            for step in ranking.effort
        ],
        "solves": scoring.solves,
        "seconds": scoring.seconds,
        "notes": list(ranking.notes),
        "certificate": None if ranking.certificate is None else ranking.certificate.to_dict(),
    }


def _response(ranking: Any, response: Any) -> dict[str, Any]:
    return {
        "converged": bool(response.converged),
        "algebraic_defect": number(response.algebraic_norm),
        "anchor_defect": number(response.defect_norm),
        "defect_reduction": None if ranking.rung.reduction is None else number(ranking.rung.reduction),
        "iterations": int(response.iterations),
        "step": number(response.multiplier),
        "solves": ranking.scoring.solves,
        "seconds": ranking.scoring.seconds,
    }


def arrays_of(ranking: Any) -> dict[str, Any]:
    """The fields behind the decisions, with the matrices of all pairs."""
    response = ranking.rung.response
    return {
        "names": ranking.names,
        "outputs": ranking.outputs,
        "proxy": ranking.proxy,
        "anchor": None if response is None else ranking.task.outputs(np.asarray(response.anchor)[None])[0],
        "state": ranking.state,
        "scores": ranking.scores,
        "estimates": ranking.error_estimates,
        "reach": ranking.error_uncertainty,
        "gaps": ranking.gaps,
        "uncertainty": ranking.uncertainty,
        "settled": ranking.settled_pairs,
        "unresolved": ranking.unresolved,
    }


def number(value: Any) -> float | None:
    """A float that JSON can hold; None for what is not finite."""
    value = float(value)
    return value if np.isfinite(value) else None


def matrix(values: Any) -> list[list[float | None]]:
    return [[number(x) for x in row] for row in np.asarray(values)]
