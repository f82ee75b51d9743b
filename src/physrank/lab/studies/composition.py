"""Study 3: a library with an outlying run. The mean anchor is pulled away; the medoid is not; fewer candidates help.

The trained outlier is as far off as its training made it. To see where the mean anchor breaks, its departure from the other
runs is also multiplied, on some of the inputs.
"""

from collections.abc import Iterable
from functools import cache, partial
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from physrank import ranking, tasks
from physrank.geometry.space import Array
from physrank.lab.evaluation import Outcomes, Recovery
from physrank.lab.libraries import GROUPS, Library
from physrank.lab.studies._kit import drawing, tables
from physrank.lab.studies._kit.cases import Context, evaluate, measure, problems_and_candidates, references_of
from physrank.ranking import scorers
from physrank.ranking.candidates import Candidates

FARTHER = (1, 4, 16, 64)  # multiples of the outlying run's departure from the mean of the others
SOME = 48  # inputs of each library on which it is moved
ON_EIGHT = {
    "mean": scorers.SharedResponse(),
    "medoid": partial(scorers.SharedResponse(), anchor="medoid"),
    "auto": partial(scorers.SharedResponse(), anchor="auto"),
    "raw residual": scorers.RawResidual(),
    "candidates only, medoid": scorers.MedoidCentrality(),
}


def run(context: Context) -> tuple[dict[str, Any], Figure]:
    cells: dict[str, Any] = {}
    for library in GROUPS["stress"]:
        mean, medoid = (evaluate(context, library, anchor=anchor) for anchor in ("mean", "medoid"))
        kept = _kept(context, library)
        recomputed = _recomputed(context, library, kept)
        losses = mean.losses
        cells[library.name] = {
            "outlying_run": library.outlier,
            "outlier_loss_ratio": float(np.median(losses[:, _others(kept, losses)].min(1) / losses[:, kept].min(1))),
            "eight, mean anchor": _counts(losses, mean.scores["shared"]),
            "eight, medoid anchor": _counts(losses, medoid.scores["shared"]),
            "eight, raw residual": _counts(losses, mean.scores["raw"]),
            "six of eight, mean of eight": _counts(losses[:, kept], mean.scores["shared"][:, kept]),
            "six of eight, mean of six": _counts(recomputed["losses"], recomputed["score shared"]),
            "candidates only, medoid": _counts(losses, mean.scores["medoid centrality"]),
            "candidates only, mean": _counts(losses, mean.scores["mean centrality"]),
            "candidates only, median": _counts(losses, _median_scores(context, library)),
        }
    names = [key for key in next(iter(cells.values())) if isinstance(next(iter(cells.values()))[key], dict)]
    result = {
        "study": "composition",
        "profile": context.profile.name,
        "cells": cells,
        "pooled": {
            name: {
                key: int(sum(cell[name][key] for cell in cells.values()))
                for key in (
                    "cases",
                    "pairs_all",
                    "strict_correct",
                    "top1_exact",
                    "pairs",
                    "pairs_correct",
                    "top1_tolerant",
                )
            }
            for name in names
        },
        "farther": {str(factor): _farther(context, factor) for factor in FARTHER},
        "paper": {
            "eight, mean anchor": {"pairs": 0.979883, "top1": 0.945833},
            "affected cell": "67/240, medoid 240/240",
        },
    }
    return result, _figure(result, names)


def _kept(context: Context, library: Library) -> list[int]:
    """Candidates that do not come from the outlying run."""
    return [k for k, (_, run, _) in enumerate(library.candidates(context.profile)) if run != library.outlier]


def _others(kept: list[int], losses: Array) -> list[int]:
    return [k for k in range(losses.shape[1]) if k not in kept]


def _counts(losses: Array, scores: Array) -> dict[str, Any]:
    return Recovery.from_outcomes(Outcomes.of(losses, scores)).to_dict()


def _recomputed(context: Context, library: Library, kept: list[int]) -> dict[str, Array]:
    """Anchor and response from the clustered candidates alone."""

    def pairs() -> list[tuple[Any, dict[str, Array]]]:
        return _only(kept, problems_and_candidates(context, library, library.instances))

    key = context.content(library, library.instances) | {"kept": kept}
    return measure(
        context,
        "six",
        key,
        pairs,
        lambda: references_of(context, library, library.instances),
        {"shared": scorers.SharedResponse()},
    )


def _median_scores(context: Context, library: Library) -> Array:
    """Squared distance to the pointwise median of the outputs: the robust centre that looks at candidates only."""

    def score(problem: Any, candidates: dict[str, Array]) -> ranking.Scores:
        target = np.median(np.stack(list(candidates.values())), axis=0)
        task = tasks.resolve(None, problem)
        states = Candidates.of(candidates | {"centre": target}, problem).states
        outputs = task.outputs(states)
        values = task.space(outputs).norm_squared(outputs[:-1] - outputs[-1])
        return ranking.Scores("distance to median", tuple(candidates), values)

    found = measure(
        context,
        "median",
        context.content(library, library.instances),
        lambda: list(problems_and_candidates(context, library, library.instances)),
        lambda: references_of(context, library, library.instances),
        {"median": score},
    )
    return found["score median"]


def _farther(context: Context, factor: int) -> dict[str, Any]:
    """Recovery over all libraries, with the outlying run of each moved away from the others."""
    both = [_farther_library(context, library, factor) for library in GROUPS["stress"]]
    eight, six = [e for e, _ in both], [s for _, s in both]
    return {f"eight, {name}": _pooled_counts(eight, name) for name in ON_EIGHT} | {
        "six, mean": _pooled_counts(six, "mean")
    }


