"""Study 9: when a ranking calls a pair settled, is it right? How much is left open? One response, and the ladder."""

from itertools import starmap
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from physrank import geometry
from physrank.geometry.space import Array
from physrank.lab.equations import EQUATIONS
from physrank.lab.libraries import GROUPS, Library, equations_of
from physrank.lab.references.reference import Reference
from physrank.lab.studies._kit.cases import Context, problems_and_candidates, references_of
from physrank.lab.studies._kit.tables import input_fingerprints
from physrank.ranking import Ranking
from physrank.rungs.climb import ARITHMETIC as LADDER_VERSION

TIE = 1e-6
EFFORTS: dict[str, dict[str, Any]] = {  # what `rank` is asked for; the ladder need not settle what would not matter
    "response": {"effort": "response"},
    "ladder": {"effort": "auto", "tolerance": TIE},
}
ARITHMETIC = 1  # of the uncertainties: raised when what they compute changes
RATIOS = np.geomspace(0.1, 100, 31)  # of |gap| to its uncertainty


def run(context: Context) -> tuple[dict[str, Any], Figure]:
    found, climbed = (
        {library.name: _measure(context, library, effort) for library in GROUPS["primary"]} for effort in EFFORTS
    )
    of, on_ladder = (
        {
            equation.name: [tables[library.name] for library in GROUPS["primary"] if library.equation == equation.name]
            for equation in equations_of(GROUPS["primary"])
        }
        for tables in (found, climbed)
    )
    result = {
        "study": "doubt",
        "profile": context.profile.name,
        "cells": {name: _row([table]) for name, table in found.items()},
        "by_equation": {name: _row(tables) for name, tables in of.items()},
        "pooled": _row(list(found.values())),
        "ladder": {name: _row(tables) | {"ended_on": _ended(tables)} for name, tables in on_ladder.items()},
        "curves": {name: _curve(tables) for name, tables in of.items()},
        "input_fingerprint": input_fingerprints(GROUPS["primary"]),
    }
    return result, _figure(result)


def _ended(tables: list[dict[str, Array]]) -> dict[str, int]:
    """How many inputs ended on which rung."""
    names, counts = np.unique(np.concatenate([t["rung"] for t in tables]), return_counts=True)
    return {str(name): int(count) for name, count in zip(names, counts, strict=True)}


def _measure(context: Context, library: Library, effort: str) -> dict[str, Array]:
    """Gaps, their uncertainties and the true gaps of all pairs above the diagonal, input by input."""

    def make() -> dict[str, Array]:
        cases = list(problems_and_candidates(context, library, "evaluation"))
        panel = context.panel(cases, **EFFORTS[effort])
        known = zip(panel, references_of(context, library, "evaluation"), strict=True)
        return context.told(f"{library.name} {effort}", starmap(_pairs, known), len(cases))

    key = context.content(library, "evaluation") | {"arithmetic": ARITHMETIC}
    return context.cached("doubt", key | {"effort": effort, "ladder": LADDER_VERSION}, make)


def _pairs(one: Ranking, reference: Reference) -> dict[str, Any]:
    losses, changes = reference.losses(one.space, one.outputs)
    upper = np.triu_indices(len(losses), 1)
    return {
        "gaps": one.gaps[upper],
        "uncertainty": np.full(len(upper[0]), np.inf) if one.unresolved else one.uncertainty[upper],
        "true": geometry.gap_matrix(losses)[upper],
        "doubt": (changes[:, None] + changes[None, :])[upper],
        "best settled": one.best_settled,
        "best right": losses[int(np.nanargmin(one.scores))] <= losses.min() + TIE,
        "left out": len(one.left_out),
        "rung": np.array(one.rung.name),
    }


