"""Study 5: is the raw residual weak only for its norm? Variational residual norms against the shared response."""

from typing import Any

import numpy as np
from matplotlib.figure import Figure

from physrank.geometry.space import Array
from physrank.lab.equations import REALIZATIONS
from physrank.lab.evaluation import Outcomes, Recovery, flips
from physrank.lab.evaluation.compact import quantiles
from physrank.lab.libraries import GROUPS, Library, equations_of
from physrank.lab.studies._kit.cases import Context, measure, problems_and_candidates, references_of
from physrank.lab.studies._kit.tables import input_fingerprints
from physrank.physics.capabilities import HasDualNorm
from physrank.ranking import scorers

SCORERS = {
    "raw": scorers.RawResidual(),
    "common energy": scorers.CommonEnergy(),
    "adapted majorant": scorers.AdaptedMajorant(),
    "shared": scorers.SharedResponse(),
}
INVERSE_ACTIONS = {"raw": 0, "common energy": 8, "adapted majorant": 8, "shared": 1}
PAPER = {"raw": 0.59758, "common energy": 0.82718, "adapted majorant": 0.82713, "shared": 1.0}


def run(context: Context) -> tuple[dict[str, Any], Figure]:
    posed = {e: e.problem(e.population("evaluation", 1)[0]) for e in equations_of(GROUPS["primary"])}
    bounded = [e for e, problem in posed.items() if isinstance(problem, HasDualNorm)]
    libraries = [library for library in GROUPS["primary"] if library.declared in bounded]
    found = {
        realization: [_measure(context, library, realization) for library in libraries] for realization in REALIZATIONS
    }
    everything = [table for tables in found.values() for table in tables]
    result = {
        "study": "variational",
        "profile": context.profile.name,
        "libraries": len(libraries),
        "pooled": {method: _row(everything, method) for method in SCORERS},
        "by_realization": {
            name: {method: _row(tables, method) for method in SCORERS} for name, tables in found.items()
        },
        "flips_between_realizations": _flips(found),
        "regret": {method: quantiles(_outcomes(everything, method).normalized_regret) for method in SCORERS},
        "input_fingerprint": input_fingerprints(libraries),
        "paper": PAPER,
    }
    return result, _figure(result)


def _measure(context: Context, library: Library, realization: str) -> dict[str, Array]:
    return measure(
        context,
        f"{library.name} {realization}",
        context.content(library, "evaluation", realization),
        lambda: list(problems_and_candidates(context, library, "evaluation", realization)),
        lambda: references_of(context, library, "evaluation"),
        SCORERS,
    )


def _outcomes(tables: list[dict[str, Array]], method: str) -> Outcomes:
    return Outcomes.of(*(np.concatenate([t[key] for t in tables]) for key in ("losses", f"score {method}")))


def _row(tables: list[dict[str, Array]], method: str) -> dict[str, Any]:
    return {
        **Recovery.from_outcomes(_outcomes(tables, method)).to_dict(),
        "inverse_actions": INVERSE_ACTIONS[method],
        "median_seconds": float(np.median(np.concatenate([t[f"seconds {method}"] for t in tables]))),
    }


def _flips(found: dict[str, list[dict[str, Array]]]) -> dict[str, Any]:
    """The same checkpoints on another grid are other candidates: how often decisions change, and whether truth does too."""
    arrays = [
        np.concatenate([t[key] for t in found[name]]) for key in ("losses", "score shared") for name in REALIZATIONS
    ]
    return flips(*arrays).to_dict()


def claims(result: dict[str, Any]) -> list[tuple[str, bool]]:
    pairs = {m: row["pairs_correct"] / row["pairs"] for m, row in result["pooled"].items()}
    native, again = (result["by_realization"][name]["shared"] for name in REALIZATIONS)
    missed = again["pairs"] - again["pairs_correct"]
    return [
        (
            f"the shared response recovers every non-tie pair of transferred states ({native['pairs_correct']:,})",
            native["pairs_correct"] == native["pairs"],
        ),
        (
            f"and misses less than 1 in 10,000 when networks run on a grid they were not trained for ({missed} of "
            f"{again['pairs']:,})",
            missed < 1e-4 * again["pairs"],
        ),
        (
            f"a dual norm beats the raw residual ({pairs['common energy']:.1%} against {pairs['raw']:.1%})",
            pairs["common energy"] > pairs["raw"],
        ),
        (
            f"and both stay below the shared response ({pairs['shared']:.3%})",
            max(pairs["common energy"], pairs["adapted majorant"]) < pairs["shared"],
        ),
    ]


def _figure(result: dict[str, Any]) -> Figure:
    figure: Any = Figure(figsize=(7, 3.2), layout="constrained")
    axis = figure.subplots()
    places = {"common energy": (-6, -12, "right"), "adapted majorant": (-6, 6, "right")}  # the two lie side by side
    for method, row in result["pooled"].items():
        point = (1e3 * row["median_seconds"], row["pairs_correct"] / row["pairs"])
        x, y, side = places.get(method, (6, -10, "left"))
        axis.plot(*point, "o", color="#c2185b" if method == "shared" else "#5c6f82")
        actions = row["inverse_actions"]
        text = f"{method} ({actions} inverse action{'' if actions == 1 else 's'})"
        axis.annotate(text, point, xytext=(x, y), textcoords="offset points", ha=side, fontsize=8)
    axis.set(
        xscale="log",
        xlabel="milliseconds per input, after inference",
        ylabel="non-tie pairs recovered",
        ylim=(0.3, 1.05),
    )
    axis.margins(x=0.3)
    return figure
