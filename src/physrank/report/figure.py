"""Pictures of a ranking, from plain arrays: no result class is known here, so results can call it."""

import io
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from physrank import _optional
from physrank.geometry.space import Array

Figure = Any  # of matplotlib, which loads when first used

INK, PROXY, MUTED = "#1b1f24", "#c2185b", "#8a939e"
SHOWN = 8  # candidates drawn as maps, or named in a legend
BARS = 20  # candidates drawn as bars


DRAWN = ("names", "outputs", "proxy", "anchor", "estimates", "unresolved", "reach", "settled")


def drawn(arrays: dict[str, Any]) -> dict[str, Any]:
    """What a picture takes of a ranking's arrays; of complex fields, their real parts."""
    return {name: value.real if np.iscomplexobj(value := arrays[name]) else value for name in DRAWN}


def ranking_figure(
    *,
    names: Sequence[str],
    outputs: Array,
    proxy: Array,
    anchor: Array | None,
    estimates: Array,
    unresolved: str | None,
    reach: float = float("nan"),
    settled: Array | None = None,
    truth: Array | None = None,
    true_errors: Array | None = None,
) -> Figure:
    """How the library was judged: fields, estimated error fields, and errors (true ones only once revealed)."""
    ordered = [int(i) for i in np.argsort(estimates) if np.isfinite(estimates[i])]
    if not ordered:
        figure = _figure(figsize=(8, 1.2))
        figure.text(
            0.02, 0.5, f"UNRESOLVED: {unresolved or 'no finite score'}", color="#b00020", wrap=True, va="center"
        )
        return figure
    outputs, proxy, anchor, truth, remark = _drawable(outputs, proxy, anchor, truth)
    figure = _figure(figsize=(12, 5.0 if proxy.ndim else 2.5), layout="constrained")
    if unresolved:
        figure.suptitle(f"UNRESOLVED: {unresolved}", color="#b00020", fontsize=10, wrap=True)
    if proxy.ndim == 2:
        top, bottom = figure.subfigures(2, 1, height_ratios=[1, 1.05])
        _candidate_maps(top, names, outputs, proxy, estimates, ordered[:SHOWN], remark)
        left, right = bottom.subfigures(1, 2, width_ratios=[1.45, 1])
        _method_maps(left, anchor, proxy, truth)
    elif proxy.ndim == 1:
        left, right = figure.subfigures(1, 2, width_ratios=[1.45, 1])
        _curves(left, names, outputs, proxy, anchor, ordered, truth)
    else:  # one number: the errors say it all
        right = figure
    axis = _errors(right, names, estimates, true_errors, ordered[:BARS], reach)
    if settled is not None and not unresolved:
        _open(axis, np.asarray(settled, bool), ordered[:BARS])
    axis.legend(frameon=False, fontsize=8, loc="upper center", bbox_to_anchor=(0.5, -0.1), ncols=2)
    return figure


def _drawable(outputs: Array, proxy: Array, anchor: Array | None, truth: Array | None) -> tuple[Any, ...]:
    """Outputs as numbers, curves or maps: axes of length one dropped, of more than two the last entries shown."""
    kept = tuple(k for k, n in enumerate(proxy.shape) if n > 1)
    shape = tuple(proxy.shape[k] for k in kept)
    dropped = max(0, len(shape) - 2)
    remark = f" (of shape {proxy.shape}: last entries along the leading axes)" if dropped else ""

    def view(values: Array) -> Array:
        squeezed = values.reshape((*values.shape[: values.ndim - proxy.ndim], *shape))
        for _ in range(dropped):
            squeezed = np.take(squeezed, -1, axis=values.ndim - proxy.ndim)
        return squeezed

    anchor, truth = (None if field is None else view(field) for field in (anchor, truth))
    return view(outputs), view(proxy), anchor, truth, remark


def _candidate_maps(figure: Any, names, outputs, proxy, estimates, shown, remark) -> None:
    """v_i − q for each candidate, best to worst, on one scale."""
    axes = np.atleast_1d(figure.subplots(1, len(shown)))
    span = max(np.abs(outputs[shown] - proxy).max(), 1e-300)
    image = None
    for axis, i in zip(axes, shown, strict=True):
        image = _map(axis, outputs[i] - proxy, f"{names[i]}\n√S = {estimates[i]:.3g}", -span, span, "RdBu_r")
    figure.colorbar(image, ax=list(axes), fraction=0.02, pad=0.01, format="%.2g")
    title = f"estimated error field of each candidate, v − q, best → worst{remark}"
    figure.suptitle(title, fontsize=10, x=0.01, ha="left")


