"""The pictures of the yardstick, from what it stored: fronts of accuracy against cost, and growth."""

from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullFormatter, NullLocator

# Okabe and Ito's colours, and a shape each: told apart without colour, too.
STYLE: dict[str, dict[str, Any]] = {
    "auto": {"marker": "*", "color": "#d55e00", "markersize": 15, "zorder": 5},
    "response": {"marker": "o", "color": "#0072b2", "markersize": 7},
    "response + 1": {"marker": "D", "color": "#56b4e9", "markersize": 6},
    "response + 2": {"marker": "P", "color": "#009e73", "markersize": 7},
    "raw residual": {"marker": "^", "color": "#cc79a7", "markersize": 7},
}
SOLVE: dict[str, Any] = {"marker": "s", "color": "#333333", "markersize": 5}
NAMES = {
    "auto": "rank, as it comes",
    "response": "one response",
    "response + 1": "two corrections",
    "response + 2": "three corrections",
    "raw residual": "raw residual",
}
SHORTER = {", every 10th row": " t/10", ", 1 substep": " t/4"}
GIB = 2**30
BLUE, RED = "#0072b2", "#d55e00"
Parts = dict[str, Any]


def measured(parts: Parts, kind: str) -> Parts:
    """Parts of a kind that did not fail, by what follows the colon."""
    return {
        name.split(":")[1]: part for name, part in parts.items() if name.startswith(f"{kind}:") and "failed" not in part
    }


def dominated(rows: dict[str, Any], name: str) -> bool:
    """Whether another method is cheaper and orders no fewer pairs rightly."""
    own = rows[name]
    return any(row["seconds"] < own["seconds"] and row["right"] >= own["right"] for k, row in rows.items() if k != name)


