"""Study 20: better networks. Do the conclusions hold for candidates trained by the paper's whole budget?

Two FNO libraries with the paper's networks, 2,048 inputs and 40 epochs, beside those of the same equations that everything
else is measured with. Better candidates are closer to each other and to the solution: margins shrink, and the anchor's error.
"""

from typing import Any

import numpy as np
from matplotlib.figure import Figure

from physrank.lab.equations import EQUATIONS
from physrank.lab.evaluation import Outcomes
from physrank.lab.libraries import GROUPS, Library
from physrank.lab.studies._kit import drawing, tables
from physrank.lab.studies._kit.cases import SCORES, Cases, Context, evaluate

PAPER = {  # span ÷ best loss, of medians; the primary cells' pairs; validation errors within cells, largest over smallest
    "burgers": {"span_over_best": 3.1403e-3 / 0.10287, "shared": 0.997283, "raw": 0.868246},
    "reaction_diffusion": {"span_over_best": 1.8387e-4 / 2.3621e-4, "shared": 1.0, "raw": 0.657546},
    "validation_ratio": [1.48, 4.13],
    "tie_share": {"all": 1 - 49323 / 53760, "reaction_diffusion-fno-e1": 1 - 4532 / 6720},
}


def run(context: Context) -> tuple[dict[str, Any], Figure]:
    table = {
        library.equation: {"usual": _row(context, _beside(library)), "paper's budget": _row(context, library)}
        for library in GROUPS["quality"]
    }
    result = {
        "study": "quality",
        "profile": context.profile.name,
        "inputs": context.profile.evaluation,
        "table": table,
        "input_fingerprint": tables.input_fingerprints(GROUPS["quality"]),
        "paper": PAPER,
    }
    return result, _figure(result)


def _beside(library: Library) -> Library:
    """The first primary library of the same equation and architecture."""
    same = [x for x in GROUPS["primary"] if (x.equation, x.architecture) == (library.equation, library.architecture)]
    return same[0]


def _row(context: Context, library: Library) -> dict[str, Any]:
    cases = evaluate(context, library, "evaluation")
    validation = cases.scores["validation"][0]  # the same on every input
    return {
        "library": library.name,
        "methods": {method: tables.recovery([cases], method) for method in SCORES},
        "validation": {
            "best": float(validation.min()),
            "worst": float(validation.max()),
            "ratio": float(validation.max() / validation.min()),
        },
        **_losses(cases),
    }


def _losses(cases: Cases) -> dict[str, float]:
    best, span = cases.losses.min(axis=1), np.ptp(cases.losses, axis=1)
    outcomes = Outcomes.of(cases.losses, cases.scores["shared"])
    return {
        "median_best": float(np.median(best)),
        "median_span": float(np.median(span)),
        "span_over_best": float(np.median(span) / np.median(best)),
        "median_proxy": float(np.median(cases.proxy_loss)),
        "proxy_no_worse": int(np.sum(cases.proxy_loss <= best)),
        "tie_share": float(1 - outcomes.non_ties.sum() / outcomes.pairs.sum()),
    }


def claims(result: dict[str, Any]) -> list[tuple[str, bool]]:
    found = []
    for name, rows in result["table"].items():
        better, usual, title = rows["paper's budget"], rows["usual"], EQUATIONS[name].title
        ours, raw = (tables.share(better["methods"][m])[0] for m in ("shared", "raw"))
        least = EQUATIONS[name].claimed
        found += [
            (
                f"{title}: the larger budget trains better networks (validation error {better['validation']['best']:.3f}, "
                f"{usual['validation']['best']:.3f} before)",
                better["validation"]["best"] < usual["validation"]["best"],
            ),
            (
                f"{title}: the shared response still recovers what is claimed of it ({ours:.2%} of non-tie pairs)",
                ours >= (least.pairs if least else 0.0),
            ),
            (f"{title}: and more than the raw residual ({raw:.2%})", ours > raw),
        ]
    return found


def _figure(result: dict[str, Any]) -> Figure:
    figure: Any = Figure(figsize=(10, 3.4), layout="constrained")
    for axis, (name, rows) in zip(figure.subplots(1, len(result["table"])), result["table"].items(), strict=True):
        shown = ("shared", "raw", "validation", "mean centrality")
        series = {m: [tables.share(row["methods"][m])[0] for row in rows.values()] for m in shown}
        drawing.paired_bars(axis, list(rows), series, f"{EQUATIONS[name].title}: non-tie pairs recovered")
    return figure
