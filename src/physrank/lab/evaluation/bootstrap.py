"""Percentile bootstrap intervals that keep what is coupled together.

Candidate pairs, architectures and ensembles on one input are not independent samples, so inputs (and libraries, and
selection panels) are resampled whole. A resample is a row of multinomial weights, and every statistic below is written
for such weights: with all weights one it is the estimate itself.
"""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from physrank.geometry.decisions import REGRET_FLOOR
from physrank.geometry.space import Array
from physrank.lab.evaluation.recovery import Counts

# The seeds stated in the paper, one per study.
SEEDS = {
    "primary": 80173001,
    "panel": 84100001,
    "additional": 93090001,
    "sine_gordon_study": 95090001,
    "pdebench": 97090001,
}
REPLICATES = 10_000
CHUNK = 1_000  # resamples held in memory at once; part of the seeded result when there are several strata


@dataclass(frozen=True)
class Interval:
    """A percentile interval; `estimate` is the statistic of the data, `mean` its mean over the resamples."""

    estimate: float
    low: float
    high: float
    mean: float
    confidence: float
    replicates: int
    seed: int

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)

    def __str__(self) -> str:
        return f"{self.estimate:.6g} [{self.low:.6g}, {self.high:.6g}] ({self.confidence:.4g}, seed {self.seed})"


def clustered(
    numerator: ArrayLike,
    denominator: ArrayLike,
    clusters: ArrayLike,
    *,
    seed: int,
    replicates: int = REPLICATES,
    confidence: float = 0.95,
    strata: ArrayLike | None = None,
) -> Interval:
    """Σ numerator / Σ denominator over rows, resampling clusters of rows.

    **Main arguments:** one entry per row (case); `clusters` names the input of each row, so that all rows of an input
    stay together. The numerator may be a difference of two methods' counts.

    **Other arguments:** with `strata` (one label per row, constant within a cluster) every resample keeps the number of
    clusters of each stratum.
    """
    numerator, denominator = np.asarray(numerator, np.float64), np.asarray(denominator, np.float64)
    if numerator.ndim != 1 or numerator.shape != denominator.shape:
        raise ValueError(f"One numerator and denominator per row; got {numerator.shape} and {denominator.shape}.")
    cluster = _codes(clusters, len(numerator), "clusters")
    stratum = _codes(strata, len(numerator), "strata")
    top, bottom = np.bincount(cluster, numerator), np.bincount(cluster, denominator)

    def ratio(weights: Array) -> Array:
        return (weights @ top) / (weights @ bottom)

    return _percentile(ratio, [_constant_within(cluster, stratum)], seed, replicates, confidence)


def hierarchical(
    values: ArrayLike,
    *,
    seed: int,
    evaluated: ArrayLike | None = None,
    library_groups: ArrayLike | None = None,
    matched_libraries: ArrayLike | None = None,
    input_strata: ArrayLike | None = None,
    replicates: int = REPLICATES,
    confidence: float = 0.95,
) -> Interval:
    """Average over inputs in each library, then give libraries equal weight; both libraries and inputs are resampled.

    **Main arguments:** `values` `(libraries, inputs)`; a resample takes the same inputs in every library.

    **Other arguments:** `evaluated`, same shape, is False where an input does not belong to a library (another PDE).
    Libraries are resampled within `library_groups`, those with the same label in `matched_libraries` together; inputs
    are resampled within `input_strata`.
    """
    values = np.asarray(values, np.float64)
    if values.ndim != 2:
        raise ValueError(f"values must be (libraries, inputs); got shape {values.shape}.")
    present = np.ones(values.shape, bool) if evaluated is None else np.asarray(evaluated, bool)
    if present.shape != values.shape or not present.any(axis=1).all():
        raise ValueError(f"evaluated must be {values.shape} with at least one input per library; got {present.shape}.")
    if not np.isfinite(values[present]).all():
        raise ValueError("values must be finite; mark inputs that do not belong to a library in `evaluated`.")
    libraries, inputs = values.shape
    unit = (
        np.arange(libraries) if matched_libraries is None else _codes(matched_libraries, libraries, "matched_libraries")
    )
    group = _codes(library_groups, libraries, "library_groups")
    total, count = np.where(present, values, 0.0).T, present.astype(np.float64).T

    def equal_weight(unit_weights: Array, input_weights: Array) -> Array:
        library_means = (input_weights @ total) / (input_weights @ count)
        library_weights = unit_weights[:, unit]
        return np.sum(library_weights * library_means, axis=1) / np.sum(library_weights, axis=1)

    axes = [_constant_within(unit, group), _codes(input_strata, inputs, "input_strata")]
    return _percentile(equal_weight, axes, seed, replicates, confidence)


