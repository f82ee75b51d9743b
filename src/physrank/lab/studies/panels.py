"""Study 6: one checkpoint for good, chosen from an unlabeled panel of inputs and judged on other inputs."""

from typing import Any

import numpy as np
from matplotlib.figure import Figure

from physrank.geometry.decisions import REGRET_FLOOR
from physrank.geometry.space import Array
from physrank.lab.evaluation import SEEDS, panel_selection_bootstrap
from physrank.lab.libraries import GROUPS
from physrank.lab.studies._kit import drawing
from physrank.lab.studies._kit.cases import Cases, Context, evaluate

CHOOSERS = ("shared", "raw", "mean centrality", "validation")
PAPER = {
    "shared": {"3": 0.1269, "6": 0.1335, "12": 0.0481, "24": 0.0351},
    "raw": {"3": 0.266, "6": 0.2506, "12": 0.2148, "24": 0.1866},
}


def run(context: Context) -> tuple[dict[str, Any], Figure]:
    profile = context.profile
    chosen_on = [evaluate(context, library, "panel", reveal=False) for library in GROUPS["primary"]]
    judged_on = [evaluate(context, library, "deployment") for library in GROUPS["primary"]]
    sizes = [b for b in (3, 6, 12, 24) if b <= profile.panel_size]
    joined = [b for b in (48, 72, 96, 144, 192) if b <= profile.panels * profile.panel_size and b > profile.panel_size]
    risk = np.stack([c.losses.mean(axis=0) for c in judged_on])  # (libraries, candidates)
    table: dict[str, dict[str, Any]] = {method: {} for method in CHOOSERS}
    for method in CHOOSERS:
        for size in sizes:
            picks = np.stack([_picks(cases, method, size, profile.panels, profile.panel_size) for cases in chosen_on])
            table[method][str(size)] = _row(picks, risk) | {"interval": _interval(picks, judged_on)}
        for size in joined:  # panels joined end to end, each starting at another one
            picks = np.stack([_joined(cases, method, size, profile.panels, profile.panel_size) for cases in chosen_on])
            table[method][str(size)] = _row(picks, risk)
    result = {
        "study": "panels",
        "profile": profile.name,
        "libraries": len(chosen_on),
        "panels": profile.panels,
        "sizes": sizes + joined,
        "table": table,
        "paper": PAPER,
    }
    return result, _figure(result)


def _picks(cases: Cases, method: str, size: int, panels: int, length: int) -> np.ndarray:
    """The winner of each panel's first `size` inputs: the strata rotate, so every prefix of three is balanced."""
    return _winners(cases.scores[method].reshape(panels, length, -1)[:, :size])


def _joined(cases: Cases, method: str, size: int, panels: int, length: int) -> np.ndarray:
    scores = cases.scores[method].reshape(panels, length, -1)
    count = size // length
    return _winners(np.stack([np.concatenate([scores[(p + k) % panels] for k in range(count)]) for p in range(panels)]))


def _winners(scores: Array) -> np.ndarray:
    """The least mean score of each panel `(panels, inputs, candidates)`, over the inputs that were resolved."""
    resolved: np.ndarray = np.all(np.isfinite(scores), axis=2)
    if not np.all(np.any(resolved, axis=1)):
        raise ValueError("A panel has no input whose response was resolved: there is nothing to choose from.")
    return np.argmin(np.mean(scores, axis=1, where=resolved[:, :, None]), axis=1)


def _row(picks: np.ndarray, risk: Array) -> dict[str, Any]:
    """Over all (library, panel) routes."""
    best, worst = risk.min(axis=1, keepdims=True), risk.max(axis=1, keepdims=True)
    excess = np.take_along_axis(risk, picks, axis=1) - best
    places = np.argsort(np.argsort(risk, axis=1, kind="stable"), axis=1)
    return {
        "routes": int(picks.size),
        "mean_normalized_regret": float((excess / np.maximum(worst - best, REGRET_FLOOR)).mean()),
        "exact": int(np.sum(picks == risk.argmin(axis=1)[:, None])),
        "tolerant": int(np.sum(excess <= 1e-6)),
        "top2": int(np.sum(np.take_along_axis(places, picks, axis=1) < 2)),
    }


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
        options = {"color": drawing.COLOURS[method], "label": method, "markersize": 4}
        regret.plot(sizes, [row["mean_normalized_regret"] for row in rows.values()], "o-", **options)
        top.plot(sizes, [row["top2"] / row["routes"] for row in rows.values()], "o-", **options)
    for axis, title in ((regret, "mean normalized regret"), (top, "choice among the two best")):
        axis.set(xscale="log", xlabel="inputs in the panel", title=title)
        axis.set_xticks(result["sizes"], [str(b) for b in result["sizes"]], fontsize=7)
        axis.minorticks_off()
    figure.legend(*regret.get_legend_handles_labels(), loc="outside lower center", ncols=4, frameon=False, fontsize=8)
    return figure
