"""Study 3: a library with an outlying run. The mean anchor is pulled away; the medoid is not; fewer candidates help.

The trained outlier is as far off as its training made it. To see where anchors break, its departure from the other runs is
also multiplied; and in its place a ninth candidate is put that solves the equation with a mis-stated number.
"""

from collections.abc import Callable, Iterable
from functools import cache, partial
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from physrank import ranking, tasks
from physrank.geometry.space import Array
from physrank.lab.evaluation import Outcomes, Recovery
from physrank.lab.libraries import GROUPS, Library
from physrank.lab.studies._kit import drawing, tables
from physrank.lab.studies._kit.cases import Context, evaluate, measure, problems_and_candidates, references_of, trusted
from physrank.ranking import scorers
from physrank.ranking.candidates import Candidates
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
ARITHMETIC = 1  # of anchors and corrections: raised when what they compute changes
PAPER = {
    "eight, mean anchor": {"pairs": 0.979883, "top1": 0.945833},
    "eight, raw residual": {"pairs": 0.717736, "top1": 0.410677},
    "affected cell": {
        "eight, mean anchor": {"pairs": 0.729762, "top1": 67 / 240},
        "eight, medoid anchor": {"pairs": 1.0, "top1": 1.0},
        "six of eight, mean of eight": {"pairs": 0.545278},
        "six of eight, mean of six": {"pairs": 1.0, "top1": 1.0},
    },
}
COUNTED = (
    "cases",
    "pairs_all",
    "strict_correct",
    "top1_exact",
    "pairs",
    "pairs_correct",
    "top1_tolerant",
    "unresolved",
    "best_settled",
    "best_settled_wrong",
)


def run(context: Context) -> tuple[dict[str, Any], Figure]:
    cells: dict[str, Any] = {}
    for library in GROUPS["stress"]:
        mean, medoid = (evaluate(context, library, anchor=anchor) for anchor in ("mean", "medoid"))
        kept = _kept(context, library)
        recomputed = _scored(context, library, "six", {"shared": scorers.SharedResponse()}, kept)
        losses = mean.losses
        cells[library.name] = {
            "outlying_run": library.outlier,
            "outlier_loss_ratio": float(np.median(np.delete(losses, kept, axis=1).min(1) / losses[:, kept].min(1))),
            "eight, mean anchor": _counts(losses, mean.scores["shared"]),
            "eight, medoid anchor": _counts(losses, medoid.scores["shared"]),
            "eight, raw residual": _counts(losses, mean.scores["raw"]),
            "six of eight, mean of eight": _counts(losses[:, kept], mean.scores["shared"][:, kept]),
            "six of eight, mean of six": _counts(recomputed["losses"], recomputed["score shared"]),
            "candidates only, medoid": _counts(losses, mean.scores["medoid centrality"]),
            "candidates only, mean": _counts(losses, mean.scores["mean centrality"]),
            "candidates only, median": _counts(
                losses, _scored(context, library, "median", {"median": _by_median})["score median"]
            ),
        }
    names = [name for name, row in next(iter(cells.values())).items() if isinstance(row, dict)]
    composed = {
        library.name: {made: _by_method(context, library, made) for made in _cells()}
        for library in GROUPS["stress"]
        if library.member == MOVED
    }
    result = {
        "study": "composition",
        "profile": context.profile.name,
        "cells": cells,
        "pooled": {name: _summed(cell[name] for cell in cells.values()) for name in names},
        "composed": composed,
        "farther": {
            made: {method: _summed(of[made][method] for of in composed.values()) for method in COMPOSED | LADDER}
            for made in _cells()
        },
        "paper": PAPER,
    }
    return result, _figure(result, names)


def _cells() -> tuple[str, ...]:
    """What is made of each library: its outlier moved, or a candidate more."""
    return (*map(str, FARTHER), WRONG)


