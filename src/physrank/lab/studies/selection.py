"""Study 19: long panels. Sixteen additional libraries, inputs of their own to choose on and to judge by, library by library.

Every panel has 144 inputs that no other study has seen; choices are judged by the references of a third population. The
medoid is the anchor, as in the study of these libraries, with the mean beside it. One response per candidate costs eight
times as much: it is asked of the first panels of every library only, beside what the shared response chooses on the same.
"""

from typing import Any

import numpy as np
from matplotlib.figure import Figure

from physrank.lab.evaluation import SEEDS, panel_selection_bootstrap
from physrank.lab.libraries import ARCHITECTURES, GROUPS, equations_of
from physrank.lab.studies._kit import drawing, tables
from physrank.lab.studies._kit.cases import Context, evaluate
from physrank.lab.studies._kit.choosing import by_library, judged, one_by_one, regrets, winners

OURS, WISE = "shared, medoid anchor", "candidate-wise"
BLIND = ("raw", "mean centrality", "medoid centrality", "validation")  # scores that no anchor changes
WISE_PANELS = (
    2  # of every library, in one response per candidate: ten minutes on one core, all of them would take forty
)
PAPER = {OURS: {"routes": 128, "tolerant": 122, "top2": 128}}


def run(context: Context) -> tuple[dict[str, Any], Figure]:
    profile, libraries = context.profile, GROUPS["additional"]
    chosen_on = {
        anchor: [evaluate(context, library, "selection", anchor=anchor, reveal=False) for library in libraries]
        for anchor in ("medoid", "mean")
    }
    judged_on = [evaluate(context, library, "service", anchor="medoid", level="second") for library in libraries]
    risk = np.stack([c.losses.mean(axis=0) for c in judged_on])
    scores = {f"shared, {anchor} anchor": [c.scores["shared"] for c in many] for anchor, many in chosen_on.items()}
    scores |= {method: [c.scores[method] for c in chosen_on["medoid"]] for method in BLIND}
    few = min(WISE_PANELS, profile.long_panels)
    scores[WISE] = [one_by_one(context, library, "selection", few * profile.long_size) for library in libraries]
    losses, equations = np.stack([c.losses for c in judged_on]), [c.library.equation for c in judged_on]
    names = [library.name for library in libraries]
    table, cells, chosen, spread = {}, {}, {}, {}
    for method, of in scores.items():
        chosen[method] = picks = np.stack([winners(one.reshape(-1, profile.long_size, one.shape[-1])) for one in of])
        interval = panel_selection_bootstrap(picks, losses, equations, judged_on[0].strata, seed=SEEDS["additional"])
        table[method] = judged(picks, risk) | {"interval": interval.to_dict()}
        cells[method], spread[method] = by_library(names, picks, risk), regrets(picks, risk)
    shared = chosen[OURS][:, :few]  # the same panels
    result = {
        "study": "selection",
        "profile": profile.name,
        "libraries": len(libraries),
        "panels": profile.long_panels,
        "size": profile.long_size,
        "judged_on": profile.service,
        "table": table,
        "cells": cells,
        "groups": _groups(cells),
        "regret": spread,
        "on_the_same": {
            "panels": few,
            "same_choice": int(np.sum(shared == chosen[WISE])),
            OURS: judged(shared, risk),
            WISE: judged(chosen[WISE], risk),
        },
        "input_fingerprint": tables.input_fingerprints(libraries),
        "paper": PAPER,
    }
    return result, _figure(result)


def _groups(cells: dict[str, dict[str, Any]]) -> dict[str, dict[str, float]]:
    """Mean normalized regret by equation and architecture: where the paper's shared score did not beat the raw one."""
    names = [f"{e.name}-{a}" for e in equations_of(GROUPS["additional"]) for a in ARCHITECTURES]
    found: dict[str, dict[str, float]] = {}
    for method, of in cells.items():
        rows = {
            group: [row["mean_normalized_regret"] for name, row in of.items() if name.startswith(f"{group}-")]
            for group in names
        }
        found[method] = {group: float(np.mean(values)) for group, values in rows.items() if values}
    return found


def claims(result: dict[str, Any]) -> list[tuple[str, bool]]:
    ours, raw = result["table"][OURS], result["table"]["raw"]
    a, b = (row["mean_normalized_regret"] for row in (ours, raw))
    same, routes = result["on_the_same"]["same_choice"], result["on_the_same"][WISE]["routes"]
    return [
        (
            f"the shared score chooses better than the raw residual ({a:.4f} against {b:.4f} of normalized regret)",
            a < b,
        ),
        (
            f"at least 95 % of choices are among the two best ({ours['top2']} of {ours['routes']})",
            ours["top2"] >= 0.95 * ours["routes"],
        ),
        (
            f"one response for all chooses as one for each candidate does, on at least 95 % of the panels that both were "
            f"asked of ({same} of {routes})",
            same >= 0.95 * routes,
        ),
    ]


def _figure(result: dict[str, Any]) -> Figure:
    figure: Any = Figure(figsize=(11, 3.4), layout="constrained")
    axis = figure.subplots()
    shown = {"shared": OURS, "raw": "raw", "validation": "validation"}
    places, width = np.arange(result["libraries"]), 0.8 / len(shown)
    names = list(result["cells"]["raw"])
    for k, (method, key) in enumerate(shown.items()):
        values = [result["cells"][key][name]["mean_normalized_regret"] for name in names]
        axis.bar(places + (k - 1) * width, values, width, color=drawing.COLOURS[method], label=key)
    axis.set_xticks(places, [drawing.cell_label(name) for name in names], rotation=45, ha="right", fontsize=7)
    axis.set(title=f"mean normalized regret of {result['panels']} choices, {result['size']} inputs each")
    axis.legend(frameon=False, fontsize=8)
    return figure
