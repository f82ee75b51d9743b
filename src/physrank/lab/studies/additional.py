"""Study 2: sixteen libraries that nothing was tuned on, scored strictly, with the medoid and with the mean as anchor."""

from typing import Any

import numpy as np
from matplotlib.figure import Figure

from physrank.lab.evaluation import SEEDS, Outcomes, hierarchical
from physrank.lab.libraries.plan import GROUPS
from physrank.lab.studies import drawing, tables
from physrank.lab.studies.cases import Cases, Context, evaluate

PAPER = {
    "medoid": {"shared": {"pairs": 0.997070, "top1": 0.989583}, "raw": {"pairs": 0.704362, "top1": 0.435156}},
}


def run(context: Context) -> tuple[dict[str, Any], Figure]:
    found = {
        anchor: [evaluate(context, library, anchor=anchor, level="second") for library in GROUPS["additional"]]
        for anchor in ("medoid", "mean")
    }
    result = {
        "study": "additional",
        "profile": context.profile.name,
        "libraries": len(found["medoid"]),
        "inputs": 2 * context.profile.evaluation,
        "pooled": {
            anchor: {m: tables.recovery(many, m, strict=True, seed=SEEDS["additional"]) for m in ("shared", "raw")}
            for anchor, many in found.items()
        },
        "hierarchical": {m: _equal_weight(found["medoid"], m) for m in ("shared", "raw")},
        "cells": {anchor: tables.cells(many, ("shared", "raw"), strict=True) for anchor, many in found.items()},
        "paper": PAPER,
    }
    return result, _figure(result)


def _equal_weight(many: list[Cases], method: str) -> dict[str, Any]:
    """Every library counts the same; libraries and inputs are resampled, shared inputs stay together."""
    equations = list(dict.fromkeys(c.library.equation for c in many))
    count = len(many[0].losses)
    values = np.zeros((len(many), len(equations) * count))
    evaluated = np.zeros(values.shape, bool)
    for row, cases in enumerate(many):
        place = equations.index(cases.library.equation) * count
        outcomes = Outcomes.of(cases.losses, cases.scores[method])
        values[row, place : place + count] = outcomes.strict_correct / outcomes.pairs
        evaluated[row, place : place + count] = True
    return hierarchical(
        values,
        evaluated=evaluated,
        library_groups=[f"{c.library.equation}-{c.library.architecture}" for c in many],
        input_strata=[f"{equation}-{stratum}" for equation in equations for stratum in many[0].strata],
        seed=SEEDS["additional"],
    ).to_dict()


def claims(result: dict[str, Any]) -> list[tuple[str, bool]]:
    pairs, top = tables.share(result["pooled"]["medoid"]["shared"], strict=True)
    raw, _ = tables.share(result["pooled"]["medoid"]["raw"], strict=True)
    return [
        (f"medoid anchor: more than 98 % of strict pairs ({pairs:.2%})", pairs > 0.98),
        (f"medoid anchor: more than 93 % of exact top-1 ({top:.2%})", top > 0.93),
        (f"raw residual is far below ({raw:.1%})", raw < pairs - 0.15),
    ]


def _figure(result: dict[str, Any]) -> Figure:
    figure: Any = Figure(figsize=(11, 3.4), layout="constrained")
    axis = figure.subplots()
    rows = result["cells"]
    series = {
        "shared": [tables.share(rows["medoid"][c]["shared"], strict=True)[0] for c in rows["medoid"]],
        "shared, mean anchor": [tables.share(rows["mean"][c]["shared"], strict=True)[0] for c in rows["medoid"]],
        "raw": [tables.share(rows["medoid"][c]["raw"], strict=True)[0] for c in rows["medoid"]],
    }
    drawing.paired_bars(axis, [drawing.cell_label(c) for c in rows["medoid"]], series, "strict pairs recovered")
    return figure
