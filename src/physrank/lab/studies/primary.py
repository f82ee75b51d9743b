"""Study 1: do eight trained libraries, two equations, get the ranking that their hidden solutions give them?"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from physrank.lab.equations import EQUATIONS, Equation
from physrank.lab.evaluation import Outcomes, best_runner_up, concordance, margin_deciles
from physrank.lab.evaluation.compact import pictured
from physrank.lab.libraries import GROUPS, equations_of
from physrank.lab.studies._kit import drawing, tables
from physrank.lab.studies._kit.cases import SCORES, Cases, Context, evaluate

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
    of = {e.name: [c for c in many if c.library.declared is e] for e in equations_of(GROUPS["primary"])}
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
        "inputs": len(of) * context.profile.evaluation,
        "pooled": {method: tables.recovery(many, method) for method in SCORES},
        "by_equation": {
            equation: {method: tables.recovery(cases, method) for method in ("shared", "raw")}
            for equation, cases in of.items()
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
            **{f"{equation}_median_loss": _median_losses(cases) for equation, cases in of.items()},
        },
        "losses": {equation: _losses(cases) for equation, cases in of.items()},
        "input_fingerprint": tables.input_fingerprints(GROUPS["primary"]),
        "validation_loss_ratio": {c.library.name: tables.spread(c.scores["validation"][0]) for c in many},
        "pictured": pictured(losses, {method: tables.pooled(many, method)[1] for method in SCORES}, names),
        "median_seconds_shared": {c.library.name: float(np.median(c.seconds)) for c in many},
        "paper": PAPER,
    }
    regrets = {m: Outcomes.of(losses, tables.pooled(many, m)[1]).normalized_regret for m in SCORES}
    return result, _figure(result, regrets)


def _median_losses(cases: Sequence[Cases]) -> dict[str, float]:
    """Of q, of the best candidate, and from the best to the worst."""
    tables = {
        "proxy": [c.proxy_loss for c in cases],
        "best_candidate": [c.losses.min(axis=1) for c in cases],
        "span": [np.ptp(c.losses, axis=1) for c in cases],
    }
    return {name: float(np.median(np.concatenate(values))) for name, values in tables.items()}


def _losses(cases: Sequence[Cases]) -> dict[str, float]:
    """More of the same numbers, as the paper reports them, and the share of pairs that count as ties."""
    best, proxy = (np.concatenate(t) for t in ([c.losses.min(axis=1) for c in cases], [c.proxy_loss for c in cases]))
    outcomes = Outcomes.of(*tables.pooled(cases, "shared"))
    return {
        "best_candidate_q90": float(np.quantile(best, 0.9)),
        "best_candidate_mean": float(best.mean()),
        "proxy_mean": float(proxy.mean()),
        "tie_share": float(1 - outcomes.non_ties.sum() / outcomes.pairs.sum()),
    }


def claims(result: dict[str, Any]) -> list[tuple[str, bool]]:
    """What the README says of this study, checked against the stored table."""
    shared, raw = (tables.share(result["pooled"][m])[0] for m in ("shared", "raw"))
    return [
        *[_claim(EQUATIONS[equation], rows["shared"]) for equation, rows in result["by_equation"].items()],
        (
            f"raw residual is far below on the same cases ({raw:.1%} against {shared:.1%} of pairs)",
            raw <= shared - 0.15,
        ),
    ]


def _claim(equation: Equation, row: dict[str, Any]) -> tuple[str, bool]:
    """What the equation's declaration promises of the shared response."""
    (pairs, top1), least = tables.share(row), equation.claimed
    if least is None:
        return (
            f"{equation.title}: nothing is promised ({pairs:.2%} of non-tie pairs, {top1:.2%} of tolerant top-1)",
            True,
        )
    asked = f"{_at_least(least.pairs)} non-tie pairs and {_at_least(least.top1)} tolerant top-1"
    return f"{equation.title}: {asked} ({pairs:.4%}, {top1:.2%})", pairs >= least.pairs and top1 >= least.top1


def _at_least(share: float) -> str:
    return "all" if share == 1 else f"at least {100 * share:g} % of"


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