def panel_selection_bootstrap(
    chosen: ArrayLike,
    losses: ArrayLike,
    pde: ArrayLike,
    strata: ArrayLike,
    *,
    seed: int,
    replicates: int = REPLICATES,
    confidence: float = 0.95,
) -> Interval:
    """Mean normalized regret on the deployment inputs of checkpoints chosen on selection panels.

    `chosen` `(libraries, panels)` is the candidate each panel selects and `losses` `(libraries, inputs, candidates)` the
    true losses in deployment. Inference conditions on the libraries: panels are resampled within each PDE, deployment
    inputs within each PDE and stratum (`strata`, one label per input), both shared by the libraries of that PDE.
    Column k of two PDEs is two different panels or inputs.
    """
    chosen, losses = np.asarray(chosen), np.asarray(losses, np.float64)
    if losses.ndim != 3 or chosen.ndim != 2 or len(chosen) != len(losses) or not np.isfinite(losses).all():
        raise ValueError(
            "chosen must be (libraries, panels) and losses finite, (libraries, inputs, candidates); "
            f"got {chosen.shape} and {losses.shape}."
        )
    libraries, inputs, candidates = losses.shape
    if not np.issubdtype(chosen.dtype, np.integer) or chosen.min() < 0 or chosen.max() >= candidates:
        raise ValueError(f"chosen must hold candidate indices from 0 to {candidates - 1}.")
    pde_of_library = _codes(pde, libraries, "pde")
    members = [np.flatnonzero(pde_of_library == code) for code in range(pde_of_library.max() + 1)]
    one_pde = [np.zeros(chosen.shape[1], np.intp), _codes(strata, inputs, "strata")]

    def mean_regret(*weights: Array) -> Array:
        pairs = zip(members, weights[::2], weights[1::2], strict=True)
        sums = [_panel_regret(chosen[m], losses[m], panels, deployment) * len(m) for m, panels, deployment in pairs]
        return np.sum(sums, axis=0) / libraries

    return _percentile(mean_regret, one_pde * len(members), seed, replicates, confidence)


def _panel_regret(chosen: Counts, losses: Array, panel_weights: Array, input_weights: Array) -> Array:
    """NRegret of mean losses, averaged over the libraries and weighted panels of one PDE; `(replicates,)`."""
    # R[r, l, c]: loss of candidate c of library l averaged over the inputs of resample r.
    risk = np.einsum("rk,lkc->rlc", input_weights, losses, optimize=True) / losses.shape[1]
    best, worst = risk.min(axis=2, keepdims=True), risk.max(axis=2, keepdims=True)
    normalized = (risk - best) / np.maximum(worst - best, REGRET_FLOOR)
    selected = np.take_along_axis(normalized, chosen[None], axis=2)  # (replicates, libraries, panels)
    return np.sum(panel_weights * selected.mean(axis=1), axis=1) / chosen.shape[1]


def _codes(names: ArrayLike | None, length: int, what: str) -> Counts:
    """Labels as integers 0, 1, …; None puts everything together."""
    if names is None:
        return np.zeros(length, np.intp)
    names = np.asarray(names)
    if names.shape != (length,):
        raise ValueError(f"{what} must have one label for each of {length} entries; got shape {names.shape}.")
    return np.unique(names, return_inverse=True)[1]


def _constant_within(units: Counts, strata: Counts) -> Counts:
    """The stratum of each unit, from one label per row."""
    stratum = np.zeros(units.max() + 1, np.intp)
    stratum[units] = strata
    if np.any(stratum[units] != strata):
        raise ValueError(
            "A unit that is resampled whole must lie in a single stratum; give it a different name in each."
        )
    return stratum


def _weights(random: np.random.Generator, strata: Counts, count: int) -> Array:
    """How often each unit is drawn, `(count, units)`: as many draws with replacement per stratum as it has units."""
    weights = np.empty((count, len(strata)))
    for stratum in range(strata.max() + 1):
        members = strata == stratum
        size = int(members.sum())
        # Multinomial weights by counting draws: four times faster than `Generator.multinomial` at 3,840 units.
        drawn = random.integers(size, size=(count, size)) + size * np.arange(count)[:, None]
        weights[:, members] = np.bincount(drawn.ravel(), minlength=count * size).reshape(count, size)
    return weights


def _percentile(
    statistic: Callable[..., Array], axes: Sequence[Counts], seed: int, replicates: int, confidence: float
) -> Interval:
    """`statistic` takes one weight matrix per axis; an axis is given by the stratum of each of its units."""
    if replicates < 1 or not 0 < confidence < 1:
        raise ValueError(f"Need replicates ≥ 1 and 0 < confidence < 1; got {replicates} and {confidence}.")
    random = np.random.default_rng(seed)
    sizes = [min(CHUNK, replicates - start) for start in range(0, replicates, CHUNK)]
    with np.errstate(invalid="ignore", divide="ignore"):  # an empty denominator is reported below
        estimate = statistic(*(np.ones((1, len(axis))) for axis in axes))
        drawn = np.concatenate([statistic(*(_weights(random, axis, size) for axis in axes)) for size in sizes])
    if not (np.isfinite(estimate).all() and np.isfinite(drawn).all()):
        raise ValueError("A resample has nothing in its denominator: too few units carry any; resample within strata.")
    low, high = np.quantile(drawn, [(1 - confidence) / 2, (1 + confidence) / 2])
    return Interval(float(estimate[0]), float(low), float(high), float(drawn.mean()), confidence, replicates, seed)
