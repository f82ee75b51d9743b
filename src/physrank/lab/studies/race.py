"""Study 10: how early does a race find whom the whole panel would choose, and how often is it wrong?"""

from typing import Any

import numpy as np
from matplotlib.figure import Figure

from physrank.geometry.space import Array
from physrank.lab.libraries import GROUPS, Library
from physrank.lab.studies._kit.cases import Context, problems_and_candidates, trusted
from physrank.lab.studies._kit.tables import input_fingerprints
from physrank.ranking.duels import Duels

TOLERANCES = (0.0, 0.01, 0.02, 0.05, 0.1, 0.2)
CONFIDENCE = 0.95
ROUTES = 24  # races of each library and size: panels × orders
SEED = 90210001
ARITHMETIC = 1  # of the table below: raised when what it computes changes


def run(context: Context) -> tuple[dict[str, Any], Figure]:
    profile = context.profile
    tables = {library.name: _measure(context, library) for library in GROUPS["primary"]}
    count = profile.panels * profile.panel_size
    sizes = [size for k in (1, 2, 4, 8) if (size := k * profile.panel_size) <= count]
    rows = {str(size): {f"{t:g}": _row(tables, size, t) for t in TOLERANCES} for size in sizes}
    result = {
        "study": "race",
        "profile": profile.name,
        "libraries": len(tables),
        "confidence": CONFIDENCE,
        "sizes": sizes,
        "table": rows,
        "half": {str(size): _half(tables, size) for size in sizes},
        "by_library": {name: _row({name: table}, sizes[-1], 0.05) for name, table in tables.items()},
        "input_fingerprint": input_fingerprints(GROUPS["primary"]),
    }
    return result, _figure(result)


def _measure(context: Context, library: Library) -> dict[str, Array]:
    """Scores and their uncertainties on the panel population, every candidate on every input."""

    def make() -> dict[str, Array]:
        cases = list(problems_and_candidates(context, library, "panel"))
        panel = context.panel(cases, effort="response")
        rows = ({"scores": trusted(one.scoring), "doubt": one.uncertainty} for one in panel)
        return context.told(f"{library.name} race", rows, len(cases))

    return context.cached("race", context.content(library, "panel") | {"arithmetic": ARITHMETIC}, make)


def _routes(tables: dict[str, dict[str, Array]], size: int) -> Any:
    """(scores, doubts) of panels in random order: the same orders for every tolerance."""
    random = np.random.default_rng(SEED + size)
    for table in tables.values():
        panels = len(table["scores"]) // size
        for k in range(ROUTES):
            order = (k % panels) * size + random.permutation(size)
            yield table["scores"][order], table["doubt"][order]


def _row(tables: dict[str, dict[str, Array]], size: int, tolerance: float) -> dict[str, Any]:
    found = [_raced(scores, doubt, tolerance) for scores, doubt in _routes(tables, size)]
    right, within, inputs, runs, settled = (np.array(column) for column in zip(*found, strict=True))
    return {
        "races": len(found),
        "same_choice": int(right.sum()),
        "within_tolerance": int(within.sum()),
        "settled": int(settled.sum()),
        "inputs": float(inputs.mean()),
        "inference": float(runs.mean()),
    }


def _raced(scores: Array, doubt: Array, tolerance: float) -> tuple[bool, bool, float, float, bool]:
    """`race` on scores that are known already: same choice, within the tolerance, inputs and inference spent, settled."""
    size, candidates = scores.shape
    duels = Duels(candidates, tolerance=tolerance, total=size)
    alive, runs, settled = np.ones(candidates, dtype=bool), 0, False
    while not settled and len(duels.rows) < size:
        k, runs = len(duels.rows), runs + int(alive.sum())
        resolved = np.isfinite(scores[k]).all()
        duels.see(np.where(alive, scores[k], np.nan) if resolved else None, doubt[k])
        duels.drop(alive, 1 - CONFIDENCE)
        settled = duels.settled(alive, 1 - CONFIDENCE)
    means = _means(scores)
    chosen = means[duels.best_so_far(alive)]
    same, within = bool(chosen == means.min()), bool(chosen <= (1 + tolerance) * means.min())
    return same, within, len(duels.rows) / size, runs / scores.size, settled


def _means(scores: Array) -> Array:
    return scores[np.isfinite(scores).all(axis=1)].mean(axis=0)


def _half(tables: dict[str, dict[str, Array]], size: int) -> dict[str, Any]:
    """The yardstick: whoever is best on the first half, with every candidate run and no promise at all."""
    excess = []
    for scores, _ in _routes(tables, size):
        means = _means(scores)
        excess.append(means[np.argmin(_means(scores[: size // 2]))] / means.min() - 1)
    shares = {f"{t:g}": int(np.sum(np.array(excess) <= t)) for t in TOLERANCES}
    return {"races": len(excess), "within_tolerance": shares}


def claims(result: dict[str, Any]) -> list[tuple[str, bool]]:
    size = result["sizes"][-1]
    row = result["table"][str(size)]["0.05"]
    wrong = max(1 - r["within_tolerance"] / r["races"] for rows in result["table"].values() for r in rows.values())
    share = row["within_tolerance"] / row["races"]
    return [
        (
            f"the choice of the panel of {size}, up to 5 % of its score, in {share:.1%} of races, with {row['inputs']:.0%} "
            f"of its inputs and {row['inference']:.0%} of its inference",
            share >= 0.95 and row["inputs"] <= 0.5 and row["inference"] <= 1 / 3,
        ),
        (
            f"whatever the size and the tolerance, at most 5 % of races end outside the tolerance ({wrong:.1%})",
            wrong <= 1 - CONFIDENCE,
        ),
    ]


def _figure(result: dict[str, Any]) -> Figure:
    figure: Any = Figure(figsize=(9, 3.4), layout="constrained")
    axes = figure.subplots(1, 3)
    colours = ("#c9a227", "#7a9e7e", "#5c6f82", "#c2185b")
    places = np.arange(len(TOLERANCES))
    for colour, (size, rows) in zip(colours, result["table"].items(), strict=False):
        races = [r["races"] for r in rows.values()]
        options = {"color": colour, "label": f"{size} inputs", "markersize": 4}
        axes[0].plot(places, [r["inputs"] for r in rows.values()], "o-", **options)
        axes[1].plot(places, [r["inference"] for r in rows.values()], "o-", **options)
        shares = np.array([r["within_tolerance"] for r in rows.values()]) / races
        axes[2].plot(places, shares, "o-", **options)
        half = np.array(list(result["half"][size]["within_tolerance"].values())) / races
        axes[2].plot(places, half, ":", color=colour, lw=1)
    for axis, limit in zip(axes, (0.5, 1 / 3, 0.95), strict=True):
        axis.axhline(limit, color="#1b1f24", lw=0.8, ls="--")
        axis.set_xticks(places, [f"{100 * t:g} %" for t in TOLERANCES], fontsize=8)
        axis.set_xlabel("tolerance", fontsize=8)
    for axis, title in zip(
        axes, ("inputs read", "inference spent", "within the tolerance (dotted: best of half)"), strict=True
    ):
        axis.set_title(title, fontsize=9)
        axis.set_ylim(0 if axis is not axes[2] else None, 1.02)
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=4, frameon=False, fontsize=8)
    return figure
