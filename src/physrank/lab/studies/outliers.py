"""Study 21: outliers moved farther. Where does each anchor break, and is a wrong winner ever called settled?

The outlying run of a library is as far off as its training made it (study 3). Its departure from the other runs is
multiplied; and in its place a ninth candidate is put that solves the equation with a mis-stated number.
"""

from collections.abc import Callable
from functools import cache, partial
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from physrank.geometry.space import Array
from physrank.lab.evaluation import Outcomes
from physrank.lab.libraries import GROUPS, Library
from physrank.lab.studies._kit import tables
from physrank.lab.studies._kit.cases import Context, problems_and_candidates, references_of, trusted
from physrank.lab.studies._kit.outlying import clustered, counts, only, summed
from physrank.ranking import scorers
from physrank.rungs.climb import ARITHMETIC as LADDER_VERSION

FARTHER = (1, 2, 4, 8, 16, 32, 64)  # multiples of the outlying run's departure from the mean of the others
WRONG = "wrong physics"
COMPOSED: dict[str, dict[str, Any]] = {
    "mean": {"anchor": "mean"},
    "medoid": {"anchor": "medoid"},
    "auto": {"anchor": "auto", "effort": "response"},
    "auto, until settled": {"anchor": "auto", "until": "settled"},
}
LADDER: dict[str, dict[str, Any]] = {"ladder": {"effort": "auto"}}  # as `rank` does it when nothing is named
MOVED = "s1"  # the libraries whose outliers are moved: one of each equation and architecture
REACHED = 0.995  # of pairs and of winners, in every cell
ARITHMETIC = 2  # of anchors and corrections: raised when what they compute changes


def run(context: Context) -> tuple[dict[str, Any], Figure]:
    libraries = [library for library in GROUPS["stress"] if library.member == MOVED]
    cells = {library.name: {made: _by_method(context, library, made) for made in _cells()} for library in libraries}
    result = {
        "study": "outliers",
        "profile": context.profile.name,
        "cells": cells,
        "pooled": {
            made: {method: summed(of[made][method] for of in cells.values()) for method in COMPOSED | LADDER}
            for made in _cells()
        },
        "input_fingerprint": tables.input_fingerprints(libraries),
    }
    return result, _figure(result)


def _cells() -> tuple[str, ...]:
    """What is made of each library: its outlier moved, or a candidate more."""
    return (*map(str, FARTHER), WRONG)


def _by_method(context: Context, library: Library, made: str) -> dict[str, Any]:
    """Every method in one cell, whose cases are made once."""
    cases, found = cache(partial(_made, context, library, made)), {}
    for what, methods in (("composed", COMPOSED), ("climbed", LADDER)):
        tables = _composed(context, library, made, what, methods, cases)
        found |= {method: _cell(tables, method) for method in methods}
    return found


def _composed(
    context: Context,
    library: Library,
    made: str,
    what: str,
    methods: dict[str, dict[str, Any]],
    cases_of: Callable[[], list[Any]],
) -> dict[str, Array]:
    """Scores by every one of `methods`, hidden losses, and whether the best candidate was called settled, in one cell."""

    def make() -> dict[str, Array]:
        cases = cases_of()
        references, found = references_of(context, library, library.instances), {}
        for method, options in methods.items():
            panel = context.panel(cases, **options)
            rows = []
            for k, (one, reference) in enumerate(zip(panel, references, strict=True)):
                losses, _ = reference.losses(one.space, one.outputs)
                rows.append((trusted(one.scoring), one.best_settled, losses))
                context.progress(f"{library.name}, {made}: {method}", k + 1, len(cases))
            scores, settled, losses = (np.stack(column) for column in zip(*rows, strict=True))
            found |= {f"score {method}": scores, f"settled {method}": settled, "losses": losses}
        return found

    key = context.content(library, library.instances) | {"made": made, "arithmetic": ARITHMETIC}
    key |= {"ladder": LADDER_VERSION} if methods is LADDER else {}
    return context.cached(what, key, make)


def _made(context: Context, library: Library, made: str) -> list[Any]:
    """The cases with the outlying run at c + factor (v − c), c the mean of the others; or with one candidate more."""
    cases, kept = problems_and_candidates(context, library, library.instances), clustered(context, library)
    if made == WRONG:
        return [(problem, candidates | {WRONG: _mistaken(library, problem)}) for problem, candidates in cases]
    return [(problem, _moved(candidates, kept, float(made))) for problem, candidates in cases]


