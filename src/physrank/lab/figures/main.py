"""The six main figures. Each takes stored results, returns a figure, and says by `Missing` what it waits for."""

from typing import Any

import numpy as np

from physrank.lab.equations.diffusion_reaction import DIFFUSION_REACTION
from physrank.lab.equations.flow_1d import FLOW_1D
from physrank.lab.evaluation.compact import unpacked
from physrank.lab.figures import style
from physrank.lab.figures.panels import lanes, missing_panel, routes
from physrank.lab.figures.stored import SHIPPED, Missing, Stored


def framework(stored: Stored) -> Any:
    """Candidates → anchor → response → proxy → scores, on one input of the shipped predictions."""
    case = stored.of(SHIPPED, "lanes")
    curves = {name: unpacked(case[name]) for name in ("candidates", "anchor", "proxy", "truth")}
    figure = style.figure(2.3)
    first, second, third = figure.subplots(1, 3, width_ratios=[1, 1, 1.1])
    x = np.linspace(0, 1, curves["anchor"].shape[1])
    for curve in curves["candidates"]:
        first.plot(x, curve, color=style.FAINT, lw=0.9)
    first.plot(x, curves["anchor"][0], color=style.INK, lw=1.6, label="anchor $w$, their mean")
    first.plot([], [], color=style.FAINT, label="candidates $v_i$")
    change = curves["proxy"][0] - curves["anchor"][0]
    second.fill_between(x, curves["anchor"][0], curves["proxy"][0], color=style.COLOURS["shared"], alpha=0.25, lw=0)
    second.plot(x, curves["anchor"][0], color=style.INK, lw=1.2, label="$w$")
    second.plot(x, curves["proxy"][0], color=style.COLOURS["shared"], label=r"$q = Q(w + \delta)$")
    second.plot(x, curves["truth"][0], ":", color=style.COLOURS["raw"], label="hidden solution")
    for axis in (first, second):
        axis.set(xlabel="$x$ (terminal state)", yticks=[], xticks=[0, 1])
        low, high = axis.get_ylim()
        axis.set_ylim(low, high + 0.45 * (high - low))  # the space above is the legend's
        axis.legend(loc="upper left", ncols=1)
    first.set_title("one anchor for the library")
    second.set_title(f"one response, up to {np.abs(change).max():.2g}")
    order = case["orders"]["shared proxy"]
    scores = np.asarray(case["scores"])[order]
    colours = [style.COLOURS["shared"], *["#b9c0ca"] * (len(order) - 1)]
    third.barh(range(len(order)), scores, color=colours)
    third.set_yticks(range(len(order)), [case["names"][i] for i in order])
    third.invert_yaxis()
    third.set(xlabel=r"$S_i = \|q - y_i\|^2$", title="distances to $q$ rank all")
    for axis, name in zip((first, second, third), "abc", strict=True):
        style.letter(axis, name)
    return figure


def recovery(stored: Stored) -> Any:
    """One case in three orders; every library's pairs and winners, raw residual joined to shared response."""
    cells, pooled = stored.of("primary", "cells"), stored.of("primary", "pooled")
    case = stored.of(SHIPPED, "lanes")
    figure = style.figure(4.8)
    top, bottom = figure.subfigures(2, 1, height_ratios=[1.15, 1])
    lanes(top, case)
    both = bottom.subplots(1, 2, sharey=True)
    for k, (axis, (counted, whole, interval, title)) in enumerate(
        zip(
            both,
            (
                ("top1_tolerant", "cases", "top1_interval", "tolerant top-1"),
                ("pairs_correct", "pairs", "pair_interval", "non-tie pairs"),
            ),
            strict=True,
        )
    ):
        names = list(cells)
        for y, name in enumerate(names):
            ends = [cells[name][m][counted] / cells[name][m][whole] for m in ("raw", "shared")]
            axis.plot(ends, [y, y], color=style.FAINT, lw=1.2, zorder=1)
            for method, value in zip(("raw", "shared"), ends, strict=True):
                axis.plot(value, y, style.MARKERS[method], color=style.COLOURS[method], ms=4)
        for method in ("raw", "shared"):
            found = pooled[method][interval]
            at = found["estimate"]
            reach = [[at - found["low"]], [found["high"] - at]]
            axis.errorbar(
                at, len(names), xerr=reach, fmt=style.MARKERS[method], ms=7, color=style.COLOURS[method], label=method
            )
        axis.set_yticks(range(len(names) + 1), [*map(style.cell_label, names), "pooled, 95 %"])
        axis.set(xlim=(-0.02, 1.04), ylim=(len(names) + 0.6, -0.6), xlabel="share recovered", title=title)
        if k == 0:
            style.letter(axis, "b")
    bottom.legend(*both[0].get_legend_handles_labels(), loc="outside lower center", ncols=2)
    return figure


