"""The supplementary figures: concordance, contrasts by library, composition, cost, screens, paths, transitions, geometry."""

from typing import Any

import numpy as np

from physrank.lab.equations import EQUATIONS, ROLLOUTS
from physrank.lab.equations.sine_gordon import SINE_GORDON
from physrank.lab.figures import style
from physrank.lab.figures.panels import missing_panel
from physrank.lab.figures.stored import Missing, Stored

DECLARED = {**EQUATIONS, **ROLLOUTS}
NONE = 2e-4  # where a logarithmic axis shows that nothing was missed


def concordance(stored: Stored) -> Any:
    """How often a candidate of true rank r was given rank s, one scale for all."""
    tables = {name: np.asarray(rows) for name, rows in stored.of("primary", "concordance").items()}
    figure = style.figure(2.3)
    axes = figure.subplots(1, len(tables), sharey=True)
    most = max(table.max() for table in tables.values())
    ranks = len(next(iter(tables.values())))
    for axis, (name, table) in zip(axes, tables.items(), strict=True):
        axis.imshow(table, origin="upper", cmap="viridis_r", vmin=0, vmax=most)
        axis.set(xlabel="rank given", title=name)
        axis.set_xticks([0, ranks - 1], ["1", str(ranks)])
        axis.set_yticks([0, ranks - 1], ["1", str(ranks)])
    axes[0].set_ylabel("hidden rank")
    figure.colorbar(axes[0].images[0], ax=axes, shrink=0.75, label="candidates")
    return figure


def contrasts(stored: Stored) -> Any:
    """Pairs of every library, raw residual against shared response, in the populations that are stored."""
    parts = [
        ("primary libraries, non-tie pairs", stored.of("primary", "cells"), ("pairs_correct", "pairs")),
        (
            "additional libraries, strict pairs",
            stored.of("additional", "cells", "medoid"),
            ("strict_correct", "pairs_all"),
        ),
    ]
    if stored.has(SINE_GORDON.name, "cells"):
        cells = stored.of(SINE_GORDON.name, "cells")
        parts.append((f"{SINE_GORDON.title}, strict pairs", cells, ("strict_correct", "pairs_all")))
    figure = style.figure(3.6)
    axes = figure.subplots(1, len(parts))
    for axis, (title, cells, (part, whole)) in zip(axes, parts, strict=True):
        names = list(cells)
        for y, name in enumerate(names):
            ends = [cells[name][m][part] / cells[name][m][whole] for m in ("raw", "shared")]
            axis.plot(ends, [y, y], color=style.FAINT, lw=1.2, zorder=1)
            for method, value in zip(("raw", "shared"), ends, strict=True):
                axis.plot(
                    value, y, style.MARKERS[method], color=style.COLOURS[method], ms=4, label=None if y else method
                )
        axis.set_yticks(range(len(names)), [style.cell_label(name) for name in names])
        axis.invert_yaxis()
        axis.set(xlim=(0, 1.04), xlabel="share of pairs", title=title)
    handles = axes[0].get_legend_handles_labels()
    figure.legend(*handles, loc="outside lower center", ncols=2)
    return figure


def composition(stored: Stored) -> Any:
    """An outlying run moved away from the others: what each anchor still recovers, all libraries and the worst."""
    farther, composed = stored.of("outliers", "pooled"), stored.of("outliers", "cells")
    multiples = [made for made in farther if made.isdigit()]
    shapes = {"mean": "s", "medoid": "D", "auto": "^", "auto, until settled": "v", "ladder": "o"}
    figure = style.figure(2.7)
    axes = figure.subplots(1, 2, sharey=True)
    for k, (method, shape) in enumerate(shapes.items()):
        colour = style.CANDIDATES[k]
        rows = [farther[made][method] for made in multiples]
        every = [_missed(row) for row in rows]
        worst = [max(_missed(of[made][method]) for of in composed.values()) for made in multiples]
        x = [int(made) * (1 + 0.05 * (k - 2)) for made in multiples]  # beside each other, where they coincide
        for axis, values in zip(axes, (every, worst), strict=True):
            axis.plot(x, values, shape, ls="-", color=colour, ms=4, label=method)
    for axis, title in zip(axes, ("all libraries", "worst library"), strict=True):
        axis.set(
            xscale="log", yscale="log", xlabel="multiple of the outlier's departure", title=title, ylim=(0.7 * NONE, 1)
        )
        axis.set_yticks([1, 0.1, 0.01, 1e-3, NONE], ["1", "0.1", "0.01", "0.001", "none"])
        axis.set_xticks([int(m) for m in multiples], multiples)
        axis.minorticks_off()
    axes[0].set_ylabel("share of non-tie pairs missed")
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=len(shapes))
    return figure


