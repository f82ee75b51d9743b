"""Study 2: sixteen libraries that nothing was tuned on, scored strictly, with the medoid and with the mean as anchor."""

from typing import Any

import numpy as np
from matplotlib.figure import Figure

from physrank.geometry.space import Array
from physrank.lab.evaluation import SEEDS, Outcomes, hierarchical
from physrank.lab.evaluation.recovery import pair_gaps
from physrank.lab.libraries import GROUPS, equations_of
from physrank.lab.studies._kit import drawing, tables
from physrank.lab.studies._kit.cases import Cases, Context, evaluate

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
        "inputs": len(equations_of(GROUPS["additional"])) * context.profile.evaluation,
        "pooled": {
            anchor: {m: tables.recovery(many, m, strict=True, seed=SEEDS["additional"]) for m in ("shared", "raw")}
            for anchor, many in found.items()
        },
        "hierarchical": _equal_weights(found["medoid"]),
        "unresolved": {
            "pairs": int(sum(c.unresolved_pairs.sum() for c in found["medoid"])),
            "top1": int(sum(c.unresolved_top1.sum() for c in found["medoid"])),
        },
        "anchors_apart": _apart(found),
        "validation_loss_ratio": {c.library.name: tables.spread(c.scores["validation"][0]) for c in found["medoid"]},
        "cells": {anchor: tables.cells(many, ("shared", "raw"), strict=True) for anchor, many in found.items()},
        "input_fingerprint": tables.input_fingerprints(GROUPS["additional"]),
        "paper": PAPER,
    }
    return result, _figure(result)


def _apart(found: dict[str, list[Cases]]) -> dict[str, int]:
    """How often the two anchors order a pair, or choose, otherwise."""
    medoid, mean = (tables.pooled(many, "shared")[1] for many in found.values())
    return {
        "pairs": int(np.sum(np.sign(pair_gaps(medoid)) != np.sign(pair_gaps(mean)))),
        "top1": int(np.sum(medoid.argmin(axis=1) != mean.argmin(axis=1))),
    }


def _equal_weights(many: list[Cases]) -> dict[str, dict[str, Any]]:
    """Every library counts the same; replicates and inputs are resampled, and what shares either stays together."""
    shares = {m: [_shares(cases, m) for cases in many] for m in ("shared", "raw")}
    shares["shared − raw"] = [(a - c, b - d) for (a, b), (c, d) in zip(*shares.values(), strict=True)]
    return {
        method: {what: _resampled(many, [row[k] for row in rows]) for k, what in enumerate(("pairs", "top1"))}
        for method, rows in shares.items()
    }


def _shares(cases: Cases, method: str) -> tuple[Array, Array]:
    """Per input: the share of strict pairs, and whether the winner is found; what the reference cannot decide is wrong."""
    unresolved: dict[str, Any] = {"unresolved_pairs": cases.unresolved_pairs, "unresolved_top1": cases.unresolved_top1}
    outcomes = Outcomes.of(cases.losses, cases.scores[method], **unresolved)
    return outcomes.strict_correct / outcomes.pairs, outcomes.top1_exact.astype(float)


def _resampled(many: list[Cases], rows: list[Array]) -> dict[str, Any]:
    equations = list(dict.fromkeys(c.library.equation for c in many))
    count = len(rows[0])
    values = np.zeros((len(many), len(equations) * count))
    evaluated = np.zeros(values.shape, bool)
    for k, (cases, row) in enumerate(zip(many, rows, strict=True)):
        place = equations.index(cases.library.equation) * count
        values[k, place : place + count] = row
        evaluated[k, place : place + count] = True
    return hierarchical(
        values,
        evaluated=evaluated,
        matched_libraries=[c.library.member for c in many],
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
