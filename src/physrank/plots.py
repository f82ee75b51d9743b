"""Pictures and the HTML report. Draws plain arrays; knows no result class, so results can call it."""

import base64
import html
import io
from collections.abc import Sequence
from typing import Any

import matplotlib
import numpy as np
from matplotlib.figure import Figure

from physrank.geometry.space import Array

INK, PROXY, MUTED = "#1b1f24", "#c2185b", "#8a939e"
CANDIDATE_COLOURS = "viridis"


def ranking_figure(
    *,
    names: Sequence[str],
    outputs: Array,
    proxy: Array,
    anchor: Array,
    estimates: Array,
    unresolved: str | None,
    truth: Array | None = None,
    true_errors: Array | None = None,
) -> Figure:
    """Fields above, estimated (and, once revealed, true) errors below."""
    figure = Figure(figsize=(11, 7.2), layout="constrained")
    top, bottom = figure.subfigures(2, 1, height_ratios=[1.25, 1])
    valid = [i for i in range(len(names)) if np.isfinite(estimates[i])]
    ordered = sorted(valid, key=lambda i: estimates[i])
    draw = _draw_surfaces if proxy.ndim == 2 and min(proxy.shape) > 3 else _draw_curves
    draw(top, names, outputs, proxy, anchor, ordered, truth)
    _draw_errors(bottom, names, estimates, true_errors, ordered)
    if unresolved:
        figure.suptitle(f"UNRESOLVED: {unresolved}", color="#b00020", fontsize=10, wrap=True)
    return figure


def _draw_surfaces(figure: Any, names, outputs, proxy, anchor, ordered, truth) -> None:
    best, worst = ordered[0], ordered[-1]
    fields = [
        (f"best: {names[best]}", outputs[best], False),
        (f"worst: {names[worst]}", outputs[worst], False),
        ("anchor w", anchor, False),
        ("correction q − Q(w)", proxy - anchor, True),
        ("proxy q", proxy, False),
    ]
    if truth is not None:
        fields.append(("reference − q", truth - proxy, True))
    states = [field for _, field, signed in fields if not signed]
    low, high = min(f.min() for f in states), max(f.max() for f in states)
    axes = figure.subplots(1, len(fields))
    for axis, (title, values, signed) in zip(axes, fields, strict=True):
        span = max(np.abs(values).max(), 1e-300)
        limits = {"vmin": -span, "vmax": span, "cmap": "RdBu_r"} if signed else {"vmin": low, "vmax": high, "cmap": "viridis"}
        image = axis.imshow(values.T, origin="lower", interpolation="nearest", **limits)
        figure.colorbar(image, ax=axis, orientation="horizontal", pad=0.03, ticks=[limits["vmin"], limits["vmax"]], format="%.1e")
        axis.set_title(title, fontsize=9, color=PROXY if "q" in title.split() else INK)
        axis.set_xticks([])
        axis.set_yticks([])


def _draw_curves(figure: Any, names, outputs, proxy, anchor, ordered, truth) -> None:
    left, right = figure.subplots(1, 2)
    flat = proxy.size
    grid = np.arange(flat)
    colours = matplotlib.colormaps[CANDIDATE_COLOURS](np.linspace(0.1, 0.9, len(ordered)))
    for colour, i in zip(colours, ordered, strict=True):
        left.plot(grid, outputs[i].ravel(), color=colour, lw=1, label=names[i])
        right.plot(grid, (outputs[i] - proxy).ravel(), color=colour, lw=1)
    left.plot(grid, anchor.ravel(), color=MUTED, lw=1.2, ls=":", label="anchor w")
    left.plot(grid, proxy.ravel(), color=PROXY, lw=1.8, label="proxy q")
    if truth is not None:
        right.plot(grid, (truth - proxy).ravel(), color=INK, lw=1.4, ls="--", label="reference − q")
        right.legend(fontsize=7, frameon=False)
    left.set_title("candidates, anchor and proxy (task output)", fontsize=9)
    right.set_title("candidate − q: estimated error fields", fontsize=9)
    left.legend(fontsize=7, ncols=2, frameon=False)
    for axis in (left, right):
        axis.spines[["top", "right"]].set_visible(False)


def _draw_errors(figure: Any, names, estimates, true_errors, ordered) -> None:
    axis = figure.subplots()
    positions = np.arange(len(ordered))
    axis.bar(positions, [estimates[i] for i in ordered], width=0.6, color=PROXY, alpha=0.75, label="estimated error √S (no reference)")
    if true_errors is not None:
        axis.plot(positions, [true_errors[i] for i in ordered], "_", ms=34, mew=2.5, color=INK, label="true error (revealed afterwards)")
    axis.set_xticks(positions, [names[i] for i in ordered], rotation=20, ha="right", fontsize=8)
    axis.set_ylabel("task error")
    axis.set_title("best → worst, as ranked without a reference", fontsize=9, loc="left")
    axis.legend(frameon=False, fontsize=8)
    axis.spines[["top", "right"]].set_visible(False)


def png(figure: Figure) -> bytes:
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=130)
    return buffer.getvalue()


STYLE = """
body{font:16px/1.5 system-ui,sans-serif;max-width:62rem;margin:2rem auto;padding:0 1rem;color:#1b1f24}
table{border-collapse:collapse;margin:1rem 0}td,th{padding:.3rem .9rem;border-bottom:1px solid #d8dee4;text-align:left}
td.n{text-align:right;font-variant-numeric:tabular-nums}img{max-width:100%}
.bad{background:#fdecea;border-left:4px solid #b00020;padding:.6rem 1rem}.muted{color:#57606a}
"""


def html_report(result: dict[str, Any], figure: Figure) -> str:
    """One self-contained page from a ranking's dictionary and its figure."""
    escape = html.escape
    unresolved = result["unresolved"]
    headline = "Unresolved" if unresolved else f"Trust {escape(result['order'][0])}"
    rows = []
    for place, name in enumerate(result["order"], start=1):
        entry = result["candidates"][name]
        rows.append(
            f"<tr><td class=n>{place}</td><td>{escape(name)}</td><td class=n>{entry['error_estimate']:.4g}</td>"
            f"<td class=n>{entry['score']:.4g}</td></tr>"
        )
    for name, entry in result["candidates"].items():
        if entry["excluded"]:
            rows.append(f"<tr><td class=n>–</td><td>{escape(name)}</td><td colspan=2>excluded: {escape(entry['excluded'])}</td></tr>")
    response = result["response"]
    facts = "".join(f"<tr><td>{escape(key.replace('_', ' '))}</td><td class=n>{_fact(value)}</td></tr>" for key, value in response.items())
    notes = "".join(f"<li>{escape(note)}</li>" for note in result["notes"])
    banner = f"<p class=bad>{escape(unresolved)}</p>" if unresolved else ""
    picture = base64.b64encode(png(figure)).decode()
    return f"""<!doctype html><html lang=en><meta charset=utf-8><title>physrank: {headline}</title><style>{STYLE}</style>
<h1>{headline}</h1>{banner}
<p class=muted>{escape(result["method"])}; task {escape(result["task"])}; anchor {escape(result["anchor"])}; physrank {escape(result["physrank"])}</p>
<table><tr><th></th><th>candidate</th><th>estimated error</th><th>score</th></tr>{"".join(rows)}</table>
<p class=muted>Estimated errors are estimates, not bounds.</p>
<img alt="candidates, proxy and estimated errors" src="data:image/png;base64,{picture}">
<h2>The response</h2><table>{facts}</table>{f"<h2>Notes</h2><ul>{notes}</ul>" if notes else ""}</html>
"""


def _fact(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else html.escape(str(value))