def _missed(row: dict[str, Any]) -> float:
    return max(1 - row["pairs_correct"] / max(row["pairs"], 1), NONE)


def cost(stored: Stored) -> Any:
    """Time of one response for all against one for each, by the number of candidates."""
    rows = stored.of("controls", "cost")
    figure = style.figure(2.4)
    equations = list(dict.fromkeys(name.rsplit("-", 1)[0] for name in rows))
    numbers = sorted(map(int, next(iter(rows.values()))))
    for axis, equation in zip(figure.subplots(1, len(equations)), equations, strict=True):
        for name, row in rows.items():
            if name.rsplit("-", 1)[0] != equation:
                continue
            dash = "-" if name.endswith("fno") else "--"
            for method, key in (("shared", "shared"), ("raw", "candidate-wise")):
                values = [1e3 * row[str(n)][key] for n in numbers]
                label = f"{key}, {name.rsplit('-', 1)[1].upper()}"
                axis.plot(
                    numbers, values, style.MARKERS[method], ls=dash, color=style.COLOURS[method], ms=4, label=label
                )
        axis.set(xscale="log", yscale="log", xlabel="candidates", ylabel="ms", title=EQUATIONS[equation].title)
        axis.set_xticks(numbers, [str(n) for n in numbers])
        ticks = [
            t
            for t in (3, 5, 7, 10, 15, 20, 30, 50, 70, 100, 200, 300, 500)
            if axis.get_ylim()[0] <= t <= axis.get_ylim()[1]
        ]
        axis.set_yticks(ticks, [str(t) for t in ticks])
        axis.minorticks_off()
        axis.set_ylim(top=3 * axis.get_ylim()[1])  # the space above is the legend's
        axis.legend(loc="upper left", ncols=2, handlelength=3)
    return figure


def screens(stored: Stored) -> Any:
    """Coverage of the cross-grid screen: decisions it settles, and those it abstains from."""
    found = stored.of("resolution", "screen")
    figure = style.figure(2.3)
    axes = np.atleast_1d(figure.subplots(1, len(found), sharey=True))
    for axis, (name, of) in zip(axes, found.items(), strict=True):
        labels, shares = [], []
        for architecture, row in of.items():
            labels += [f"{architecture.upper()}, pairs", f"{architecture.upper()}, top-1"]
            shares += [row["pairs_covered"] / row["pairs"], row["top1_covered"] / row["cases"]]
        places = np.arange(len(labels))
        axis.barh(places, shares, color=style.COLOURS["raw"], label="settled")
        axis.barh(
            places,
            1 - np.asarray(shares),
            left=shares,
            color=style.FAINT,
            hatch="//",
            edgecolor="white",
            label="abstains",
        )
        axis.set_yticks(places, labels)
        axis.set(xlim=(0, 1), ylim=(len(labels) - 0.5, -0.5), xlabel="share of decisions", title=name)  # shared axes
        axis.set_xticks([0, 0.5, 1], ["0", "0.5", "1"])
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=2)
    return figure


def paths(stored: Stored) -> Any:
    """Errors and decisions along w + α δ, relative to α = 0."""
    found, alphas = stored.of("mechanism", "paths"), stored.of("mechanism", "alphas")
    figure = style.figure(2.5)
    axes = figure.subplots(1, 4)
    for k, (name, path) in enumerate(found.items()):
        colour, shape = style.CANDIDATES[k], "osD^v"[k % 5]
        title = DECLARED[name].title if name in DECLARED else name
        for axis, kind in zip(axes, ("state", "task", "comparison"), strict=False):
            row = path["errors"][kind]
            axis.plot(alphas, row["median"], shape, ls="-", color=colour, ms=3.5, label=title)
            axis.fill_between(alphas, row["low"], row["high"], color=colour, alpha=0.15, lw=0)
        shares = [row["correct"] / row["pairs"] for row in path["decisions"]]
        axes[3].plot(alphas, shares, shape, ls="-", color=colour, ms=3.5, label=title)
    for axis, title in zip(
        axes, ("state error", "task error", "error seen in 𝒟", "pairs decided rightly"), strict=True
    ):
        axis.set(xlabel=r"$\alpha$", title=title.replace("𝒟", r"$\mathcal{D}$"))
        axis.set_xticks([0, 0.5, 1])
    for axis in axes[:3]:
        axis.set_yscale("log")
    axes[3].set_ylim(top=1.02)
    for axis, letter in zip(axes, "abcd", strict=True):
        style.letter(axis, letter)
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=len(found))
    return figure


