"""Study 7: the yardstick. Solving the equation itself, at several resolutions, beside every way of ranking."""

from typing import Any

import numpy as np
from matplotlib.figure import Figure

from physrank.geometry.space import Array
from physrank.lab.equations import EQUATIONS, Equation
from physrank.lab.evaluation import Outcomes, Recovery, solve_or_rank
from physrank.lab.libraries import GROUPS, Library, equations_of
from physrank.lab.studies._kit.cases import Context, measure, problems_and_candidates, references_of
from physrank.lab.studies._kit.tables import input_fingerprints
from physrank.ranking import scorers
from physrank.rungs.climb import ARITHMETIC as LADDER_VERSION

RANKINGS = {
    "ladder": scorers.Ladder(tolerance=1e-6),
    "shared": scorers.SharedResponse(),
    "shared, 2 corrections": scorers.SharedResponse(corrections=2),
    "raw": scorers.RawResidual(),
    "mean centrality": scorers.MeanCentrality(),
}


def run(context: Context) -> tuple[dict[str, Any], Figure]:
    table: dict[str, dict[str, Any]] = {}
    for equation in equations_of(GROUPS["primary"]):
        methods = RANKINGS | _solves(equation)
        libraries = [library for library in GROUPS["primary"] if library.declared is equation]
        found = [_measure(context, library, methods) for library in libraries]
        table[equation.name] = {method: _row(found, method) for method in methods}
    result = {
        "study": "direct",
        "profile": context.profile.name,
        "table": table,
        "advice": advice(table),
        "input_fingerprint": input_fingerprints(GROUPS["primary"]),
    }
    return result, _figure(table)


def _solves(equation: Equation) -> dict[str, scorers.DirectSolve]:
    """On the comparison grid, and on the coarser ones that the equation declares."""
    coarse = {s.points: scorers.DirectSolve(points=s.points, substeps=s.substeps) for s in equation.coarse_solves}
    return {f"direct, {n} points": solve for n, solve in ({equation.points: scorers.DirectSolve()} | coarse).items()}


def _measure(context: Context, library: Library, methods: dict[str, Any]) -> dict[str, Array]:
    count = min(60, context.profile.evaluation)  # one by one, for honest times
    return measure(
        context,
        f"{library.name} direct",
        context.content(library, "evaluation") | {"limit": count, "ladder": LADDER_VERSION},
        lambda: list(problems_and_candidates(context, library, "evaluation", limit=count)),
        lambda: references_of(context, library, "evaluation")[:count],
        methods,
    )


def _row(found: list[dict[str, Array]], method: str) -> dict[str, Any]:
    losses, scores = (np.concatenate([f[key] for f in found]) for key in ("losses", f"score {method}"))
    return {
        **Recovery.from_outcomes(Outcomes.of(losses, scores)).to_dict(),
        "median_seconds": float(np.median(np.concatenate([f[f"seconds {method}"] for f in found]))),
    }


def advice(table: dict[str, dict[str, Any]]) -> dict[str, str]:
    """Said plainly, per equation, from the measured numbers."""
    said = {}
    for equation, rows in table.items():
        measured = {name: (row["pairs_correct"], row["median_seconds"]) for name, row in rows.items()}
        solves = {name: numbers for name, numbers in measured.items() if name.startswith("direct")}
        said[equation] = solve_or_rank(measured["ladder"], solves)
    return said


def claims(result: dict[str, Any]) -> list[tuple[str, bool]]:
    found = []
    for equation, rows in result["table"].items():
        one, two = (rows[name] for name in ("shared", "shared, 2 corrections"))
        same = next(row for name, row in rows.items() if name.startswith("direct"))
        found += [
            (
                f"{equation}: a direct solve on the comparison grid recovers every non-tie pair "
                f"({same['pairs_correct']:,}/{same['pairs']:,})",
                same["pairs_correct"] == same["pairs"],
            ),
            (
                f"{equation}: two corrections recover no fewer pairs than one "
                f"({two['pairs_correct']:,} and {one['pairs_correct']:,})",
                two["pairs_correct"] >= one["pairs_correct"],
            ),
            (
                f"{equation}: {result['advice'][equation]}",
                advice(result["table"])[equation] == result["advice"][equation],
            ),
        ]
    return found


def _figure(table: dict[str, dict[str, Any]]) -> Figure:
    figure: Any = Figure(figsize=(11, 3.8), layout="constrained")
    for axis, (equation, rows) in zip(figure.subplots(1, len(table)), table.items(), strict=True):
        for method, row in rows.items():
            wrong = max(1 - row["pairs_correct"] / row["pairs"], 1e-4)
            kind = method.split(",")[0]
            colour = {"ladder": "#0d47a1", "shared": "#c2185b", "direct": "#1b1f24"}.get(kind, "#8a939e")
            axis.plot(1e3 * row["median_seconds"], wrong, "s" if method.startswith("direct") else "o", color=colour)
            place = (1e3 * row["median_seconds"], wrong)
            short = (
                method.replace("direct, ", "solve ")
                .replace(" points", "")
                .replace("shared, 2 corrections", "shared twice")
            )
            side = -1 if kind == "ladder" else 1  # its name below the others
            where = {"xytext": (2, 6 * side), "rotation": 60 * side, "va": "top" if side < 0 else "bottom"}
            axis.annotate(short, place, textcoords="offset points", fontsize=7, **where)
        axis.set(xscale="log", yscale="log", xlabel="milliseconds per input", title=EQUATIONS[equation].title)
        axis.set_ylabel("share of non-tie pairs missed")
        axis.set_yticks([1, 0.1, 0.01, 1e-3, 1e-4], ["1", "0.1", "0.01", "0.001", "none"])
        axis.minorticks_off()
        axis.margins(x=0.15, y=0.15)
        axis.set_ylim(1e-6, 30)  # room for the names
    return figure
