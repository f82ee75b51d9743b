"""Recovery of decisions, case by case and counted: pairs, top-1 and regret of scores against true losses.

A case is one input with one library. `losses` and `scores` are `(cases, candidates)`; pairs are the canonical i < j in
the order of `np.triu_indices`, and a positive gap prefers i. A score that is not finite is no score: that candidate is
never chosen and each of its pairs is an error.
"""

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from physrank.geometry.decisions import REGRET_FLOOR
from physrank.geometry.space import Array

REFERENCE_TIE = 1e-6  # hidden losses closer than this are ties, and within it of the best counts as tolerant top-1
NOTHING_SELECTED = -1

Counts = NDArray[np.intp]
Flags = NDArray[np.bool_]


def population(losses: ArrayLike, scores: ArrayLike) -> tuple[Array, Array]:
    """Both as `(cases, candidates)` floats, every missing score as NaN."""
    losses, scores = np.asarray(losses, np.float64), np.asarray(scores, np.float64)
    if losses.ndim != 2 or losses.shape != scores.shape or losses.shape[0] < 1 or losses.shape[1] < 2:
        raise ValueError(
            "losses and scores must both be (cases, candidates) with at least one case and two candidates; "
            f"got {losses.shape} and {scores.shape}."
        )
    if not np.isfinite(losses).all():
        bad = np.flatnonzero(~np.isfinite(losses).all(axis=1))
        raise ValueError(
            f"True losses must be finite; {len(bad)} cases are not, the first is case {bad[0]}. "
            "A candidate without a loss is not eligible: leave it out of the library."
        )
    return losses, np.where(np.isfinite(scores), scores, np.nan)


def pair_gaps(values: Array) -> Array:
    """G_ij = values_j − values_i for i < j, `(cases, pairs)`; NaN where either value is missing."""
    i, j = np.triu_indices(values.shape[1], 1)
    return values[:, j] - values[:, i]


def labels(gaps: Array, tolerance: float = 0.0) -> Array:
    """+1 where i is preferred, −1 where j is, 0 for ties; NaN stays NaN and so agrees with no label."""
    if not tolerance >= 0:
        raise ValueError(f"tolerance must be a number ≥ 0; got {tolerance}.")
    return np.sign(gaps) * (np.abs(gaps) > tolerance)


@dataclass(frozen=True, eq=False)
class Outcomes:
    """What happened in each case. Every field has one entry per case, so any of them can be resampled or grouped."""

    pairs: Counts  # all unordered pairs
    non_ties: Counts  # pairs whose loss gap exceeds the tolerance
    non_ties_correct: Counts
    three_way_correct: Counts  # out of `pairs`, reference ties kept: a tie is right only where the scores tie too
    strict_correct: Counts  # out of `pairs`, both tolerances zero
    top1_exact: Flags
    top1_tolerant: Flags
    regret: Array
    normalized_regret: Array
    selected: Counts  # `NOTHING_SELECTED` where no candidate has a score

    @classmethod
    def of(
        cls,
        losses: ArrayLike,
        scores: ArrayLike,
        *,
        tolerance: float = REFERENCE_TIE,
        score_tolerance: float = 0.0,
        unresolved_pairs: ArrayLike | None = None,
        unresolved_top1: ArrayLike | None = None,
    ) -> "Outcomes":
        """Compare decisions.

        **Main arguments:** `losses` and `scores`, `(cases, candidates)`.

        **Other arguments:** `tolerance` makes reference ties and tolerant winners; `score_tolerance` makes ties of the
        scores, in the non-tie and the three-way count alike, so their difference is the number of recovered ties.
        `unresolved_pairs` `(cases, pairs)` and `unresolved_top1` `(cases,)` mark what the reference cannot decide:
        they stay in the denominators and count as errors.

        >>> Outcomes.of([[1.0, 2.0, 3.0]], [[0.1, 0.3, 0.2]]).strict_correct
        array([2])
        """
        losses, scores = population(losses, scores)
        gaps, score_gaps = pair_gaps(losses), pair_gaps(scores)
        resolved = ~_marks(unresolved_pairs, gaps.shape, "unresolved_pairs")
        truth = labels(gaps, tolerance)
        agree = resolved & (truth == labels(score_gaps, score_tolerance))
        agree_strictly = resolved & (labels(gaps) == labels(score_gaps))

        scored = ~np.isnan(scores)
        any_scored = scored.any(axis=1)
        chosen = np.argmin(np.where(scored, scores, np.inf), axis=1)
        best, worst = losses.min(axis=1), losses.max(axis=1)
        # With nothing to choose by, the user may end up with the worst candidate.
        accepted = np.where(any_scored, losses[np.arange(len(losses)), chosen], worst)
        decidable = any_scored & ~_marks(unresolved_top1, best.shape, "unresolved_top1")
        regret = accepted - best
        return cls(
            pairs=np.full(len(losses), gaps.shape[1]),
            non_ties=np.sum(truth != 0, axis=1),
            non_ties_correct=np.sum(agree & (truth != 0), axis=1),
            three_way_correct=agree.sum(axis=1),
            strict_correct=agree_strictly.sum(axis=1),
            top1_exact=decidable & (chosen == losses.argmin(axis=1)),
            top1_tolerant=decidable & (accepted <= best + tolerance),
            regret=regret,
            normalized_regret=regret / np.maximum(worst - best, REGRET_FLOOR),
            selected=np.where(any_scored, chosen, NOTHING_SELECTED),
        )


