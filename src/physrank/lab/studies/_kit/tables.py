"""What every study reports: recovery per cell and pooled, with intervals; and how results are stored."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from physrank import report
from physrank._io import write_bytes, write_json
from physrank.geometry.space import Array
from physrank.lab.evaluation import SEEDS, Outcomes, Recovery, clustered
from physrank.lab.libraries import Library, equations_of
from physrank.lab.store.provenance import stamp
from physrank.lab.studies._kit.cases import Cases

RAW_TIE, SHARED_TIE = 1e-12, 1.01e-8  # numerical ties of the two scores, as the paper states them


def clusters(many: Sequence[Cases]) -> list[str]:
    """The input behind each row: libraries of one equation share their inputs, and a bootstrap keeps them together."""
    return [f"{cases.library.equation}-{k}" for cases in many for k in range(len(cases.losses))]


def input_fingerprints(libraries: Iterable[Library]) -> dict[str, str]:
    """The input law of each equation: numbers measured under another law are other numbers."""
    return {equation.name: equation.input_fingerprint for equation in equations_of(libraries)}


def spread(values: Array) -> float:
    """Largest over smallest: how much the checkpoints of a library differ before any input is shifted."""
    return float(values.max() / values.min())


def pooled(many: Sequence[Cases], method: str) -> tuple[Array, Array]:
    return np.concatenate([c.losses for c in many]), np.concatenate([c.scores[method] for c in many])


def recovery(
    many: Sequence[Cases], method: str, *, strict: bool = False, seed: int = SEEDS["primary"]
) -> dict[str, Any]:
    """Counts with input-clustered intervals; `strict` counts every pair and exact winners, unresolved ones as errors."""
    losses, scores = pooled(many, method)
    options: dict[str, Any] = {}
    if strict:
        options = {
            "unresolved_pairs": np.concatenate([c.unresolved_pairs for c in many]),
            "unresolved_top1": np.concatenate([c.unresolved_top1 for c in many]),
        }
    found = Outcomes.of(losses, scores, **options)
    rows, ones = clusters(many), np.ones(len(losses))
    strata = [cases.library.equation for cases in many for _ in cases.losses]  # the design fixes the inputs of each
    right, counted = (found.strict_correct, found.pairs) if strict else (found.non_ties_correct, found.non_ties)
    top = found.top1_exact if strict else found.top1_tolerant
    return {
        **Recovery.from_outcomes(found).to_dict(),
        "pair_interval": clustered(right, counted, rows, seed=seed, strata=strata).to_dict(),
        "top1_interval": clustered(top, ones, rows, seed=seed, strata=strata).to_dict(),
    }


def cells(many: Sequence[Cases], methods: Sequence[str], *, strict: bool = False) -> dict[str, dict[str, Any]]:
    """Recovery of every library on its own, without intervals: its inputs are shared with other cells."""
    result: dict[str, dict[str, Any]] = {}
    for cases in many:
        options: dict[str, Any] = {}
        if strict:
            options = {"unresolved_pairs": cases.unresolved_pairs, "unresolved_top1": cases.unresolved_top1}
        result[cases.library.name] = {
            method: Recovery.from_outcomes(Outcomes.of(cases.losses, cases.scores[method], **options)).to_dict()
            for method in methods
        }
    return result


def share(row: dict[str, Any], *, strict: bool = False) -> tuple[float, float]:
    """(pairs, top-1) as fractions."""
    pairs = row["strict_correct"] / row["pairs_all"] if strict else row["pairs_correct"] / max(row["pairs"], 1)
    return pairs, row["top1_exact" if strict else "top1_tolerant"] / row["cases"]


def store(folder: Path, name: str, result: dict[str, Any], figure: Figure) -> list[Path]:
    """The table as JSON with its provenance, and one picture."""
    numbers = write_json(folder / f"{name}.json", stamp(result))
    return [numbers, write_bytes(folder / f"{name}.png", report.png(figure))]
