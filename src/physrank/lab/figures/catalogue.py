"""Every figure with its title and caption, in the paper's order; draws what stored results allow and says what is missing."""

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import matplotlib as mpl

from physrank._io import write_bytes, write_json
from physrank.lab.figures import main, style, supplement
from physrank.lab.figures.stored import Missing, Stored, command


@dataclass(frozen=True)
class Entry:
    """A figure of the paper, as it is drawn here."""

    paper: str  # which of the paper's it is
    title: str
    caption: str
    draw: Callable[[Stored], Any]


FIGURES = {
    "framework": Entry(
        "Figure 1",
        "One response turns a library into a decision",
        "a, eight candidates of one Burgers input and their mean, the anchor. b, the anchor corrected by one linear"
        " response (shaded), beside the solution that ranking never sees. c, squared distances of the candidates to"
        " the corrected state.",
        main.framework,
    ),
    "recovery": Entry(
        "Figure 2",
        "One response recovers hidden choices",
        "a, the same candidates in the order of their hidden errors, of their distances to the proxy, and of their "
        "residuals; lines follow candidates, blue where their place changes. b, every library: raw residual "
        "joined to shared response; large markers are pooled, with input-clustered 95 % intervals.",
        main.recovery,
    ),
    "gaps": Entry(
        "Figure 3",
        "Gaps and regret",
        "a, estimated against true gaps of non-tie pairs, in spans of their case, for the response of the input "
        "itself, of another input, and reversed; one logarithmic scale, gaps beyond a span at the edge. b, "
        "distribution of normalized regret. c, "
        "the same for candidate-wise majorants of reaction–diffusion.",
        main.gaps_and_regret,
    ),
    "reliability": Entry(
        "Figure 4",
        "Composition, margins, admissibility",
        "a, candidates with one run moved away: the mean follows, the medoid does not (signed-logarithmic scale). "
        "b, non-tie pairs recovered by decile of the hidden margin, five selectors. c, lowest pressure of corrected"
        " shock tubes, unit step and backtracking; below zero a state is not physical.",
        main.reliability,
    ),
    "deployment": Entry(
        "Figure 5",
        "Routing and one checkpoint for good",
        "a, b, hidden winner and route of every input under the objective named in b, and its regret. c, d, one "
        "checkpoint chosen from an unlabeled panel, eight libraries with 24 inputs and sixteen more with 144: regret "
        "over libraries and panels. e, mean regret by the number of inputs.",
        main.deployment,
    ),
    "certificate": Entry(
        "Figure 6",
        "Bounds below margins",
        "Reaction–diffusion, one correction, against the zero of the same grid's operator. a, bound over margin of "
        "all pairs; left of one a pair is proved. b, the largest ratio of every case.",
        main.certificate,
    ),
    "concordance": Entry(
        "Supplementary, rank concordance",
        "Hidden rank and rank given",
        "Candidates of all primary cases by hidden rank and by the rank that each method gave; one scale.",
        supplement.concordance,
    ),
    "contrasts": Entry(
        "Supplementary, contrasts by cell",
        "Every library",
        "Pairs recovered in every library by the raw residual and by the shared response; the populations count by "
        "different rules and are not pooled. No intervals: libraries share their inputs.",
        supplement.contrasts,
    ),
    "composition": Entry(
        "Supplementary, S7 (composition)",
        "An outlying run, moved farther",
        "Non-tie pairs missed as the departure of the outlying run is multiplied, by anchor; markers are set "
        "beside each other where they coincide.",
        supplement.composition,
    ),
    "cost": Entry(
        "Supplementary, S9 (cost)",
        "One response for all, or one for each",
        "Median time of whole rankings after inference by number of candidates.",
        supplement.cost,
    ),
    "screens": Entry(
        "Supplementary, reliability screen",
        "Rank or abstain between grids",
        "Decisions of the fine grid that the exact cross-grid account settles, and those it abstains from. Settled "
        "decisions agree with the fine grid by algebra; coverage is what is measured. Of fixed candidates only the "
        "proxy moves, so that the account has no bilinear part and settles nearly all.",
        supplement.screens,
    ),
    "paths": Entry(
        "Supplementary, partial-correction path",
        "Partial corrections",
        "Errors of state, task and comparison along w + α δ relative to α = 0 (medians over libraries, bands their "
        "range), and pairs decided rightly; one response per input.",
        supplement.paths,
    ),
    "transitions": Entry(
        "Supplementary, S10 (transitions)",
        "Between grids",
        "a, decisions of the diagnostic that change for fixed candidates on finer grids. b, pairs whose preference "
        "reverses when checkpoints are run on another grid: truth reverses with them.",
        supplement.transitions,
    ),
    "geometry": Entry(
        "Supplementary, comparison and reconstruction",
        "Where errors shrink",
        "Median factor by which one response shrinks the error: altogether, in the directions in which candidates "
        "differ, and across them.",
        supplement.geometry,
    ),
}


def draw(results: Path, folder: Path, profile: str = "laptop") -> Iterator[tuple[str, list[str], str | None]]:
    """Draws into the folder, one by one: (name, what it was drawn from, what is missing). Ends with an index of all."""
    index: dict[str, Any] = {}
    for name, entry in FIGURES.items():
        stored, missing = Stored(results, profile), None
        with mpl.rc_context(style.SIZES):
            try:
                figure = entry.draw(stored)
                write_bytes(folder / f"{name}.png", style.png(figure))
            except Missing as wanted:
                missing = str(wanted)
                (folder / f"{name}.png").unlink(missing_ok=True)
        waits = [f"`{command(study)}`" for study in dict.fromkeys(stored.wanted)]
        index[name] = {
            **{key: value for key, value in asdict(entry).items() if key != "draw"},
            "drawn_from": [str(stored.path(study).relative_to(results)) for study in stored.used],
            "waits_for": waits,
            "drawn": missing is None,
        }
        yield name, index[name]["drawn_from"], missing or (", ".join(waits) if waits else None)
    write_json(folder / "index.json", index)