def _kept(context: Context, library: Library) -> list[int]:
    """Candidates that do not come from the outlying run."""
    return [k for k, (_, run, _) in enumerate(library.candidates(context.profile)) if run != library.outlier]


def _counts(losses: Array, scores: Array) -> dict[str, Any]:
    return Recovery.from_outcomes(Outcomes.of(losses, scores)).to_dict()


def _scored(
    context: Context, library: Library, what: str, by: dict[str, Any], kept: list[int] | None = None
) -> dict[str, Array]:
    """Scores of all candidates, or of the kept ones alone, which then have an anchor of their own."""

    def cases() -> list[tuple[Any, dict[str, Array]]]:
        every = problems_and_candidates(context, library, library.instances)
        return list(every) if kept is None else [(problem, _only(kept, candidates)) for problem, candidates in every]

    key = context.content(library, library.instances) | ({} if kept is None else {"kept": kept})
    return measure(context, what, key, cases, lambda: references_of(context, library, library.instances), by)


def _by_median(problem: Any, candidates: dict[str, Array]) -> ranking.Scores:
    """Squared distance to the pointwise median of the outputs: the robust centre that looks at candidates only."""
    target, task = np.median(np.stack(list(candidates.values())), axis=0), tasks.resolve(None, problem)
    outputs = task.outputs(Candidates.of(candidates | {"centre": target}, problem).states)
    values = task.space(outputs).norm_squared(outputs[:-1] - outputs[-1])
    return ranking.Scores("distance to median", tuple(candidates), values)


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
    cases, kept = problems_and_candidates(context, library, library.instances), _kept(context, library)
    if made == WRONG:
        return [(problem, candidates | {WRONG: _mistaken(library, problem)}) for problem, candidates in cases]
    return [(problem, _moved(candidates, kept, float(made))) for problem, candidates in cases]


def _mistaken(library: Library, problem: Any) -> Array:
    """The solution of the equation with a mis-stated number."""
    state, failed = scorers.DirectSolve().solution(library.declared.mistaken(problem), problem.state_shape)
    if failed:
        raise ValueError(f"{library.name}: the mis-stated problem has no solution to compare with, because {failed}.")
    return state


def _only(kept: list[int], candidates: dict[str, Array]) -> dict[str, Array]:
    """The clustered candidates."""
    return dict(item for k, item in enumerate(candidates.items()) if k in kept)


def _moved(candidates: dict[str, Array], kept: list[int], factor: float) -> dict[str, Array]:
    centre = np.mean(list(_only(kept, candidates).values()), axis=0)
    return {n: v if k in kept else centre + factor * (v - centre) for k, (n, v) in enumerate(candidates.items())}


def _cell(found: dict[str, Array], method: str) -> dict[str, Any]:
    losses, scores, settled = (found[key] for key in ("losses", f"score {method}", f"settled {method}"))
    missed = ~Outcomes.of(losses, scores).top1_tolerant
    return _counts(losses, scores) | {
        "unresolved": int(np.isnan(scores).all(axis=1).sum()),
        "best_settled": int(settled.sum()),
        "best_settled_wrong": int((missed & settled.astype(bool)).sum()),
    }


def _summed(rows: Iterable[dict[str, Any]]) -> dict[str, int]:
    """Counts of many cells together."""
    many = list(rows)
    return {key: int(sum(row[key] for row in many)) for key in many[0] if key in COUNTED}


