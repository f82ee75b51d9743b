"""Colours, labels and the few chart forms that studies share."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from physrank.lab.figures.style import COLOURS, MARKERS, cell_label

__all__ = ["COLOURS", "MARKERS", "cell_label", "paired_bars"]


def paired_bars(axis: Any, labels: Sequence[str], series: Mapping[str, Sequence[float]], title: str) -> None:
    """One group of bars per label, one bar per method."""
    places, width = np.arange(len(labels)), 0.8 / len(series)
    for k, (method, values) in enumerate(series.items()):
        offset = (k - (len(series) - 1) / 2) * width
        axis.bar(places + offset, values, width, color=COLOURS.get(method, f"C{k}"), label=method)
    axis.set(title=title, ylim=(0, 1.2), yticks=np.linspace(0, 1, 6))  # the space above one is the legend's
    axis.set_xticks(places, labels, rotation=45, ha="right", fontsize=7)
    axis.legend(frameon=False, fontsize=7, loc="upper center", ncols=len(series))
