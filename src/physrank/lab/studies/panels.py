"""Study 6: one checkpoint for good, chosen from an unlabeled panel of inputs and judged on other inputs."""

from typing import Any

import numpy as np
from matplotlib.figure import Figure

from physrank.geometry.space import Array
from physrank.lab.evaluation import SEEDS, panel_selection_bootstrap
from physrank.lab.libraries import GROUPS
from physrank.lab.studies._kit import drawing
from physrank.lab.studies._kit.cases import Cases, Context, evaluate
from physrank.lab.studies._kit.choosing import by_library, judged, one_by_one, regrets, winners

WISE = "candidate-wise"
CHOOSERS = ("shared", "raw", "mean centrality", "medoid centrality", "validation", WISE)
PAPER = {
    "shared": {"3": 0.1269, "6": 0.1335, "12": 0.0481, "24": 0.0351},
    "raw": {"3": 0.266, "6": 0.2506, "12": 0.2148, "24": 0.1866},
}


def run(context: Context) -> tuple[dict[str, Any], Figure]:
    profile, libraries = context.profile, GROUPS["primary"]
    chosen_on = [evaluate(context, library, "panel", reveal=False) for library in libraries]
    judged_on = [evaluate(context, library, "deployment") for library in libraries]
    scores = {method: [c.scores[method] for c in chosen_on] for method in CHOOSERS if method != WISE}
    inputs = profile.panels * profile.panel_size
    scores[WISE] = [one_by_one(context, library, "panel", inputs) for library in libraries]
    sizes = [b for b in (3, 6, 12, 24) if b <= profile.panel_size]
    joined = [b for b in (48, 72, 96, 144, 192) if b <= profile.panels * profile.panel_size and b > profile.panel_size]
    risk = np.stack([c.losses.mean(axis=0) for c in judged_on])  # (libraries, candidates)
    table: dict[str, dict[str, Any]] = {method: {} for method in CHOOSERS}
    cells: dict[str, dict[str, Any]] = {}
    spread: dict[str, list[float]] = {}
    for method in CHOOSERS:
        for size in (*sizes, *joined):
            picks = np.stack([_picks(of, size, profile.panels, profile.panel_size) for of in scores[method]])
            table[method][str(size)] = judged(picks, risk)
            if size in sizes:
                table[method][str(size)] |= {"interval": _interval(picks, judged_on)}
            if size == sizes[-1]:
                cells[method] = by_library([library.name for library in libraries], picks, risk)
                spread[method] = regrets(picks, risk)
    result = {
        "study": "panels",
        "profile": profile.name,
        "libraries": len(libraries),
        "panels": profile.panels,
        "sizes": sizes + joined,
        "table": table,
        "cells": cells,
        "regret": spread,
        "paper": PAPER,
    }
    return result, _figure(result)


def _picks(scores: Array, size: int, panels: int, length: int) -> np.ndarray:
    """The winner of each panel's first `size` inputs: the strata rotate, so every prefix of three is balanced.

    Longer ones are panels joined end to end, each starting at another one.
    """
    cut = scores.reshape(panels, length, -1)
    if size <= length:
        return winners(cut[:, :size])
    count = size // length
    return winners(np.stack([np.concatenate([cut[(p + k) % panels] for k in range(count)]) for p in range(panels)]))


def _interval(picks: np.ndarray, judged_on: list[Cases]) -> dict[str, Any]:
    losses = np.stack([c.losses for c in judged_on])
    equations = [c.library.equation for c in judged_on]
    return panel_selection_bootstrap(picks, losses, equations, judged_on[0].strata, seed=SEEDS["panel"]).to_dict()


def claims(result: dict[str, Any]) -> list[tuple[str, bool]]:
    shared, raw = result["table"]["shared"], result["table"]["raw"]
    first, last = str(result["sizes"][0]), str(max(b for b in result["sizes"] if b <= 24))
    a, b, c = (row["mean_normalized_regret"] for row in (shared[first], shared[last], raw[last]))
    return [
        (f"more inputs choose better: normalized regret {a:.3f} with {first}, {b:.3f} with {last}", b <= a + 1e-9),
        (f"with {last} inputs the shared score chooses better than the raw residual ({b:.3f} against {c:.3f})", b < c),
    ]


def _figure(result: dict[str, Any]) -> Figure:
    figure: Any = Figure(figsize=(9, 3.2), layout="constrained")
    regret, top = figure.subplots(1, 2)
    for method, rows in result["table"].items():
        sizes = [int(b) for b in rows]
        marker = drawing.MARKERS[method]
        options = {
            "color": drawing.COLOURS[method],
            "label": method,
            "markersize": 4,
            "ls": ":" if method == WISE else "-",
        }
        regret.plot(sizes, [row["mean_normalized_regret"] for row in rows.values()], marker, **options)
        top.plot(sizes, [row["top2"] / row["routes"] for row in rows.values()], marker, **options)
    for axis, title in ((regret, "mean normalized regret"), (top, "choice among the two best")):
        axis.set(xscale="log", xlabel="inputs in the panel", title=title)
        axis.set_xticks(result["sizes"], [str(b) for b in result["sizes"]], fontsize=7)
        axis.minorticks_off()
    figure.legend(*regret.get_legend_handles_labels(), loc="outside lower center", ncols=6, frameon=False, fontsize=8)
    return figure
