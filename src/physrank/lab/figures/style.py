"""One style for every figure: colours that colour-blind readers tell apart, sizes for print, letters for panels.

Colours are Paul Tol's "bright" scheme; no figure tells methods apart by colour alone: lines have dashes, points have shapes.
"""

import io
from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from physrank.geometry.space import Array
from physrank.lab.equations import EQUATIONS
from physrank.lab.evaluation.compact import PROBABILITIES

INK, FAINT = "#1b1f24", "#c9ced6"
WIDTH = 7.2  # inches: two columns of a journal
TEXT = 8  # points, in print
COLOURS = {
    "shared": "#AA3377",
    "raw": "#4477AA",
    "validation": "#CCBB44",
    "mean centrality": "#228833",
    "medoid centrality": "#66CCEE",
    "wrong input": "#EE6677",
    "reversed": "#8a8f98",
    "common energy": "#228833",
    "adapted majorant": "#EE6677",
    "best terminal model": "#CCBB44",
    "candidate-wise": INK,
}
DASHES: dict[str, Any] = {
    "shared": "-",
    "raw": (0, (5, 1.5)),
    "validation": (0, (1, 1)),
    "mean centrality": (0, (4, 1, 1, 1)),
    "medoid centrality": (0, (4, 1, 1, 1, 1, 1)),
    "wrong input": (0, (2, 1)),
    "reversed": (0, (1, 2)),
    "common energy": (0, (4, 1, 1, 1)),
    "adapted majorant": (0, (2, 2)),
    "best terminal model": (0, (1, 1)),
    "candidate-wise": (0, (1, 2.5)),
}
MARKERS = {
    "shared": "o",
    "raw": "s",
    "validation": "v",
    "mean centrality": "D",
    "medoid centrality": "P",
    "wrong input": "^",
    "reversed": "x",
    "candidate-wise": "*",
}
CANDIDATES = ("#4477AA", "#EE6677", "#228833", "#CCBB44", "#66CCEE", "#AA3377", "#8a8f98", "#1b1f24")
SIZES: Any = {
    "font.size": TEXT,
    "axes.titlesize": TEXT,
    "axes.labelsize": TEXT,
    "xtick.labelsize": TEXT - 1,
    "ytick.labelsize": TEXT - 1,
    "legend.fontsize": TEXT - 1,
    "legend.frameon": False,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 0.7,
    "lines.linewidth": 1.4,
}


def png(drawn: Any) -> bytes:
    """Sharp enough for print at its width."""
    buffer = io.BytesIO()
    drawn.savefig(buffer, format="png", dpi=200)
    return buffer.getvalue()


def figure(height: float) -> Any:
    return Figure(figsize=(WIDTH, height), layout="constrained")


def letter(axis: Any, name: str) -> None:
    """The panel's letter, outside of its axes at the upper left, where no title reaches."""
    axis.annotate(
        name,
        (0, 1),
        xytext=(-24, 6),
        xycoords="axes fraction",
        textcoords="offset points",
        weight="bold",
        size=TEXT + 1,
    )


def cell_label(name: str) -> str:
    """burgers-fno-e1 → B FNO e1."""
    equation, architecture, member = name.rsplit("-", 2)
    return f"{EQUATIONS[equation].label} {architecture.upper()} {member}"


def look(method: str) -> dict[str, Any]:
    return {"color": COLOURS.get(method, INK), "ls": DASHES.get(method, "-"), "label": method}


def distribution(axis: Any, method: str, values: Sequence[float]) -> None:
    """An empirical distribution function from stored quantiles."""
    axis.step(values, PROBABILITIES, where="post", **look(method))


def regret_axes(axis: Any, title: str) -> None:
    axis.set(xlabel="normalized regret of the choice", ylabel="share of cases", xlim=(-0.02, 1.02), ylim=(0, 1.03))
    axis.set_title(title)


def heat(axis: Any, table: Array, most: float, **extent: Any) -> Any:
    """Counts on a logarithmic scale that all panels of a figure share; white is none."""
    shown = np.where(table > 0, np.log10(np.maximum(table, 1)), np.nan)
    return axis.imshow(shown, origin="lower", cmap="viridis_r", vmin=0, vmax=np.log10(most), **extent)