def claims(result: dict[str, Any]) -> list[tuple[str, bool]]:
    pooled = result["pooled"]
    pairs = {name: row["strict_correct"] / row["pairs_all"] for name, row in pooled.items()}
    medoid, mean = (tables.share(result["farther"][str(FARTHER[-1])][a], strict=True) for a in ("medoid", "mean"))
    best_blind = max(pairs[name] for name in pairs if name.startswith("candidates only"))
    return [
        (
            f"the trained outliers are too mild to matter: both anchors recover more than 99 % of pairs "
            f"(medoid {pairs['eight, medoid anchor']:.2%}, mean {pairs['eight, mean anchor']:.2%})",
            min(pairs["eight, medoid anchor"], pairs["eight, mean anchor"]) > 0.99,
        ),
        (
            f"recomputing on the six clustered candidates recovers at least as many of their pairs as keeping the anchor of "
            f"eight ({pairs['six of eight, mean of six']:.2%} against {pairs['six of eight, mean of eight']:.2%})",
            pairs["six of eight, mean of six"] >= pairs["six of eight, mean of eight"],
        ),
        (
            f"with the outlier {FARTHER[-1]} times farther off, the medoid anchor keeps more than 99 % of pairs "
            f"and winners, and the mean anchor does not (winners: {medoid[1]:.1%}, {mean[1]:.1%})",
            min(medoid) > 0.99 > mean[1],
        ),
        (f"no choice that looks at candidates only comes near ({best_blind:.1%} of pairs)", best_blind < 0.85),
        *_claims_of_auto(result),
    ]


def _claims_of_auto(result: dict[str, Any]) -> list[tuple[str, bool]]:
    """In every cell: library × factor, and library × wrong physics."""
    every = COMPOSED | LADDER
    rows = {method: [of[made][method] for of in result["composed"].values() for made in of] for method in every}
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


def _figure(result: dict[str, Any], names: list[str]) -> Figure:
    figure: Any = Figure(figsize=(12, 6.4), layout="constrained")
    upper, lower = figure.subplots(2, 1, height_ratios=(3, 2))
    _cells_in_numbers(upper, result["cells"], names)
    colours = {"mean": "#c2185b", "medoid": "#7b1fa2", "auto": "#a04000", "auto, until settled": "#1b5e20"}
    colours |= {"ladder": "#0d47a1"}
    for k, (method, colour) in enumerate(colours.items()):
        values = [min(tables.share(of[made][method])[1] for of in result["composed"].values()) for made in _cells()]
        label, shape = method if method in LADDER else f"anchor {method}", "sD^vo"[k]
        aside = 1 + 0.03 * (k - 2)  # beside each other, where they coincide
        lower.plot(aside * np.array(FARTHER), values[:-1], shape + "-", color=colour, label=label, markersize=4)
        lower.plot([aside * 2 * FARTHER[-1]], values[-1:], shape, color=colour, markersize=5)
    lower.set(
        xscale="log",
        xlabel="outlier's departure, times what it was; at the right: a ninth candidate of wrong physics",
        ylim=(0, 1.05),
        title="winners found in the worst of the libraries",
    )
    lower.set_xticks([*FARTHER, 2 * FARTHER[-1]], [*map(str, FARTHER), "wrong\nphysics"])
    lower.minorticks_off()
    lower.legend(frameon=False, fontsize=7, loc="center left", bbox_to_anchor=(1, 0.5))
    return figure


def _cells_in_numbers(axis: Any, cells: dict[str, Any], names: list[str]) -> None:
    """Every library a column, every way of ranking a row: bars of sixteen libraries would be too thin to read."""
    shares = np.array([[tables.share(cell[name], strict=True)[0] for cell in cells.values()] for name in names])
    axis.imshow(shares, vmin=0.3, vmax=1, cmap="cividis", aspect="auto")
    for (row, column), share in np.ndenumerate(shares):
        said = f"{np.floor(1000 * share) / 10:.1f}" if share < 1 else "100"  # whole only where nothing is missed
        axis.text(column, row, said, ha="center", va="center", fontsize=7, color="black" if share > 0.6 else "white")
    axis.set_xticks(range(len(cells)), [drawing.cell_label(c) for c in cells], fontsize=7)
    if len(cells) > 8:
        axis.tick_params(axis="x", rotation=45)
    axis.set_yticks(range(len(names)), names, fontsize=8)
    axis.set(title="strict pairs recovered in libraries with one outlying run, in %")