def _marks(marked: ArrayLike | None, shape: tuple[int, ...], name: str) -> Flags:
    flags = np.zeros(shape, bool) if marked is None else np.asarray(marked)
    if flags.shape != shape or flags.dtype != bool:
        raise ValueError(f"{name} must be booleans of shape {shape}; got {flags.dtype} of shape {flags.shape}.")
    return flags


@dataclass(frozen=True)
class Recovery:
    """Counts over cases (one input with one library)."""

    cases: int
    pairs: int  # reference non-ties
    pairs_correct: int
    top1_exact: int
    top1_tolerant: int
    mean_regret: float
    mean_normalized_regret: float
    pairs_all: int
    three_way_correct: int  # out of `pairs_all`
    strict_correct: int  # out of `pairs_all`
    median_normalized_regret: float
    q90_normalized_regret: float
    q99_normalized_regret: float
    max_normalized_regret: float

    @classmethod
    def of(cls, losses: ArrayLike, scores: ArrayLike, tolerance: float = REFERENCE_TIE, **options: Any) -> "Recovery":
        """Count straight from `(cases, candidates)` losses and scores; `options` are those of `Outcomes.of`."""
        return cls.from_outcomes(Outcomes.of(losses, scores, tolerance=tolerance, **options))

    @classmethod
    def from_outcomes(cls, outcomes: Outcomes) -> "Recovery":
        median, q90, q99 = np.quantile(outcomes.normalized_regret, (0.5, 0.9, 0.99))
        return cls(
            cases=len(outcomes.pairs),
            pairs=int(outcomes.non_ties.sum()),
            pairs_correct=int(outcomes.non_ties_correct.sum()),
            top1_exact=int(outcomes.top1_exact.sum()),
            top1_tolerant=int(outcomes.top1_tolerant.sum()),
            mean_regret=float(outcomes.regret.mean()),
            mean_normalized_regret=float(outcomes.normalized_regret.mean()),
            pairs_all=int(outcomes.pairs.sum()),
            three_way_correct=int(outcomes.three_way_correct.sum()),
            strict_correct=int(outcomes.strict_correct.sum()),
            median_normalized_regret=float(median),
            q90_normalized_regret=float(q90),
            q99_normalized_regret=float(q99),
            max_normalized_regret=float(outcomes.normalized_regret.max()),
        )

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)