def fronts(parts: Parts) -> Figure:
    found = measured(parts, "front")
    columns = 3
    lines = -(-max(len(found), 1) // columns)
    figure: Any = Figure(figsize=(12, 3.1 * lines + 0.7), layout="constrained")
    axes = figure.subplots(lines, columns, squeeze=False).ravel()
    for axis in axes[len(found) :]:
        axis.set_axis_off()
    for axis, part in zip(axes, found.values(), strict=False):
        _front(axis, part)
    for axis in axes[::columns]:
        axis.set_ylabel("non-tie pairs ordered wrongly")
    for axis in axes[max(len(found) - columns, 0) : len(found)]:
        axis.set_xlabel("milliseconds per input, whole call")
    handles = [axes[0].plot([], [], linestyle="", label=NAMES[name], **style)[0] for name, style in STYLE.items()]
    solves = {"linestyle": "-", "linewidth": 0.8, **SOLVE}
    handles += axes[0].plot([], [], label="solving outright, on the grid named", **solves)
    handles += axes[0].plot([], [], label="hollow: another is cheaper and no worse", **solves | {"mfc": "white"})
    figure.legend(handles=handles, loc="outside lower center", ncols=4, frameon=False, fontsize=9)
    return figure


def _front(axis: Any, part: dict[str, Any]) -> None:
    rows, pairs = part["methods"], part["pairs"]
    none = 10 ** (np.floor(np.log10(1 / pairs)) - 0.5)
    places = {name: (1e3 * row["seconds"], max((pairs - row["right"]) / pairs, none)) for name, row in rows.items()}
    solves = [name for name in rows if name.startswith("solve")]
    graded = [name for name in solves if "," not in name]
    axis.plot(*zip(*(places[name] for name in graded), strict=True), color="#999999", linewidth=0.8, zorder=1)
    for name, place in places.items():
        style = STYLE.get(name, SOLVE)
        axis.plot(
            *place, linestyle="", **style, **({"mfc": "white"} if name in solves and dominated(rows, name) else {})
        )
    costs = [place[0] for place in places.values()]
    low, high = min(costs) / 1.6, max(costs) * 1.6
    axis.set(xscale="log", yscale="log", xlim=(low, high), ylim=(none / 6, 8))
    for name, tier in _tiers({name: places[name] for name in solves}, np.log(high / low)).items():
        said = name.removeprefix("solve ")
        for long, short in SHORTER.items():
            said = said.replace(long, short)
        where = {"xytext": (0, -12 - 9 * tier), "textcoords": "offset points", "ha": "center", "va": "center"}
        axis.annotate(said, places[name], fontsize=7, color="#333333", **where)
    share = [1.0, 0.1, 0.01, 1e-3, 1e-4]
    shown = [s for s in share if s > 1.5 * none]
    axis.set_yticks([*shown, none], [*(f"{100 * s:g} %" for s in shown), "none"])
    axis.yaxis.set_minor_locator(NullLocator())
    axis.xaxis.set_major_locator(LogLocator(numticks=8))
    axis.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
    axis.grid(axis="y", color="#e4e4e4", linewidth=0.6)
    axis.set_title(part["title"], fontsize=10)
    auto = rows["auto"]
    open_share = 1 - auto["settled"] / pairs
    said = f"rank settles {1 - open_share:.1%} of {pairs:,} pairs, {auto['settled_wrong']} of them wrongly"
    axis.text(0.98, 0.97, said, transform=axis.transAxes, ha="right", va="top", fontsize=7.5, color="#d55e00")


def _tiers(places: dict[str, tuple[float, float]], width: float) -> dict[str, int]:
    """How far below its mark each name is written, so that neighbours at one height do not run into each other."""
    found: dict[str, int] = {}
    ends: dict[tuple[int, int], float] = {}  # of the last name, by height and tier
    for name in sorted(places, key=lambda name: places[name]):
        x, height = np.log(places[name][0]) / width, round(2 * np.log10(places[name][1]))
        half = 0.012 * (len(name) - 5)
        tier = next(t for t in range(len(places)) if ends.get((height, t), -np.inf) < x - half)
        found[name], ends[height, tier] = tier, x + half
    return found


def growth(parts: Parts) -> Figure:
    figure: Any = Figure(figsize=(12, 6.6), layout="constrained")
    axes = figure.subplots(2, 3).ravel()
    sizes = measured(parts, "size")
    for dims, style in {2: {"marker": "o", "color": BLUE}, 3: {"marker": "s", "color": RED}}.items():
        rows = [row for name, row in sizes.items() if name.startswith(f"{dims}d")]
        if len(rows) > 1:
            unknowns = [row["unknowns"] for row in rows]
            _line(axes[0], unknowns, [row["seconds"] for row in rows], f"{dims}-D", **style)
            axes[1].plot(unknowns, [row["peak_bytes"] / GIB for row in rows], label=f"{dims}-D", **style)
    axes[0].set(title="reaction–diffusion", xlabel="unknowns", ylabel="seconds of rank")
    axes[1].axhline(24, color="#333333", linestyle=":")
    axes[1].annotate("24 GiB", (0.02, 23), xycoords=("axes fraction", "data"), va="top", fontsize=8)
    axes[1].set(title="reaction–diffusion", xlabel="unknowns", ylabel="peak memory of the process, GiB")
    for axis, name in zip(axes[2:5], ("candidates", "steps", "inputs"), strict=True):
        part = parts.get(name, {"failed": "not run"})
        if "failed" not in part:
            who = "rank_panel" if name == "inputs" else "rank"
            _line(axis, part["sizes"], part["seconds"], who, marker="o", color=BLUE)
            if "reading_seconds" in part:
                _line(axis, part["sizes"], part["reading_seconds"], "reading them once", marker="^", color="#cc79a7")
            axis.set(title=part["what"].split(":")[0], xlabel=name, ylabel="seconds")
            axis.set_xscale("log")
            axis.set_xticks(part["sizes"], part["sizes"], fontsize=8)
    for axis in axes[:2]:
        axis.set_xscale("log")
    for axis in axes[:5]:
        axis.set_yscale("log")
        axis.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5), numticks=12))
        axis.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
        axis.xaxis.set_minor_formatter(NullFormatter())
        axis.yaxis.set_minor_locator(NullLocator())
        if axis.get_legend_handles_labels()[1]:
            axis.legend(frameon=False, fontsize=8, loc="lower right")
    _starts(axes[5], measured(parts, "start"))
    return figure


def _line(axis: Any, sizes: Any, seconds: Any, label: str, **style: Any) -> None:
    """A curve with its fitted exponent."""
    slope, level = np.polyfit(np.log(sizes), np.log(seconds), 1)
    axis.plot(sizes, seconds, label=f"{label}: exponent {slope:.2f}", linestyle="", **style)
    axis.plot(sizes, np.exp(level) * np.power(sizes, slope, dtype=float), color=style["color"], linewidth=0.8)


def _starts(axis: Any, found: Parts) -> None:
    """The first ranking of a process and later ones, as bars on a logarithmic scale."""
    colours = {"first, no cache": "#d55e00", "first, cache filled": "#e69f00", "later": "#0072b2"}
    names = []
    for k, (equation, part) in enumerate(found.items()):
        without, filled = (part["auto"][key] for key in ("no cache", "cache filled"))
        values = [without["first"], filled["first"], without["later"]]
        for j, (value, (label, colour)) in enumerate(zip(values, colours.items(), strict=True)):
            axis.bar(k + 0.26 * (j - 1), value, 0.24, color=colour, label=label if k == 0 else None)
            axis.annotate(f"{value:.2g}", (k + 0.26 * (j - 1), value), ha="center", va="bottom", fontsize=8)
        names.append(equation.replace("_", "–"))
    axis.set_xticks(range(len(names)), names)
    axis.set(yscale="log", ylabel="seconds of one rank", title="cold and warm")
    if names:
        axis.set_ylim(top=40 * axis.get_ylim()[1] ** 0.5)
        axis.legend(frameon=False, fontsize=8, loc="upper right")
