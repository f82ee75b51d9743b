"""Panels that need more than a few lines: candidates in lanes, routes as strips, and a panel that waits for its study."""

from typing import Any

import numpy as np

from physrank.lab.evaluation.compact import unpacked
from physrank.lab.figures import style
from physrank.lab.figures.stored import Missing


def lanes(figure: Any, case: dict[str, Any]) -> None:
    """Eight candidates in three lanes, best to worst; lines follow a candidate from lane to lane.

    Black is the state, on one scale; the colour is the state less the anchor, magnified alike for all.
    """
    curves, anchor = unpacked(case["candidates"]), unpacked(case["anchor"])[0]
    apart = curves - anchor
    axis = figure.subplots()
    size, x = np.abs(curves).max(), np.linspace(-0.38, 0.38, curves.shape[1])
    orders = case["orders"]
    names = list(orders)
    for level, order in enumerate(orders.values()):
        below = len(names) - 1 - level
        for place, i in enumerate(order):
            axis.plot(place + x, 0 * x + below, color=style.FAINT, lw=0.6, zorder=2)
            axis.plot(place + x, below + 0.3 * curves[i] / size, color=style.INK, lw=0.8, zorder=3)
            axis.plot(
                place + x, below + 0.3 * apart[i] / np.abs(apart).max(), color=style.COLOURS["shared"], lw=0.8, zorder=3
            )
            axis.annotate(
                case["names"][i], (place, below + 0.34), ha="center", va="bottom", size=style.TEXT - 2, zorder=4
            )
            if level + 1 < len(names):
                after = orders[names[level + 1]].index(i)
                moved = after != place
                axis.plot(
                    [place, after],
                    [below - 0.33, below - 0.5],
                    color=style.COLOURS["raw"] if moved else style.FAINT,
                    lw=0.9,
                    zorder=1,
                )
    labels = [name.replace(" ", "\n", 1) for name in reversed(names)]
    axis.set_yticks(range(len(names)), labels)
    axis.set_xticks([0, len(case["names"]) - 1], ["best", "worst"])
    axis.set(xlim=(-0.6, len(case["names"]) - 0.4), ylim=(-0.45, len(names) - 0.45))
    axis.tick_params(length=0)
    axis.spines[:].set_visible(False)
    axis.set_title(
        f"{style.cell_label(case['library'])}, one input: candidates (black) and candidate − anchor (colour)"
    )
    style.letter(axis, "a")


def routes(axis: Any, found: dict[str, Any], names: list[str]) -> None:
    """Two strips, the hidden winner and the route of every input; ticks where they differ."""
    best, chosen = np.asarray(found["best"]), np.asarray(found["chosen"])
    order = np.lexsort((chosen, best))
    for level, row in ((1, best[order]), (0, chosen[order])):
        for k, winner in enumerate(row):
            axis.bar(k, 0.7, bottom=level, width=1, color=style.CANDIDATES[winner], lw=0)
    wrong = np.flatnonzero(best[order] != chosen[order])
    axis.plot(wrong, np.full(len(wrong), 0.85), "|", color=style.INK, ms=6)
    axis.set_yticks([0.35, 1.35], ["routed", "best"])
    axis.set(
        xlabel="input, sorted", title=f"{len(best) - len(wrong)} of {len(best)} routed to the best", ylim=(-0.1, 2.3)
    )
    for k, name in enumerate(names):
        axis.bar(0, 0, color=style.CANDIDATES[k], label=name)
    axis.legend(loc="upper center", ncols=len(names))


def missing_panel(axis: Any, wanted: Missing) -> None:
    """An empty panel that says what it waits for."""
    axis.set(xticks=[], yticks=[])
    axis.spines[:].set_visible(True)
    axis.text(
        0.5,
        0.5,
        f"waits for\n{wanted.study}",
        ha="center",
        va="center",
        transform=axis.transAxes,
        color="#5c6f82",
        wrap=True,
    )
