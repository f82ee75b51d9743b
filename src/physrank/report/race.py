"""A race in words and as a picture, from its dictionary and curves."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from physrank import _optional
from physrank.geometry.space import Array
from physrank.report.figure import INK, PROXY, SHOWN, Figure

LINEAR = 0.1  # share of the winner's score within which the picture's axis is linear


def race_in_words(result: dict[str, Any]) -> str:
    """Verdict, candidates best to worst, cost, and what it rests on."""
    sure = f"settled at {result['confidence']:.3g}" if result["settled"] else "NOT SETTLED"
    of = "" if result["total"] is None else f" of {result['total']}"
    lines = [f"{result['winner']} wins after {result['inputs']}{of} inputs, {sure}: {result['why']}"]
    candidates = result["candidates"]
    width = max(map(len, candidates))
    places = sorted(candidates, key=lambda name: (name not in result["alive"], _key(candidates[name]["mean_score"])))
    for name in places:
        entry = candidates[name]
        mean = "–" if entry["mean_score"] is None else f"{entry['mean_score']:.4g}"
        lines.append(f"  {name:<{width}}  mean score {mean:<9}  {_behind(name == result['winner'], entry)}")
    full = result["runs"] + result["runs_saved"]
    lines.append(
        f"  {result['runs']} model runs ({result['runs'] / full:.0%} of {full}), {result['solves']} solves, "
        f"{result['seconds']:.2g} s of physics"
    )
    if count := len(result["unresolved_inputs"]):
        lines.append(f"  {count} of {result['inputs']} inputs are UNRESOLVED and decided nothing")
    lines.append(f"  about {result['about']}, if {'; '.join(result['assumptions'])}")
    return "\n".join(lines)


def _key(value: float | None) -> float:
    return np.inf if value is None else value


def _behind(won: bool, entry: dict[str, Any]) -> str:
    if won:
        return "the winner"
    mean, low, high = entry["excess"]
    ends = ["−∞" if low is None else f"{low:.2g}", "∞" if high is None else f"{high:.2g}"]
    said = "" if mean is None else f"behind by {mean:.2g} [{ends[0]}, {ends[1]}]"
    gone = entry["dropped"]
    return said + ("" if gone is None else f"; dropped after {gone['after']}: {gone['why']}")


def race_figure(
    winner: str, curves: Mapping[str, tuple[Array, Array]], level: float, total: int | None, inputs: int, settled: bool
) -> Figure:
    """Mean difference to the winner with its confidence band, as a share of the winner's mean score, `level`.

    `curves`: name → how many inputs, and (mean, low, high) at each. Linear near zero, logarithmic beyond.
    """
    figure = _optional.load("matplotlib.figure").Figure(figsize=(8, 3.8), layout="constrained")
    axis = figure.subplots()
    curves = {name: (at, curve / max(level, 1e-300)) for name, (at, curve) in curves.items()}
    ordered = sorted(curves, key=lambda name: float(curves[name][1][-1, 0]))
    colours = _optional.load("matplotlib").colormaps["viridis"](np.linspace(0.05, 0.9, max(len(ordered), 1)))
    highest = max([0.1] + [float(curve[-1, 0]) for _, curve in curves.values()])
    for colour, name in zip(colours, ordered, strict=True):
        at, curve = curves[name]
        mean, low, high = np.clip(curve, -1e6, 1e6).T  # an end that is not known lies outside the picture
        axis.plot(at, mean, color=colour, lw=1.4, label=name[:28] if name in ordered[:SHOWN] else None)
        axis.fill_between(at, low, high, where=high - low < 1e6, lw=0, color=colour, alpha=0.1)
        if at[-1] < inputs:
            axis.plot(at[-1], mean[-1], "x", color=colour, ms=6, mew=1.6)
    axis.axhline(0, color=PROXY, lw=1.8, label=f"{winner[:28]} (winner)")
    axis.set_yscale("symlog", linthresh=LINEAR)
    axis.set_ylim(-0.5, 3 * highest)
    ticks = [t for t in (-0.5, -0.2, -0.1, -0.05, 0, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 100, 1000) if t < 3 * highest]
    axis.set_yticks(ticks, [f"{100 * t:+g} %" if t else "0" for t in ticks])
    axis.minorticks_off()
    axis.axvline(inputs, color=INK, lw=0.8, ls="--")
    axis.set_xlim(0, 1.02 * inputs)
    axis.set_xlabel("inputs read" + ("" if total is None else f", of a panel of {total}"), fontsize=8)
    axis.set_ylabel("mean score beside the winner's", fontsize=8)
    verdict = "settled" if settled else "NOT SETTLED"
    axis.set_title(f"{verdict} after {inputs} inputs; × marks who was dropped", fontsize=10, loc="left")
    axis.legend(fontsize=7, frameon=False, loc="center left", bbox_to_anchor=(1.0, 0.5))
    axis.spines[["top", "right"]].set_visible(False)
    axis.tick_params(labelsize=8)
    return figure
