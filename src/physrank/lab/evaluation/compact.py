"""Populations in few numbers, so that stored results stay small and every figure can still be drawn from them."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from physrank.geometry.decisions import REGRET_FLOOR
from physrank.geometry.space import Array
from physrank.lab.evaluation.margins import margin_deciles
from physrank.lab.evaluation.recovery import REFERENCE_TIE, Outcomes, pair_gaps, population

PROBABILITIES = np.sort(np.concatenate([np.linspace(0, 1, 101), [0.995, 0.999]]))
BINS = 41  # of gaps between −1 and 1 times the span of their case, the outer ones for all beyond


def quantiles(values: ArrayLike) -> list[float]:
    """At `PROBABILITIES`, to four digits: enough for a distribution function, its tail included."""
    return rounded(np.quantile(np.asarray(values, np.float64), PROBABILITIES, method="inverted_cdf"))


def rounded(values: ArrayLike) -> list[float]:
    return [float(f"{v:.4g}") for v in np.asarray(values, np.float64).ravel()]


def packed(table: ArrayLike) -> list[str]:
    """A table of numbers, a line of text each row: JSON then has a line for it, not one for every number."""
    return [" ".join(f"{v:.4g}" for v in row) for row in np.asarray(table, np.float64)]


def unpacked(rows: Sequence[str]) -> Array:
    return np.array([[float(v) for v in row.split()] for row in rows])


def gap_density(losses: ArrayLike, scores: ArrayLike, tolerance: float = REFERENCE_TIE) -> list[str]:
    """How often a true gap (rows) came with an estimated one (columns), non-ties of both signs, in spans of their case.

    Every pair counts in both orders, so that the table is symmetric about its centre whatever the order of candidates.
    """
    losses, scores = population(losses, scores)
    span = np.maximum(np.ptp(losses, axis=1), REGRET_FLOOR)[:, None]
    true, said = pair_gaps(losses), pair_gaps(scores)
    kept = (np.abs(true) > tolerance) & np.isfinite(said)
    x, y = ((gaps / span)[kept] for gaps in (true, said))
    edges = np.linspace(-1, 1, BINS + 1)
    places = [np.clip(np.concatenate([g, -g]), -1, 1) for g in (x, y)]
    return packed(np.histogram2d(*places, bins=(edges, edges))[0])


def pictured(losses: ArrayLike, scores: Mapping[str, Array], cells: ArrayLike) -> dict[str, Any]:
    """What the figures of a population need: regret, deciles of the margin, and densities of gaps, by method."""
    losses = np.asarray(losses, np.float64)
    deciles = {method: margin_deciles(losses, values, cells) for method, values in scores.items()}
    return {
        "cases": len(losses),
        "pairs": int(Outcomes.of(losses, losses).non_ties.sum()),
        "regret": {method: quantiles(Outcomes.of(losses, v).normalized_regret) for method, v in scores.items()},
        "deciles": {m: {"correct": d.correct.tolist(), "total": d.total.tolist()} for m, d in deciles.items()},
        "gap_density": {
            method: gap_density(losses, scores[method])
            for method in ("shared", "wrong input", "reversed")
            if method in scores
        },
    }