def _mistaken(library: Library, problem: Any) -> Array:
    """The solution of the equation with a mis-stated number."""
    state, failed = scorers.DirectSolve().solution(library.declared.mistaken(problem), problem.state_shape)
    if failed:
        raise ValueError(f"{library.name}: the mis-stated problem has no solution to compare with, because {failed}.")
    return state


def _moved(candidates: dict[str, Array], kept: list[int], factor: float) -> dict[str, Array]:
    centre = np.mean(list(only(kept, candidates).values()), axis=0)
    return {n: v if k in kept else centre + factor * (v - centre) for k, (n, v) in enumerate(candidates.items())}


def _cell(found: dict[str, Array], method: str) -> dict[str, Any]:
    losses, scores, settled = (found[key] for key in ("losses", f"score {method}", f"settled {method}"))
    missed = ~Outcomes.of(losses, scores).top1_tolerant
    return counts(losses, scores) | {
        "unresolved": int(np.isnan(scores).all(axis=1).sum()),
        "best_settled": int(settled.sum()),
        "best_settled_wrong": int((missed & settled.astype(bool)).sum()),
    }


def claims(result: dict[str, Any]) -> list[tuple[str, bool]]:
    medoid, mean = (tables.share(result["pooled"][str(FARTHER[-1])][a], strict=True) for a in ("medoid", "mean"))
    return [
        *_of_auto(result),
        (
            f"with the outlier {FARTHER[-1]} times farther off, the medoid anchor keeps more than 99 % of pairs "
            f"and winners, and the mean anchor does not (winners: {medoid[1]:.1%}, {mean[1]:.1%})",
            min(medoid) > 0.99 > mean[1],
        ),
    ]


def _of_auto(result: dict[str, Any]) -> list[tuple[str, bool]]:
    """In every cell: library × factor, and library × wrong physics."""
    every = COMPOSED | LADDER
    rows = {method: [of[made][method] for of in result["cells"].values() for made in of] for method in every}
    least = {method: np.min([tables.share(row) for row in many], axis=0) for method, many in rows.items()}
    once, until = least["auto"], least["auto, until settled"]
    wrong, missed = (sum(row["best_settled_wrong"] for row in rows[method]) for method in ("auto", "ladder"))
    climbed = least["ladder"]
    return [
        (
            f"rank as it comes, on the ladder: at least 99.5 % of pairs and of winners in each of {len(rows['auto'])} cells "
            f"({climbed[0]:.2%}, {climbed[1]:.2%} in the worst), and {missed} winners called settled that are not",
            bool(min(climbed) >= REACHED and missed == 0),
        ),
        (
            f"anchor auto, corrected until settled: at least 99.5 % of pairs and of winners in each of {len(rows['auto'])} "
            f"cells ({until[0]:.2%}, {until[1]:.2%} in the worst)",
            bool(min(until) >= REACHED),
        ),
        (
            f"anchor auto, one response: at least 99.5 % of pairs in each ({once[0]:.2%} in the worst), and no winner "
            f"that it misses was called settled ({wrong} were; winners: {once[1]:.2%} in the worst)",
            bool(once[0] >= REACHED and wrong == 0),
        ),
    ]


def _figure(result: dict[str, Any]) -> Figure:
    figure: Any = Figure(figsize=(10, 3.2), layout="constrained")
    axis = figure.subplots()
    colours = {"mean": "#c2185b", "medoid": "#7b1fa2", "auto": "#a04000", "auto, until settled": "#1b5e20"}
    colours |= {"ladder": "#0d47a1"}
    for k, (method, colour) in enumerate(colours.items()):
        values = [min(tables.share(of[made][method])[1] for of in result["cells"].values()) for made in _cells()]
        label, shape = method if method in LADDER else f"anchor {method}", "sD^vo"[k]
        aside = 1 + 0.03 * (k - 2)  # beside each other, where they coincide
        axis.plot(aside * np.array(FARTHER), values[:-1], shape + "-", color=colour, label=label, markersize=4)
        axis.plot([aside * 2 * FARTHER[-1]], values[-1:], shape, color=colour, markersize=5)
    axis.set(
        xscale="log",
        xlabel="outlier's departure, times what it was; at the right: a ninth candidate of wrong physics",
        ylim=(0, 1.05),
        title="winners found in the worst of the libraries",
    )
    axis.set_xticks([*FARTHER, 2 * FARTHER[-1]], [*map(str, FARTHER), "wrong\nphysics"])
    axis.minorticks_off()
    axis.legend(frameon=False, fontsize=7, loc="center left", bbox_to_anchor=(1, 0.5))
    return figure