def gaps_and_regret(stored: Stored) -> Any:
    """Densities of gaps for three responses; regret of every selector; regret of candidate-wise majorants."""
    found, which = stored.population()
    figure = style.figure(5.2)
    top, bottom = figure.subfigures(2, 1, height_ratios=[1.1, 1])
    tables = {name: unpacked(rows) for name, rows in found["gap_density"].items()}
    most = max(table.max() for table in tables.values())
    axes = top.subplots(1, 3, sharey=True)
    titles = {"shared": "shared response", "wrong input": "response of another input", "reversed": "reversed response"}
    for axis, (name, table) in zip(axes, tables.items(), strict=True):
        style.heat(axis, table.T, most, extent=(-1, 1, -1, 1), aspect="equal")
        axis.plot([-1, 1], [-1, 1], color=style.INK, lw=0.7, ls=":")
        axis.axhline(0, color=style.INK, lw=0.5)
        axis.axvline(0, color=style.INK, lw=0.5)
        axis.set(xlabel="true gap ÷ span of the case", title=titles[name], xticks=[-1, 0, 1], yticks=[-1, 0, 1])
    axes[0].set_ylabel("estimated gap ÷ span")
    bar = top.colorbar(axes[0].images[0], ax=axes, shrink=0.8, label="pairs")
    ticks = [k for k in range(6) if k <= np.log10(most)]
    bar.set_ticks(ticks, labels=[f"{10**k:,}" for k in ticks])
    style.letter(axes[0], "a")
    regret, majorants = bottom.subplots(1, 2)
    for method, values in found["regret"].items():
        style.distribution(regret, method, values)
    style.regret_axes(regret, which)
    style.letter(regret, "b")
    if stored.has("variational", "regret"):
        rows, cases = stored.of("variational", "regret"), stored.of("variational", "pooled", "shared", "cases")
    else:
        rows, cases = stored.of(SHIPPED, "variational", "regret"), stored.of(SHIPPED, "variational", "cases")
    for method, values in rows.items():
        style.distribution(majorants, method, values)
    style.regret_axes(majorants, f"reaction–diffusion, {cases:,} cases")
    style.letter(majorants, "c")
    majorants.legend(loc="lower right")  # its own: two of its curves have the looks of others in b
    bottom.legend(*regret.get_legend_handles_labels(), loc="outside lower center", ncols=4, handlelength=3)
    return figure


def reliability(stored: Stored) -> Any:
    """Candidates with an outlying run; recovery by margin; lowest pressures before and after backtracking."""
    found, which = stored.population()
    figure = style.figure(2.7)
    composed, margins, pressures = figure.subplots(1, 3, width_ratios=[1, 1.15, 1])
    _outliers(composed, stored.of(SHIPPED, "composition"))
    for method in ("shared", "raw", "validation", "mean centrality", "medoid centrality"):
        row = found["deciles"][method]
        share = np.divide(row["correct"], np.maximum(row["total"], 1))
        margins.plot(range(1, 11), share, style.MARKERS[method], **style.look(method), ms=3.5)
    margins.set(
        xlabel="decile of the hidden margin", ylabel="non-tie pairs recovered", xticks=[1, 4, 7, 10], ylim=(0, 1.03)
    )
    margins.set_title(which.replace(" of the", "\nof the"))
    margins.legend(loc="lower right", labelspacing=0.2)
    try:
        _pressures(pressures, stored.of(FLOW_1D.name, "lowest_pressure"))
    except Missing as wanted:
        missing_panel(pressures, wanted)
    for axis, name in zip((composed, margins, pressures), "abc", strict=True):
        style.letter(axis, name)
    return figure


def _outliers(axis: Any, case: dict[str, Any]) -> None:
    """On the scale sgn(u) ln(1 + |u|/0.05), as the paper has it."""
    scaled = lambda u: np.sign(u) * np.log1p(np.abs(u) / 0.05)  # noqa: E731
    curves, mean = unpacked(case["candidates"]), unpacked(case["mean"])[0]
    x = np.linspace(0, 1, len(mean))
    for k, curve in enumerate(curves):
        outlying = k in case["outlying"]
        axis.plot(x, scaled(curve), color="#b9c0ca" if not outlying else style.COLOURS["raw"], lw=0.9, zorder=1)
    axis.plot([], [], color=style.COLOURS["raw"], label=f"outlying run, × {case['factor']}")
    axis.plot([], [], color="#b9c0ca", label="other candidates")
    axis.plot(x, scaled(mean), color=style.INK, ls=style.DASHES["raw"], label="mean")
    axis.plot(x, scaled(curves[case["medoid"]]), color=style.COLOURS["shared"], label="medoid")
    low, high = axis.get_ylim()
    axis.set(xlabel="section through the field", ylabel=r"$\mathrm{sgn}(u)\,\ln(1+|u|/0.05)$", xticks=[0, 1])
    axis.set_ylim(low, high + 0.75 * (high - low))
    axis.legend(loc="upper left", labelspacing=0.2)