def transitions(stored: Stored) -> Any:
    """What changes between grids: fixed candidates diagnosed on finer ones, and checkpoints that were run again."""
    figure = style.figure(2.5)
    fixed, again = figure.subplots(1, 2, width_ratios=[1.2, 1])
    try:
        rows = stored.of("resolution", "transitions")
        kinds = {
            "strict_flips": "preferences reversed",
            "tolerance_transitions": "labels changed",
            "top1_changes": "winners changed",
        }
        names, places = list(rows), np.arange(len(rows))
        for k, kind in enumerate(kinds):
            values = [rows[name][kind] for name in names]
            where = places + 0.25 * (k - 1)
            fixed.barh(where, values, 0.25, color=style.CANDIDATES[k], label=kinds[kind])
            for y, value in zip(where, values, strict=True):
                fixed.annotate(
                    str(value), (value, y), xytext=(3, 0), textcoords="offset points", va="center", size=style.TEXT - 2
                )
        fixed.set_yticks(places, [_short(name) for name in names])
        fixed.invert_yaxis()
        most = max(row[kind] for row in rows.values() for kind in kinds)
        fixed.set(
            xscale="symlog", xlabel="decisions", xlim=(0, 8 * max(most, 1)), title="fixed candidates, finer grids"
        )
        fixed.legend(loc="lower right")
    except Missing as wanted:
        missing_panel(fixed, wanted)
    study = "resolution" if stored.has("resolution", "flips") else "variational"
    flips = stored.of(study, "flips" if study == "resolution" else "flips_between_realizations")
    kinds = ("none", "both", "diagnostic_only", "truth_only")
    labels = ("neither", "truth and diagnostic", "diagnostic only", "truth only")
    counts = [flips[kind] for kind in kinds]
    again.barh(
        range(4),
        counts,
        color=[style.FAINT, style.COLOURS["shared"], style.COLOURS["raw"], style.COLOURS["validation"]],
    )
    for y, count in enumerate(counts):
        again.annotate(f"{count:,}", (max(count, 1), y), xytext=(3, 0), textcoords="offset points", va="center")
    again.set_yticks(range(4), labels)
    again.invert_yaxis()
    again.set(xscale="log", xlim=(1, 20 * max(counts)), xlabel="pairs", title="checkpoints run again: reversed")
    for axis, name in zip((fixed, again), "ab", strict=True):
        style.letter(axis, name)
    return figure


def _short(name: str) -> str:
    for equation in EQUATIONS.values():
        name = name.replace(equation.name, equation.label)
    return name


def geometry(stored: Stored) -> Any:
    """How much an error shrank altogether, and in the directions in which candidates differ."""
    populations = []
    for study in ROLLOUTS:
        if stored.has(study, "study"):
            found = stored.of(study)
            row = (
                found["contraction"]
                if "contraction" in found
                else {kind: found["mean"][kind]["median_factor"] for kind in ("full", "comparison", "perpendicular")}
            )
            populations.append((DECLARED[study].title, found["inputs"], row))
    if not populations:
        raise Missing(next(iter(ROLLOUTS)), "no study of rolled-out networks has a stored result")
    figure = style.figure(0.9 + 0.6 * len(populations))
    axis = figure.subplots()
    kinds = {"full": ("whole error", "#b9c0ca"), "comparison": ("in 𝒟", style.COLOURS["shared"]),
             "perpendicular": ("across 𝒟", style.COLOURS["raw"])}  # fmt: skip
    named = set()
    for k, (_, _, row) in enumerate(populations):
        shown = [kind for kind in kinds if kind in row]
        for n, kind in enumerate(shown):
            (label, colour), place = kinds[kind], k + 0.27 * (n - (len(shown) - 1) / 2)
            name = label.replace("𝒟", r"$\mathcal{D}$")
            axis.barh(place, row[kind] - 1, 0.26, left=1, color=colour, label=None if kind in named else name)
            named.add(kind)
            axis.annotate(
                f"{row[kind]:.3g}×", (max(row[kind], 1), place), xytext=(3, 0), textcoords="offset points", va="center"
            )
    axis.axvline(1, color=style.INK, lw=0.8, ls=":")
    axis.set_yticks(range(len(populations)), [f"{title}, {n} inputs" for title, n, _ in populations])
    axis.invert_yaxis()
    factors = [row[kind] for _, _, row in populations for kind in kinds if kind in row]
    least, most = min(0.9, 0.8 * min(factors)), 1.5 * max(factors)  # below one, an error grew
    axis.set(xscale="log", xlabel="median contraction of the error by one response", xlim=(least, most))
    axis.xaxis.set_major_formatter("{x:g}×")
    axis.minorticks_off()
    axis.set_xticks([tick for tick in (0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100) if least <= tick <= most])
    figure.legend(*axis.get_legend_handles_labels(), loc="outside lower center", ncols=3)
    return figure