def _farther_library(context: Context, library: Library, factor: int) -> tuple[dict[str, Array], dict[str, Array]]:
    """All eight with the outlier at c + factor (v − c), c the mean of the others; and those others alone."""
    count = min(SOME, context.profile.evaluation)
    kept = _kept(context, library)

    @cache  # two passes below, one reading
    def moved() -> list[Any]:
        found = problems_and_candidates(context, library, library.instances, limit=count)
        return [(problem, _moved(candidates, kept, factor)) for problem, candidates in found]

    def clustered() -> list[Any]:
        return _only(kept, moved())

    def revealed() -> Any:
        return references_of(context, library, library.instances)[:count]

    key = context.content(library, library.instances) | {"limit": count}
    eight = measure(context, "farther", key | {"factor": factor}, moved, revealed, ON_EIGHT)
    return eight, measure(context, "clustered", key, clustered, revealed, {"mean": ON_EIGHT["mean"]})


def _only(kept: list[int], cases: Iterable[Any]) -> list[Any]:
    """The clustered candidates of each case."""
    return [(problem, dict(item for k, item in enumerate(c.items()) if k in kept)) for problem, c in cases]


def _moved(candidates: dict[str, Array], kept: list[int], factor: int) -> dict[str, Array]:
    centre = np.mean([v for k, v in enumerate(candidates.values()) if k in kept], axis=0)
    return {n: v if k in kept else centre + factor * (v - centre) for k, (n, v) in enumerate(candidates.items())}


def _pooled_counts(found: list[dict[str, Array]], method: str) -> dict[str, Any]:
    losses, scores = (np.concatenate([f[key] for f in found]) for key in ("losses", f"score {method}"))
    return _counts(losses, scores) | {"unresolved": int(np.isnan(scores).all(axis=1).sum())}


def claims(result: dict[str, Any]) -> list[tuple[str, bool]]:
    pooled = result["pooled"]
    pairs = {name: row["strict_correct"] / row["pairs_all"] for name, row in pooled.items()}
    best_blind = max(pairs[name] for name in pairs if name.startswith("candidates only"))
    return [
        (
            f"the trained outliers are too mild to matter: both anchors recover more than 99 % of pairs "
            f"(medoid {pairs['eight, medoid anchor']:.2%}, mean {pairs['eight, mean anchor']:.2%})",
            min(pairs["eight, medoid anchor"], pairs["eight, mean anchor"]) > 0.99,
        ),
        (
            f"recomputing on the six clustered candidates recovers at least as many of their pairs as keeping the anchor of "
            f"eight ({pairs['six of eight, mean of six']:.2%} against {pairs['six of eight, mean of eight']:.2%})",
            pairs["six of eight, mean of six"] >= pairs["six of eight, mean of eight"],
        ),
        (
            f"with the outlier {FARTHER[-1]} times farther off, the medoid anchor keeps more than 99 % of pairs "
            f"and winners, and the mean anchor does not (winners: {_top1(result, 'medoid'):.1%}, "
            f"{_top1(result, 'mean'):.1%})",
            min(_top1(result, "medoid"), _pairs(result, "medoid")) > 0.99 > _top1(result, "mean"),
        ),
        (f"no choice that looks at candidates only comes near ({best_blind:.1%} of pairs)", best_blind < 0.85),
    ]


def _top1(result: dict[str, Any], anchor: str) -> float:
    row = result["farther"][str(FARTHER[-1])][f"eight, {anchor}"]
    return row["top1_exact"] / row["cases"]


def _pairs(result: dict[str, Any], anchor: str) -> float:
    return tables.share(result["farther"][str(FARTHER[-1])][f"eight, {anchor}"], strict=True)[0]


def _figure(result: dict[str, Any], names: list[str]) -> Figure:
    figure: Any = Figure(figsize=(12, 6.4), layout="constrained")
    upper, lower = figure.subplots(2, 1, height_ratios=(3, 2))
    _bars(upper, result["cells"], names)
    colours = {
        "eight, mean": "#c2185b",
        "eight, medoid": "#7b1fa2",
        "six, mean": "#a04000",
        "eight, raw residual": "#5c6f82",
    }
    for name, colour in colours.items():
        values = [result["farther"][str(f)][name] for f in FARTHER]
        lower.plot(FARTHER, [v["top1_exact"] / v["cases"] for v in values], "o-", color=colour, label=name)
    lower.set(xscale="log", xlabel="outlier's departure, times what it was", ylim=(0, 1.05), title="exact top-1")
    lower.set_xticks(FARTHER, [str(f) for f in FARTHER])
    lower.minorticks_off()
    lower.legend(frameon=False, fontsize=7, loc="center left", bbox_to_anchor=(1, 0.5))
    return figure


def _bars(axis: Any, cells: dict[str, Any], names: list[str]) -> None:
    palette = ["#c2185b", "#7b1fa2", "#5c6f82", "#e08aa9", "#a04000", "#8d9db6", "#a9b8c9", "#c9d3df"]
    places, width = np.arange(len(cells)), 0.8 / len(names)
    for k, name in enumerate(names):
        values = [tables.share(cell[name], strict=True)[0] for cell in cells.values()]
        axis.bar(places + (k - (len(names) - 1) / 2) * width, values, width, label=name, color=palette[k])
    axis.set_xticks(places, [drawing.cell_label(c) for c in cells])
    axis.set(title="strict pairs recovered in libraries with one outlying run", ylim=(0, 1.05))
    axis.legend(frameon=False, fontsize=7, ncols=1, loc="center left", bbox_to_anchor=(1, 0.5))