def _row(tables: list[dict[str, Array]]) -> dict[str, Any]:
    column = {name: np.concatenate([t[name] for t in tables]) for name in tables[0]}
    gaps, true = column["gaps"], column["true"]
    real = np.abs(true) > TIE
    settled = np.abs(gaps) > column["uncertainty"]
    wrong = settled & (np.sign(gaps) != np.sign(true)) & (np.abs(true) > column["doubt"])
    sure = column["best settled"].astype(bool)
    return {
        "inputs": len(gaps),
        "pairs": int(gaps.size),
        "non_ties": int(real.sum()),
        "settled": int((settled & real).sum()),
        "open": int((~settled & real).sum()),
        "right": int((real & (np.sign(gaps) == np.sign(true))).sum()),
        "wrong": int((wrong & real).sum()),
        "wrong_ties": int((wrong & ~real).sum()),
        "best_settled": int(sure.sum()),
        "best_settled_wrong": int((sure & ~column["best right"].astype(bool)).sum()),
        "left_out": int(column["left out"].sum()),
    }


def _curve(tables: list[dict[str, Array]]) -> dict[str, list[float]]:
    """The share of wrong pairs among those whose gap exceeds each multiple of its uncertainty, and the share left out."""
    column = {name: np.concatenate([t[name] for t in tables]) for name in ("gaps", "uncertainty", "true")}
    real = np.abs(column["true"]) > TIE
    ratio = np.abs(column["gaps"][real]) / np.maximum(column["uncertainty"][real], 1e-300)
    wrong = np.sign(column["gaps"][real]) != np.sign(column["true"][real])
    kept = [ratio > r for r in RATIOS]
    return {
        "open": [float(1 - k.mean()) for k in kept],
        "wrong": [float(wrong[k].mean()) if k.any() else 0.0 for k in kept],
    }


def claims(result: dict[str, Any]) -> list[tuple[str, bool]]:
    found = []
    for name, row in result["by_equation"].items():
        title, share = EQUATIONS[name].title, row["open"] / row["non_ties"]
        found += [
            (
                f"{title}: at most one settled pair in 10,000 is wrong ({row['wrong']} of {row['settled']:,})",
                row["wrong"] <= 1e-4 * row["settled"],
            ),
            (
                f"{title}: at most 1.5 % of non-tie pairs are left open ({row['open']} of {row['non_ties']:,}, {share:.2%})",
                share <= 0.015,
            ),
        ]
    return found + [claim for name, row in result["ladder"].items() for claim in _claims_of_the_ladder(name, row)]


def _claims_of_the_ladder(name: str, row: dict[str, Any]) -> list[tuple[str, bool]]:
    title, share, right = EQUATIONS[name].title, row["open"] / row["non_ties"], row["right"] / row["non_ties"]
    return [
        (
            f"{title}, on the ladder: at least 99.95 % of non-tie pairs are right ({row['right']:,} of {row['non_ties']:,}, "
            f"{right:.2%}), and at least 99.9 % of the settled ones ({row['wrong']} of {row['settled']:,} are wrong)",
            right >= 0.9995 and row["wrong"] <= 1e-3 * row["settled"],
        ),
        (f"{title}, on the ladder: at most 2 % are left open ({row['open']} of {row['non_ties']:,})", share <= 0.02),
    ]


def _figure(result: dict[str, Any]) -> Figure:
    figure: Any = Figure(figsize=(9, 3.4), layout="constrained")
    for axis, (name, curve) in zip(figure.subplots(1, len(result["curves"])), result["curves"].items(), strict=True):
        axis.plot(RATIOS, np.maximum(curve["wrong"], 1e-6), color="#c2185b", label="wrong among the settled")
        axis.plot(RATIOS, curve["open"], color="#5c6f82", label="left open")
        axis.axvline(1.0, color="#1b1f24", lw=0.8, ls=":")
        axis.annotate("settled from here", (1, 2e-6), xytext=(5, 0), textcoords="offset points", fontsize=8)
        axis.set(xscale="log", yscale="log", xlabel="|gap| ÷ uncertainty asked for", ylim=(1e-6, 1.2))
        axis.set(title=EQUATIONS[name].title, ylabel="share of non-tie pairs")
        axis.set_yticks([1, 1e-2, 1e-4, 1e-6], ["1", "1 %", "0.01 %", "none"])
        axis.minorticks_off()
        axis.legend(frameon=False, fontsize=8, loc="upper left")
    return figure
