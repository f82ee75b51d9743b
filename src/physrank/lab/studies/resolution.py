"""Study 16: other grids. Fixed candidates diagnosed on finer ones, checkpoints run again on them, and what can be foreseen.

Fixed candidates: the stored predictions are lifted to both grids, so that only the diagnostic changes. Re-inference: the same
checkpoints on their own grid and on the comparison grid are different candidates, and truth reverses with them. Between two
grids every gap is accounted for exactly (`geometry.CrossGrid`); the screen ranks where that account settles the fine gap
and abstains elsewhere. Covered decisions agree by algebra: coverage is what is measured.
"""

from typing import Any

import numpy as np
from matplotlib.figure import Figure

from physrank.geometry.space import Array
from physrank.lab.equations.equation import Equation, Transition
from physrank.lab.evaluation import SEEDS, auprc, auroc, auroc_gain, flips
from physrank.lab.libraries import ARCHITECTURES, GROUPS, Library, equations_of
from physrank.lab.studies._kit import tables
from physrank.lab.studies._kit.cases import Context, evaluate
from physrank.lab.studies._kit.crossing import ABSTAINS, Side, crossed, native_points

PAPER = {
    "transitions": {
        "burgers 192 → 384": [26874, 0, 0, 0],
        "reaction_diffusion 64 → 128": [26835, 10, 63, 2],
        "reaction_diffusion 128 → 256": [26818, 0, 25, 0],
        "reaction_diffusion 256 → 512, new inputs": [26793, 0, 6, 0],
    },
    "flips": {"none": 37782, "both": 15534, "diagnostic_only": 256, "truth_only": 188},
    "coverage": {"fno": [0.980394, 0.934375], "cno": [0.321205, 0.056250]},  # pairs, top-1, after re-inference
    "closure": 9.1593e-16,
    "predictor": {
        "fno": {"increment": 0.0662, "auprc": [0.3639, 0.5060]},
        "cno": {"increment": -0.0342, "auprc": [0.5724, 0.5455]},
    },
    "locality_and_gain": -0.9524,
}


def run(context: Context) -> tuple[dict[str, Any], Figure]:
    primary = GROUPS["primary"]
    transitions = {
        _named(e, t): _transition([_fixed(context, lib, t) for lib in primary if lib.declared is e])
        for e in equations_of(primary)
        for t in e.transitions
    }
    screened = {
        "fixed candidates": {library.name: _between(context, library) for library in primary},
        "re-inference": {library.name: _again(context, library) for library in primary},
    }
    of = {a: [lib for lib in primary if lib.architecture == a] for a in ARCHITECTURES}
    result = {
        "study": "resolution",
        "profile": context.profile.name,
        "transitions": transitions,
        "flips": _flips(context),
        "screen": {
            name: {a: _screen([found[lib.name] for lib in libraries]) for a, libraries in of.items() if libraries}
            for name, found in screened.items()
        },
        "predictor": {
            a: _predictor([screened["re-inference"][lib.name] for lib in libraries], libraries)
            for a, libraries in of.items()
            if libraries
        },
        **_by_library({library: screened["re-inference"][library.name] for library in primary}),
        "input_fingerprint": tables.input_fingerprints(primary),
        "paper": PAPER,
    }
    return result, _figure(result)


def _by_library(found: dict[Library, dict[str, Array]]) -> dict[str, Any]:
    """The same of every library; and does the first-order gap foretell less where the account is less local?"""
    rows: dict[str, dict[str, Any]] = {
        library.name: _predictor([one], [library]) | {"median_locality": _locality([one])}
        for library, one in found.items()
    }
    told = [row for row in rows.values() if row["increment"]]
    columns = [[row["median_locality"] for row in told], [row["increment"]["estimate"] for row in told]]
    ranks = [np.argsort(np.argsort(column)) for column in columns]  # Spearman's correlation is that of ranks
    apart = all(len(set(column)) > 1 for column in columns)  # those of equal values say nothing
    return {
        "predictor_by_library": rows,
        "locality_and_gain": float(np.asarray(np.corrcoef(ranks))[0, 1]) if apart else None,
    }


