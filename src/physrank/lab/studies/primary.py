"""Study 1: do eight trained libraries, two equations, get the ranking that their hidden solutions give them?"""

from typing import Any

import numpy as np
from matplotlib.figure import Figure

from physrank.lab.evaluation import Outcomes, best_runner_up, concordance, margin_deciles
from physrank.lab.libraries.plan import GROUPS
from physrank.lab.studies import drawing, tables
from physrank.lab.studies.cases import METHODS, Context, evaluate

PAPER = {
    "shared": {"pairs": 0.995925, "top1": 0.990104},
    "raw": {"pairs": 0.678325, "top1": 0.426563},
    "validation": {"pairs": 24814 / 49323, "top1": 420 / 1920},
    "mean centrality": {"pairs": 28134 / 49323, "top1": 329 / 1920},
    "medoid centrality": {"pairs": 27689 / 49323, "top1": 335 / 1920},
    "wrong input": {"pairs": 33885 / 49323, "top1": 884 / 1920},
    "reversed": {"pairs": 5080 / 49323, "top1": 59 / 1920},
}


def run(context: Context) -> tuple[dict[str, Any], Figure]:
    many = [evaluate(context, library) for library in GROUPS["primary"]]
    losses = np.concatenate([c.losses for c in many])
    names = [c.library.name for c in many for _ in range(len(c.losses))]
    ties = {"shared": tables.SHARED_TIE, "raw": tables.RAW_TIE}
    deciles = {method: margin_deciles(*tables.pooled(many, method), names) for method in ("shared", "raw")}
    three_way = {
        method: {
            "own tolerance": int(Outcomes.of(losses, scores, score_tolerance=tie).three_way_correct.sum()),
            "matched tolerance": int(Outcomes.of(losses, scores, score_tolerance=1e-6).three_way_correct.sum()),
            "pairs": int(losses.shape[0] * losses.shape[1] * (losses.shape[1] - 1) / 2),
        }
        for method, tie in ties.items()
        for scores in [tables.pooled(many, method)[1]]
    }
    proxy = np.concatenate([c.proxy_loss for c in many])
    result = {
        "study": "primary",
        "profile": context.profile.name,
        "libraries": len(many),
        "inputs": 2 * context.profile.evaluation,
        "pooled": {method: tables.recovery(many, method) for method in METHODS},
        "by_equation": {
            equation: {
                method: tables.recovery([c for c in many if c.library.equation == equation], method)
                for method in ("shared", "raw")
            }
            for equation in ("burgers", "reaction_diffusion")
        },
        "cells": tables.cells(many, ("shared", "raw")),
        "three_way": three_way,
        "deciles": {m: {"correct": d.correct.tolist(), "total": d.total.tolist()} for m, d in deciles.items()},
        "concordance": {
            m: concordance(*tables.pooled(many, m)).tolist() for m in ("shared", "raw", "wrong input", "reversed")
        },
        "best_runner_up": best_runner_up(losses).to_dict(),
        "unresolved": {
            "pairs": int(sum(c.unresolved_pairs.sum() for c in many)),
            "top1": int(sum(c.unresolved_top1.sum() for c in many)),
        },
        "direct_use_of_q": {
            "cases": len(proxy),
            "no_worse_than_best_candidate": int(np.sum(proxy <= losses.min(axis=1))),
            **{
                f"{c}_median_loss": {
                    "proxy": float(np.median(np.concatenate([x.proxy_loss for x in of]))),
                    "best_candidate": float(np.median(np.concatenate([x.losses.min(axis=1) for x in of]))),
                    "span": float(np.median(np.concatenate([np.ptp(x.losses, axis=1) for x in of]))),
                }
                for c in ("burgers", "reaction_diffusion")
                for of in [[x for x in many if x.library.equation == c]]
            },
        },
        "median_seconds_shared": {c.library.name: float(np.median(c.seconds)) for c in many},
        "paper": PAPER,
    }
    regrets = {m: Outcomes.of(losses, tables.pooled(many, m)[1]).normalized_regret for m in METHODS}
    return result, _figure(result, regrets)


def claims(result: dict[str, Any]) -> list[tuple[str, bool]]:
    """What the README says of this study, checked against the stored table."""
    rd, burgers = (result["by_equation"][e] for e in ("reaction_diffusion", "burgers"))
    (rd_pairs, rd_top), (b_pairs, b_top) = tables.share(rd["shared"]), tables.share(burgers["shared"])
    shared, raw = (tables.share(result["pooled"][m])[0] for m in ("shared", "raw"))
    return [
        (
            f"reaction–diffusion: every non-tie pair and every tolerant top-1 ({rd_pairs:.4%}, {rd_top:.2%})",
            rd_pairs == rd_top == 1,
        ),
        (f"Burgers: about 99 % of non-tie pairs or more ({b_pairs:.2%})", b_pairs >= 0.985),
        (f"Burgers: 95 % of tolerant top-1 or more ({b_top:.2%})", b_top >= 0.95),
        (
            f"raw residual is far below on the same cases ({raw:.1%} against {shared:.1%} of pairs)",
            raw <= shared - 0.15,
        ),
    ]


def _figure(result: dict[str, Any], regrets: dict[str, Any]) -> Figure:
    figure: Any = Figure(figsize=(12, 3.6), layout="constrained")
    bars, margins, regret = figure.subplots(1, 3, width_ratios=[1.5, 1, 1])
    cells = result["cells"]
    drawing.paired_bars(
        bars,
        [drawing.cell_label(name) for name in cells],
        {m: [tables.share(cells[c][m])[0] for c in cells] for m in ("shared", "raw")},
        "non-tie pairs recovered",
    )
    for method in ("shared", "raw"):
        row = result["deciles"][method]
        values = np.divide(row["correct"], np.maximum(row["total"], 1))
        margins.plot(range(1, 11), values, "o-", color=drawing.COLOURS[method], label=method, markersize=4)
    margins.set(
        xlabel="margin decile (1: closest pairs)", ylabel="pairs recovered", ylim=(0.4, 1.02), xticks=[1, 5, 10]
    )
    margins.legend(frameon=False)
    for method, values in regrets.items():
        heights = np.arange(1, len(values) + 1) / len(values)
        regret.step(np.sort(values), heights, where="post", label=method, color=drawing.COLOURS[method], lw=1.6)
    regret.set(xlabel="normalized regret of the choice", ylabel="share of cases", xlim=(-0.02, 1.02), ylim=(0, 1.02))
    regret.legend(frameon=False, fontsize=7, loc="lower right")
    return figure
