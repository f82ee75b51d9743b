"""Study 14: viscous flow at Mach 0.1. Ranking where operator and data disagree: right comparisons without a better state.

An FNO and a push-forward U-Net on ten trajectories of HLLC data, compared by a Rusanov map whose derivative acts by finite
differences. With two candidates 𝒟 is one direction: the error along it decides, the error across it does not.
"""

from functools import partial
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from physrank import ranking
from physrank.geometry.space import Array
from physrank.lab.equations.flow_2d import FLOW_2D, problem
from physrank.lab.libraries import ROLLED
from physrank.lab.studies._kit import paths, rollouts
from physrank.lab.studies._kit.anchoring import medoid_in_time
from physrank.lab.studies._kit.cases import Context
from physrank.ranking import scorers

NAME = FLOW_2D.name
MULTIPLIERS = (0.0, 0.25, 0.5, 0.75, 1.0, 1.25)
UNIT = MULTIPLIERS.index(1.0)
DIFFERENCES = (1e-4, 1e-3, 1e-5)  # the first is the study's, the others are repeats
KINDS = ("full", "comparison", "perpendicular", "defect")
PAPER = {
    "full": [10, 2.951],
    "comparison": [10, 22.238],
    "perpendicular": [4, 0.894],
    "defect": [10, 32.767],
    "top1": {"common state": 6, "corrected": 10},
    "better than best candidate": 4,
    "floor": 0.412,
    "medoid": {"full": [4, 0.808], "comparison": [5, 1.667]},
    "differences": [1.970351, 1.970364, 1.970351],
}


def run(context: Context) -> tuple[dict[str, Any], Figure]:
    known = rollouts.of_library(context, ROLLED[NAME])

    def walked(anchor: str, difference: float) -> dict[str, Array]:
        key = {"anchor": anchor, "difference": difference, "multipliers": MULTIPLIERS}
        make = partial(measure, anchor=anchor, difference=difference)
        return rollouts.cached(context, NAME, known, make, **key)

    mean, medoid = (walked(anchor, DIFFERENCES[0]) for anchor in ("mean", "medoid"))
    repeats = [walked("mean", difference) for difference in DIFFERENCES]
    losses, stops = mean["losses"], paths.chosen(mean)
    result = {
        "study": NAME,
        "profile": context.profile.name,
        "candidates": list(known.names),
        "inputs": len(known.inputs),
        "mean": _table(mean),
        "medoid": _table(medoid),
        "differences": {
            f"{d:g}": _table(found)["full"]["median_factor"] for d, found in zip(DIFFERENCES, repeats, strict=True)
        },
        "chosen": np.bincount(stops, minlength=len(MULTIPLIERS)).tolist(),
        "least_full_error": np.bincount(mean["full"].argmin(axis=1), minlength=len(MULTIPLIERS)).tolist(),
        "path": {kind: np.median(mean[kind] / mean[kind][:, :1], axis=0).tolist() for kind in KINDS},
        "winners": np.bincount(losses.argmin(axis=1), minlength=len(known.names)).tolist(),
        "raw": _right(mean["raw"], losses.argmin(axis=1)),
        "floor": float(np.median(mean["floor"])),
        "identity": float(mean["identity"].max()),
        "input_fingerprint": FLOW_2D.input_fingerprint,
        "paper": PAPER,
    }
    return result, _figure(result)


def measure(truth: Array, candidates: dict[str, Array], anchor: str, difference: float) -> dict[str, Array]:
    """One input from one anchor with one step of the differences."""
    states = {name: FLOW_2D.states(np.asarray(v, np.float64)) for name, v in candidates.items()}
    true = FLOW_2D.states(np.asarray(truth[FLOW_2D.observed - 1 :], np.float64))
    posed = problem(true[0], FLOW_2D.compared, difference)
    start = medoid_in_time(posed) if anchor == "medoid" else anchor
    found = ranking.rank(posed, states, anchor=start, corrections=1, allow_unresolved=True)
    return paths.path(found, true, MULTIPLIERS).arrays() | {"raw": scorers.RawResidual().of(found).values}


def _table(found: dict[str, Array]) -> dict[str, Any]:
    """Unit correction against the common state: how many inputs improved, and by which factor in the median."""
    table: dict[str, Any] = {}
    for kind in KINDS:
        factors = found[kind][:, 0] / found[kind][:, UNIT]
        table[kind] = {"improved": int(np.sum(factors > 1)), "median_factor": float(np.median(factors))}
    best = found["losses"].argmin(axis=1)
    table["top1"] = {
        "common state": _right(found["scores"][:, 0], best),
        "corrected": _right(found["scores"][:, UNIT], best),
    }
    table["better_than_best_candidate"] = int(np.sum(found["proxy_loss"][:, UNIT] <= found["losses"].min(axis=1)))
    table["admissible"] = int(found["admissible"][:, UNIT].sum())
    return table


def _right(scores: Array, best: np.ndarray) -> int:
    """Winners found. A mean of two is as far from one as from the other: scores that differ by round-off choose nobody."""
    first, second = np.sort(scores, axis=1)[:, :2].T
    return int(np.sum((scores.argmin(axis=1) == best) & (second - first > 1e-9 * second)))


def claims(result: dict[str, Any]) -> list[tuple[str, bool]]:
    table, inputs = result["mean"], result["inputs"]
    right, before = table["top1"]["corrected"], table["top1"]["common state"]
    seen, across = table["comparison"]["median_factor"], table["perpendicular"]["median_factor"]
    spread = np.ptp(list(result["differences"].values())) / next(iter(result["differences"].values()))
    return [
        (
            f"the corrected state finds no fewer winners than the common one ({right} and {before} of {inputs})",
            right >= before,
        ),
        (
            f"the error contracts more along the candidates' difference than across it (median factors {seen:.2f} and "
            f"{across:.2f})",
            seen > across,
        ),
        (f"the step of the differences does not matter: factors differ by {spread:.1e}", bool(spread < 1e-3)),
        (f"the gap identity closes to round-off ({result['identity']:.1e})", result["identity"] < 1e-10),
    ]


def _figure(result: dict[str, Any]) -> Figure:
    figure: Any = Figure(figsize=(9, 3.4), layout="constrained")
    along, factors = figure.subplots(1, 2)
    looks = dict(
        zip(KINDS, (("#5c6f82", "s--"), ("#c2185b", "o-"), ("#c9a227", "^-."), ("#1b1f24", "D:")), strict=True)
    )
    for kind, values in result["path"].items():
        colour, style = looks[kind]
        along.plot(MULTIPLIERS, values, style, label=kind, color=colour, markersize=4)
    along.set(yscale="log", xlabel="α", title="medians along the path, α = 0 is one")
    along.legend(frameon=False, fontsize=8)
    for k, anchor in enumerate(("mean", "medoid")):
        heights = [result[anchor][kind]["median_factor"] for kind in KINDS]
        factors.bar(
            np.arange(len(KINDS)) + 0.4 * (k - 0.5), heights, 0.4, label=anchor, color=("#c2185b", "#8d9db6")[k]
        )
    factors.axhline(1, color="black", lw=0.8)
    factors.set(yscale="log", title="median contraction of one correction", xticks=range(len(KINDS)))
    factors.set_xticklabels(KINDS, fontsize=8)
    factors.legend(frameon=False, fontsize=8)
    return figure
