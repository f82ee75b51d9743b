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
PANEL = (240.0, 165.0)  # points, about
GIB = 2**30
BLUE, RED = "#0072b2", "#d55e00"
Parts = dict[str, Any]
Places = dict[str, tuple[float, float]]


def measured(parts: Parts, kind: str) -> Parts:
    """Parts of a kind that did not fail, by what follows the colon."""
    return {
        name.split(":")[1]: part for name, part in parts.items() if name.startswith(f"{kind}:") and "failed" not in part
    }


def dominated(rows: dict[str, Any], name: str) -> bool:
    """Whether another method is cheaper and orders no fewer pairs rightly."""
    own = rows[name]
    return any(row["seconds"] < own["seconds"] and row["right"] >= own["right"] for k, row in rows.items() if k != name)


def drawn(result: dict[str, Any]) -> dict[str, Figure]:
    """By what follows the name of the results; a small run says so on its face."""
    figures = {"": fronts(result["parts"]), "_growth": growth(result["parts"])}
    for figure in figures.values() if result["small"] else ():
        figure.suptitle("a small run on a busy machine: times are not to be quoted", fontsize=9, color="#8a939e")
    return figures


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
    handles += axes[0].plot(
        [], [], label="solving outright, on the grid named (t/10: a tenth of the time steps)", **solves
    )
    handles += axes[0].plot([], [], label="hollow: another is cheaper and no worse", **solves | {"mfc": "white"})
    figure.legend(handles=handles, loc="outside lower center", ncols=3, frameon=False, fontsize=9)
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
    names = {name: _short(name) for name in solves}
    for name, offset in _offsets(places, names, (low, high), (none / 6, 8.0)).items():
        where = {"xytext": offset, "textcoords": "offset points", "ha": "center", "va": "center"}
        axis.annotate(names[name], places[name], fontsize=7, color="#333333", **where)
    share = [1.0, 0.1, 0.01, 1e-3, 1e-4]
    shown = [s for s in share if s > 1.5 * none]
    axis.set_yticks([*shown, none], [*(f"{100 * s:g} %" for s in shown), "none"])
    axis.yaxis.set_minor_locator(NullLocator())
    axis.xaxis.set_major_locator(LogLocator(subs=(1, 3), numticks=12))
    axis.xaxis.set_minor_locator(NullLocator())
    axis.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
    axis.grid(axis="y", color="#e4e4e4", linewidth=0.6)
    axis.set_title(part["title"], fontsize=10)
    auto = rows["auto"]
    open_share = 1 - auto["settled"] / pairs
    settles = f"rank settles {1 - open_share:.1%} of {pairs:,} pairs, {auto['settled_wrong']} of them wrongly"
    axis.text(0.98, 0.97, settles, transform=axis.transAxes, ha="right", va="top", fontsize=7.5, color="#d55e00")


def _short(name: str) -> str:
    for long, short in {"solve ": "", ", every 10th row": " t/10", ", 1 substep": " t/4"}.items():
        name = name.replace(long, short)
    return name


def _offsets(marks: Places, names: dict[str, str], across: tuple[float, float], up: tuple[float, float]) -> Places:
    """Where each name goes, in points from its mark: the nearest place that is clear of all marks and of earlier names."""

    def points(place: tuple[float, float]) -> tuple[float, float]:
        shares = (np.log(v / ends[0]) / np.log(ends[1] / ends[0]) for v, ends in zip(place, (across, up), strict=True))
        return tuple(share * size for share, size in zip(shares, PANEL, strict=True))  # pyright: ignore[reportReturnType]

    taken = [(*points(place), 4.0, 4.0) for place in marks.values()]  # centre and half sizes
    found: Places = {}
    for name in sorted(names, key=lambda name: marks[name]):
        x, y, half = *points(marks[name]), 2.3 * len(names[name]) + 1
        ways = [(0.0, -10.0 * k) for k in (1, 2)] + [(0.0, 10.0), (half + 5, 0.0), (-half - 5, 0.0)]
        ways += [(sign * (half + 3), 9.0 * k) for k in (-1, 1) for sign in (1, -1)] + [
            (0.0, 20.0),
            (0.0, -30.0),
            (0.0, 30.0),
        ]
        boxes = {way: (x + way[0], y + way[1], half, 4.0) for way in ways}
        clear = [way for way, box in boxes.items() if not any(_overlap(box, other) for other in taken)]
        found[name] = (clear or ways)[0]
        taken.append(boxes[found[name]])
    return found


def _overlap(one: tuple[float, ...], other: tuple[float, ...]) -> bool:
    return abs(one[0] - other[0]) < one[2] + other[2] and abs(one[1] - other[1]) < one[3] + other[3]


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
            axis.legend(frameon=False, fontsize=8, loc="best")
            axis.margins(y=0.15)
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