def _named(equation: Equation, transition: Transition) -> str:
    new = "" if transition.population == "evaluation" else ", new inputs"
    return f"{equation.name} {transition.coarse} → {transition.fine}{new}"


def _fixed(context: Context, library: Library, transition: Transition) -> dict[str, Array]:
    count = max(context.profile.evaluation // transition.share, 1) if transition.share > 1 else None
    sides = (Side(transition.coarse), Side(transition.fine))
    return crossed(context, library, transition.population, *sides, limit=count)


def _between(context: Context, library: Library) -> dict[str, Array]:
    """The stored predictions on the two finest grids of the diagnostic that both equations share."""
    return _fixed(context, library, library.declared.transitions[0])


def _again(context: Context, library: Library) -> dict[str, Array]:
    """Checkpoints on the grid they were trained on, diagnosed there, and on the comparison grid, diagnosed there."""
    equation = library.declared
    sides = (Side(native_points(equation)), Side(equation.points, "reinferred"))
    return crossed(context, library, "evaluation", *sides)


def _transition(found: list[dict[str, Array]]) -> dict[str, int]:
    """Pairs that are no ties on at least one grid; reversed preferences; labels that changed at all; other winners."""
    scores = [np.concatenate([f[f"scores {side}"] for f in found]) for side in ("coarse", "fine")]
    kept = np.isfinite(scores[0]).all(axis=1) & np.isfinite(scores[1]).all(axis=1)
    low, high = (s[kept] for s in scores)
    i, j = np.triu_indices(low.shape[1], 1)
    labels = [np.sign(g) * (np.abs(g) > tables.SHARED_TIE) for g in (s[:, j] - s[:, i] for s in (low, high))]
    return {
        "cells": len(found),
        "cases": int(kept.sum()),
        "unresolved": int((~kept).sum()),
        "pairs": int(np.sum((labels[0] != 0) | (labels[1] != 0))),
        "strict_flips": int(np.sum(labels[0] * labels[1] < 0)),
        "tolerance_transitions": int(np.sum(labels[0] != labels[1])),
        "top1_changes": int(np.sum(low.argmin(axis=1) != high.argmin(axis=1))),
    }


def _flips(context: Context) -> dict[str, Any]:
    """Both realizations diagnosed on the comparison grid, where truth knows them too."""
    found = {r: [evaluate(context, lib, realization=r) for lib in GROUPS["primary"]] for r in ("native", "reinferred")}
    tables_of = {
        r: (np.concatenate([c.losses for c in many]), np.concatenate([c.scores["shared"] for c in many]))
        for r, many in found.items()
    }
    (losses_a, scores_a), (losses_b, scores_b) = tables_of.values()
    kept = np.isfinite(scores_a).all(axis=1) & np.isfinite(scores_b).all(axis=1)
    return flips(losses_a[kept], losses_b[kept], scores_a[kept], scores_b[kept]).to_dict() | {
        "unresolved": int((~kept).sum())
    }


def _joined(found: list[dict[str, Array]], name: str) -> Array:
    return np.concatenate([f[name] for f in found])


def _screen(found: list[dict[str, Array]]) -> dict[str, Any]:
    """Coverage of pairs and winners; what candidates' drifts alone would have said; how local the drifts are."""
    signs, fine, winner = (_joined(found, name) for name in ("signs", "fine", "winner"))
    best = _joined(found, "scores fine").argmin(axis=1)
    return {
        "pairs": int(signs.size),
        "pairs_covered": int(np.sum(signs != 0)),
        "pairs_covered_wrong": int(np.sum((signs != 0) & (signs != np.sign(fine)))),
        "cases": len(fine),
        "top1_covered": int(np.sum(winner != ABSTAINS)),
        "top1_covered_wrong": int(np.sum((winner != ABSTAINS) & (winner != best))),
        "largest_closure": float(_joined(found, "closure").max()),
        "wrong_without_proxy_drift": int(np.sum(np.sign(_joined(found, "candidates_only")) != np.sign(fine))),
        "median_locality": _locality(found),
    }


def _locality(found: list[dict[str, Array]]) -> float:
    """The bilinear rest of a gap over its first-order part, in the median: above one, no sign is settled by the latter."""
    first, rest = (np.abs(_joined(found, name)) for name in ("first_order", "remainder"))
    return float(np.median(rest / np.maximum(first, np.finfo(float).tiny)))


def _predictor(found: list[dict[str, Array]], libraries: list[Library]) -> dict[str, Any]:
    """Which diagnostic preferences reverse from grid to grid: told by small margins, or by the first-order gap."""
    coarse, fine, first = (_joined(found, name) for name in ("coarse", "fine", "first_order"))
    events, ways = coarse * fine < 0, {"margin": -np.abs(coarse), "first order": -np.sign(coarse) * first}
    counts = {"pairs": int(events.size), "reversed": int(events.sum())}
    if not events.any() or events.all():
        return counts | {"auroc": None, "auprc": None, "increment": None}
    clusters = [f"{lib.equation}-{k}" for f, lib in zip(found, libraries, strict=True) for k in range(len(f["coarse"]))]
    areas = {
        name: {way: area(events, scores) for way, scores in ways.items()}
        for name, area in (("auroc", auroc), ("auprc", auprc))
    }
    gained = auroc_gain(events, ways["first order"], ways["margin"], clusters, seed=SEEDS["primary"])
    return counts | areas | {"increment": gained.to_dict()}


def claims(result: dict[str, Any]) -> list[tuple[str, bool]]:
    rows = [row for of in result["screen"].values() for row in of.values()]
    closure, wrong = (
        max(row["largest_closure"] for row in rows),
        sum(row["pairs_covered_wrong"] + row["top1_covered_wrong"] for row in rows),
    )
    moved, both = result["flips"], result["flips"]["both"]
    reversed_ = both + moved["diagnostic_only"]
    strict, pairs = (sum(t[key] for t in result["transitions"].values()) for key in ("strict_flips", "pairs"))
    return [
        (f"the cross-grid identity closes below 1e-14 ({closure:.1e})", closure < 1e-14),
        (f"no decision that the screen covers is wrong on the fine grid ({wrong} are)", wrong == 0),
        (
            f"fixed candidates keep their order from grid to grid: less than 1 in 1,000 preferences reverse ({strict} of "
            f"{pairs:,})",
            strict < 1e-3 * pairs,
        ),
        (
            f"where re-inference reverses the diagnostic, truth reverses too in at least 95 % of pairs ({both:,} of "
            f"{reversed_:,})",
            both >= 0.95 * reversed_,
        ),
    ]


def _figure(result: dict[str, Any]) -> Figure:
    figure: Any = Figure(figsize=(11, 3.4), layout="constrained")
    left, right = figure.subplots(1, 2)
    names, shown = [], []
    for population, of in result["screen"].items():
        for architecture, row in of.items():
            names.append(f"{population}\n{architecture.upper()}")
            shown.append((row["pairs_covered"] / row["pairs"], row["top1_covered"] / row["cases"]))
    for k, (label, colour) in enumerate((("pairs", "#0d47a1"), ("winners", "#c9a227"))):
        left.bar(np.arange(len(names)) + 0.4 * (k - 0.5), [row[k] for row in shown], 0.4, color=colour, label=label)
    left.set(title="ranked by the screen; the rest abstains", ylim=(0, 1.2), yticks=np.linspace(0, 1, 6))
    left.set_xticks(range(len(names)), names, fontsize=8)
    left.legend(frameon=False, fontsize=8, ncols=2, loc="upper center")
    told = {a: row for a, row in result["predictor"].items() if row["auroc"]}
    for k, (way, colour) in enumerate((("margin", "#8d9db6"), ("first order", "#c2185b"))):
        heights = [row[area][way] for row in told.values() for area in ("auroc", "auprc")]
        right.bar(np.arange(len(heights)) + 0.4 * (k - 0.5), heights, 0.4, color=colour, label=way)
    right.set(title="which preferences reverse under re-inference", ylim=(0, 1.2), yticks=np.linspace(0, 1, 6))
    ticks = [f"{a.upper()}\n{area}" for a in told for area in ("AUROC", "AUPRC")]
    right.set_xticks(range(len(ticks)), ticks, fontsize=8)
    right.legend(frameon=False, fontsize=8, ncols=2, loc="upper center")
    return figure