def _pressures(axis: Any, found: dict[str, list[float]]) -> None:
    before, after = (np.asarray(found[name]) for name in ("unit correction", "backtracking"))
    order = np.argsort(before)
    for k, i in enumerate(order):
        axis.plot([k, k], [before[i], after[i]], color=style.FAINT, lw=0.9, zorder=1)
    axis.plot(range(len(order)), before[order], "s", color=style.COLOURS["raw"], ms=3, label="unit correction")
    axis.plot(range(len(order)), after[order], "o", color=style.COLOURS["shared"], ms=3, label="backtracking")
    axis.axhline(0, color=style.INK, lw=0.7)
    axis.set(xlabel="shock tubes", ylabel="lowest pressure", title=f"{len(order)} inputs")
    axis.set_yscale("symlog", linthresh=1e-2)
    axis.set_ylim(bottom=min(5 * before.min(), -0.1))  # the lowest one whole
    axis.legend(loc="lower right")


def deployment(stored: Stored) -> Any:
    """Routing by input, its regret, and the regret of one checkpoint chosen from a panel."""
    figure = style.figure(4.6)
    top, bottom = figure.subfigures(2, 1, height_ratios=[0.75, 1])
    strips, right = top.subplots(1, 2, width_ratios=[2, 1])
    try:
        varied = stored.has(DIFFUSION_REACTION.name, "most_varied")
        found = stored.of(DIFFUSION_REACTION.name, "most_varied" if varied else "routes")
        routes(strips, found, stored.of(DIFFUSION_REACTION.name, "candidates"))
        for method, values in found["regret"].items():
            style.distribution(right, method, values)
        style.regret_axes(right, f"{len(found['best'])} inputs, {found['objective']}")
        right.legend(loc="center left", bbox_to_anchor=(0.08, 0.5))
    except Missing as wanted:
        for axis in (strips, right):
            missing_panel(axis, wanted)
    eight, sixteen, sizes = bottom.subplots(1, 3)
    _choices(eight, stored, "panels", "eight libraries, panels of 24")
    _choices(sixteen, stored, "selection", "sixteen more, panels of 144")
    _by_size(sizes, stored.of("panels", "table"))
    bottom.legend(*sizes.get_legend_handles_labels(), loc="outside lower center", ncols=3, handlelength=3)
    for axis, name in zip((strips, right, eight, sixteen, sizes), "abcde", strict=True):
        style.letter(axis, name)
    return figure


def _choices(axis: Any, stored: Stored, study: str, title: str) -> None:
    """Regret of one checkpoint for good, over panels and libraries."""
    try:
        for method, values in stored.of(study, "regret").items():
            if method != "shared, mean anchor":  # beside the medoid's curve there is nothing to see
                style.distribution(axis, method.removesuffix(", medoid anchor"), values)
        style.regret_axes(axis, title)
        axis.set(ylabel="share of choices")
    except Missing as wanted:
        missing_panel(axis, wanted)


def _by_size(axis: Any, table: dict[str, Any]) -> None:
    sizes = sorted(map(int, table["shared"]))
    for method, rows in table.items():
        values = [max(rows[str(b)]["mean_normalized_regret"], 1e-4) for b in sizes]
        axis.plot(sizes, values, style.MARKERS[method], **style.look(method), ms=4)
    axis.set(xscale="log", yscale="log", xlabel="inputs of the panel", ylabel="mean normalized regret")
    axis.set_title("eight libraries, by length")
    axis.set_xticks(sizes[::2], [str(b) for b in sizes[::2]])
    axis.minorticks_off()


def certificate(stored: Stored) -> Any:
    """Bounds over margins: all pairs, and the largest of every case; below one a decision is proved."""
    study = "certificates" if stored.has("certificates", "few_ratios") else SHIPPED
    found = stored.of(study, "few_ratios" if study == "certificates" else "certificates")
    figure = style.figure(2.6)
    ratios, worst = figure.subplots(1, 2)
    values = np.asarray(found["ratios"])
    ratios.step(values, np.arange(1, len(values) + 1) / len(values), where="post", color=style.COLOURS["shared"])
    ratios.set(
        xscale="log", xlabel="bound ÷ margin", ylabel="share of pairs", ylim=(0, 1.03), title=f"{len(values):,} pairs"
    )
    largest = np.sort(found["largest_by_case"])
    worst.plot(largest, range(1, len(largest) + 1), "o", color=style.COLOURS["shared"], ms=4)
    worst.set(
        xscale="log",
        xlabel="largest bound ÷ margin",
        ylabel="case, by its largest ratio",
        title=f"{len(largest)} cases",
    )
    for axis, name in zip((ratios, worst), "ab", strict=True):
        axis.axvline(1, color=style.INK, lw=0.9)
        axis.set_xlim(right=max(3.0, 2 * values.max()))
        axis.annotate(
            "proved",
            (1, 0.06),
            xycoords=("data", "axes fraction"),
            xytext=(-4, 0),
            textcoords="offset points",
            ha="right",
        )
        style.letter(axis, name)
    return figure