def _method_maps(figure: Any, anchor, proxy, truth) -> None:
    """Anchor, correction, proxy, or the proxy alone where none was corrected; then how far it is from the reference."""
    fields = [("proxy q", proxy, False)]
    if anchor is not None:
        fields = [("anchor w", anchor, False), ("+ correction δ", proxy - anchor, True), ("= proxy q", proxy, False)]
    if truth is not None:
        fields.append(("reference − q", truth - proxy, True))
    shown = [values for _, values, signed in fields if not signed]
    low, high = min(values.min() for values in shown), max(values.max() for values in shown)
    for axis, (title, values, signed) in zip(np.atleast_1d(figure.subplots(1, len(fields))), fields, strict=True):
        span = max(np.abs(values).max(), 1e-300)
        limits = (-span, span, "RdBu_r") if signed else (low, high, "viridis")
        image = _map(axis, values, title, *limits)
        bar = figure.colorbar(image, ax=axis, orientation="horizontal", pad=0.04, ticks=limits[:2], format="%.2g")
        bar.ax.tick_params(labelsize=7)


def _map(axis: Any, values: Array, title: str, low: float, high: float, colours: str) -> Any:
    square = 0.5 <= values.shape[0] / values.shape[1] <= 2
    image = axis.imshow(
        values.T, origin="lower", vmin=low, vmax=high, cmap=colours, aspect="equal" if square else "auto"
    )
    axis.set_title(title, fontsize=8)
    axis.set_xticks([])
    axis.set_yticks([])
    return image


def _curves(figure: Any, names, outputs, proxy, anchor, ordered, truth) -> None:
    above, below = figure.subplots(2, 1, sharex=True)
    colours = _optional.load("matplotlib").colormaps["viridis"](np.linspace(0.05, 0.9, len(ordered)))
    for colour, i in zip(colours, ordered, strict=True):
        above.plot(outputs[i].ravel(), color=colour, lw=1, label=names[i][:20] if i in ordered[:SHOWN] else None)
        below.plot((outputs[i] - proxy).ravel(), color=colour, lw=1)
    if anchor is not None:
        above.plot(anchor.ravel(), color=MUTED, lw=1.3, ls=":", label="anchor w")
    above.plot(proxy.ravel(), color=PROXY, lw=1.8, label="proxy q")
    if truth is not None:
        below.plot((truth - proxy).ravel(), color=INK, lw=1.4, ls="--", label="reference − q")
        below.legend(fontsize=7, frameon=False)
    above.set_title(
        "candidates and proxy" if anchor is None else "candidates, anchor and proxy", fontsize=10, loc="left"
    )
    below.set_title("estimated error field of each candidate, v − q", fontsize=10, loc="left")
    below.set_xlabel("entry of the task output", fontsize=8)
    above.legend(fontsize=7, ncols=3, frameon=False)
    for axis in (above, below):
        axis.spines[["top", "right"]].set_visible(False)
        axis.tick_params(labelsize=8)


def _open(axis: Any, settled: Array, ordered: Sequence[int]) -> None:
    """A bracket beside neighbours that are not settled between them."""
    place, label = axis.get_xlim()[1], "not settled between them"
    for k, (before, after) in enumerate(pairwise(ordered)):
        if not settled[before, after]:
            axis.plot([place, place], [k - 0.2, k + 1.2], color=INK, lw=1.4, marker="_", ms=7, label=label)
            label = None


def _errors(figure: Any, names, estimates, true_errors, ordered, reach) -> Any:
    axis = figure.subplots()
    places = np.arange(len(ordered))
    axis.barh(places, estimates[ordered], height=0.62, color=PROXY, alpha=0.7, label="estimated, √S (no reference)")
    if np.isfinite(reach):  # what the estimate itself may still move by
        low = np.minimum(estimates[ordered], reach)
        ends = np.stack([low, np.full(len(ordered), reach)])
        axis.errorbar(estimates[ordered], places, xerr=ends, fmt="none", ecolor=MUTED, elinewidth=1.2, capsize=2.5)
    if true_errors is not None:
        axis.plot(
            np.asarray(true_errors)[ordered], places, "|", ms=13, mew=2.2, color=INK, label="true (revealed afterwards)"
        )
    axis.set_yticks(places, [names[i][:28] for i in ordered], fontsize=8)
    axis.invert_yaxis()
    axis.tick_params(axis="x", labelsize=8)
    axis.set_title("task error, as ranked without a reference", fontsize=10, loc="left")
    axis.spines[["top", "right"]].set_visible(False)
    return axis


def _figure(**options: Any) -> Any:
    return _optional.load("matplotlib.figure").Figure(**options)


def png(figure: Figure) -> bytes:
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=130)
    return buffer.getvalue()
