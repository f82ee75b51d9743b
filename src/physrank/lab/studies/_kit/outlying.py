"""Libraries with an outlying run: who stays together, and counts of what is recovered."""

from collections.abc import Iterable
from typing import Any

from physrank.geometry.space import Array
from physrank.lab.evaluation import Outcomes, Recovery
from physrank.lab.libraries import Library
from physrank.lab.studies._kit.cases import Context

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


def clustered(context: Context, library: Library) -> list[int]:
    """Candidates that do not come from the outlying run."""
    return [k for k, (_, run, _) in enumerate(library.candidates(context.profile)) if run != library.outlier]


def only(kept: list[int], candidates: dict[str, Array]) -> dict[str, Array]:
    """The clustered candidates."""
    return dict(item for k, item in enumerate(candidates.items()) if k in kept)


def counts(losses: Array, scores: Array) -> dict[str, Any]:
    return Recovery.from_outcomes(Outcomes.of(losses, scores)).to_dict()


def summed(rows: Iterable[dict[str, Any]]) -> dict[str, int]:
    """Counts of many cells together."""
    many = list(rows)
    return {key: int(sum(row[key] for row in many)) for key in many[0] if key in COUNTED}
