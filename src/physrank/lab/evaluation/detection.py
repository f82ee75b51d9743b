"""How well a score finds rare events: the areas under the ROC and under the precision–recall curve."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from physrank.geometry.space import Array
from physrank.lab.evaluation.bootstrap import Interval

REPLICATES = 1_000  # each of them ranks all pairs anew


def auroc(events: ArrayLike, scores: ArrayLike) -> float:
    """P(score of an event > score of a non-event) + ½ P(equal): Mann and Whitney's; NaN where either kind is missing."""
    happened, values = _checked(events, scores)
    positive, negative = int(happened.sum()), int((~happened).sum())
    if not positive or not negative:
        return float("nan")
    _, place, count = np.unique(values, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(count) - (count - 1) / 2)[place]  # ties share their mean rank
    return float((ranks[happened].sum() - positive * (positive + 1) / 2) / (positive * negative))


def auprc(events: ArrayLike, scores: ArrayLike) -> float:
    """Average precision Σ (recall_k − recall_{k−1}) precision_k over distinct thresholds; NaN without events."""
    happened, values = _checked(events, scores)
    if not happened.any():
        return float("nan")
    order = np.argsort(-values, kind="stable")
    found, asked = np.cumsum(happened[order]), np.arange(1, len(order) + 1)
    last = np.append(np.diff(values[order]) != 0, True)  # equal scores are asked for together
    recall, precision = found[last] / found[-1], found[last] / asked[last]
    return float(np.sum(np.diff(recall, prepend=0.0) * precision))


def auroc_gain(
    events: ArrayLike,
    scores: ArrayLike,
    base: ArrayLike,
    clusters: Sequence[str],
    *,
    seed: int,
    confidence: float = 0.95,
) -> Interval:
    """auroc of `scores` less that of `base`, with whole clusters of rows resampled; tables are `(cases, pairs)`."""
    tables, names = [np.asarray(table) for table in (events, scores, base)], np.asarray(clusters)
    groups = [np.flatnonzero(names == name) for name in dict.fromkeys(clusters)]

    def gain(chosen: np.ndarray) -> float:
        happened, better, simple = (table[chosen] for table in tables)
        return auroc(happened, better) - auroc(happened, simple)

    random = np.random.default_rng(seed)
    picks = random.integers(len(groups), size=(REPLICATES, len(groups)))
    drawn = [gain(np.concatenate([groups[k] for k in pick])) for pick in picks]
    low, high = np.nanquantile(drawn, ((1 - confidence) / 2, (1 + confidence) / 2))
    whole = gain(np.arange(len(names)))
    return Interval(whole, float(low), float(high), float(np.nanmean(drawn)), confidence, REPLICATES, seed)


def _checked(events: ArrayLike, scores: ArrayLike) -> tuple[np.ndarray, Array]:
    happened, values = np.asarray(events).ravel(), np.asarray(scores, np.float64).ravel()
    if happened.dtype != bool or happened.shape != values.shape or np.isnan(values).any():
        raise ValueError(
            f"Expected booleans and as many scores, none of them NaN; got {happened.dtype} of shape {happened.shape}, "
            f"scores of shape {values.shape} with {int(np.isnan(values).sum())} NaN."
        )
    return happened, values
