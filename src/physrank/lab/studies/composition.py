"""Study 3: a library with an outlying run. The mean anchor is pulled away; the medoid is not; fewer candidates help."""

from typing import Any

import numpy as np
from matplotlib.figure import Figure

from physrank import ranking, tasks
from physrank.geometry.space import Array
from physrank.lab.libraries import GROUPS, Library
from physrank.lab.studies._kit import drawing, tables
from physrank.lab.studies._kit.cases import Context, evaluate, measure, problems_and_candidates, references_of
from physrank.lab.studies._kit.outlying import clustered, counts, only, summed
from physrank.ranking import scorers
from physrank.ranking.candidates import Candidates

PAPER = {
    "eight, mean anchor": {"pairs": 0.979883, "top1": 0.945833},
    "eight, raw residual": {"pairs": 0.717736, "top1": 0.410677},
    "affected cell": {
        "eight, mean anchor": {"pairs": 0.729762, "top1": 67 / 240},
        "eight, medoid anchor": {"pairs": 1.0, "top1": 1.0},
        "six of eight, mean of eight": {"pairs": 0.545278},
        "six of eight, mean of six": {"pairs": 1.0, "top1": 1.0},
    },
}


def run(context: Context) -> tuple[dict[str, Any], Figure]:
    cells: dict[str, Any] = {}
    for library in GROUPS["stress"]:
        mean, medoid = (evaluate(context, library, anchor=anchor) for anchor in ("mean", "medoid"))
        kept = clustered(context, library)
        recomputed = _scored(context, library, "six", {"shared": scorers.SharedResponse()}, kept)
        losses = mean.losses
        cells[library.name] = {
            "outlying_run": library.outlier,
            "outlier_loss_ratio": float(np.median(np.delete(losses, kept, axis=1).min(1) / losses[:, kept].min(1))),
            "eight, mean anchor": counts(losses, mean.scores["shared"]),
            "eight, medoid anchor": counts(losses, medoid.scores["shared"]),
            "eight, raw residual": counts(losses, mean.scores["raw"]),
            "six of eight, mean of eight": counts(losses[:, kept], mean.scores["shared"][:, kept]),
            "six of eight, mean of six": counts(recomputed["losses"], recomputed["score shared"]),
            "candidates only, medoid": counts(losses, mean.scores["medoid centrality"]),
            "candidates only, mean": counts(losses, mean.scores["mean centrality"]),
            "candidates only, median": counts(
                losses, _scored(context, library, "median", {"median": _by_median})["score median"]
            ),
        }
    names = [name for name, row in next(iter(cells.values())).items() if isinstance(row, dict)]
    result = {
        "study": "composition",
        "profile": context.profile.name,
        "cells": cells,
        "pooled": {name: summed(cell[name] for cell in cells.values()) for name in names},
        "paper": PAPER,
    }
    return result, _figure(result, names)


def _scored(
    context: Context, library: Library, what: str, by: dict[str, Any], kept: list[int] | None = None
) -> dict[str, Array]:
    """Scores of all candidates, or of the kept ones alone, which then have an anchor of their own."""

    def cases() -> list[tuple[Any, dict[str, Array]]]:
        every = problems_and_candidates(context, library, library.instances)
        return list(every) if kept is None else [(problem, only(kept, candidates)) for problem, candidates in every]

    key = context.content(library, library.instances) | ({} if kept is None else {"kept": kept})
    return measure(context, what, key, cases, lambda: references_of(context, library, library.instances), by)


def _by_median(problem: Any, candidates: dict[str, Array]) -> ranking.Scores:
    """Squared distance to the pointwise median of the outputs: the robust centre that looks at candidates only."""
    target, task = np.median(np.stack(list(candidates.values())), axis=0), tasks.resolve(None, problem)
    outputs = task.outputs(Candidates.of(candidates | {"centre": target}, problem).states)
    values = task.space(outputs).norm_squared(outputs[:-1] - outputs[-1])
    return ranking.Scores("distance to median", tuple(candidates), values)


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
        (f"no choice that looks at candidates only comes near ({best_blind:.1%} of pairs)", best_blind < 0.85),
    ]


def _figure(result: dict[str, Any], names: list[str]) -> Figure:
    figure: Any = Figure(figsize=(12, 4.2), layout="constrained")
    _cells_in_numbers(figure.subplots(), result["cells"], names)
    return figure


def _cells_in_numbers(axis: Any, cells: dict[str, Any], names: list[str]) -> None:
    """Every library a column, every way of ranking a row: bars of sixteen libraries would be too thin to read."""
    shares = np.array([[tables.share(cell[name], strict=True)[0] for cell in cells.values()] for name in names])
    axis.imshow(shares, vmin=0.3, vmax=1, cmap="cividis", aspect="auto")
    for (row, column), share in np.ndenumerate(shares):
        said = f"{np.floor(1000 * share) / 10:.1f}" if share < 1 else "100"  # whole only where nothing is missed
        axis.text(column, row, said, ha="center", va="center", fontsize=7, color="black" if share > 0.6 else "white")
    axis.set_xticks(range(len(cells)), [drawing.cell_label(c) for c in cells], fontsize=7)
    if len(cells) > 8:
        axis.tick_params(axis="x", rotation=45)
    axis.set_yticks(range(len(names)), names, fontsize=8)
    axis.set(title="strict pairs recovered in libraries with one outlying run, in %")
