"""A page from a stored ranking: its JSON, checked before anything is made of it."""

import json
import os
from pathlib import Path
from typing import Any

import numpy as np

from physrank.report.figure import ranking_figure
from physrank.report.html import html_report

MOST_BYTES = 64_000_000
NEEDED = {
    **dict.fromkeys(("physrank", "method", "equation", "task", "metric", "anchor", "decide"), str),
    **dict.fromkeys(("settled", "best_settled"), bool),
    **dict.fromkeys(("open_groups", "open_apart", "doubts", "effort", "notes"), list),
    "candidates": dict,
}
OPTIONAL = {
    **dict.fromkeys(("unresolved", "correction"), str),
    **dict.fromkeys(("response", "certificate"), dict),
    "order": list,
    "error_uncertainty": (int, float),
}


def page_of(path: str | os.PathLike[str]) -> str:
    """The HTML page of a ranking stored by `ranking.to_json`; its picture shows the errors, as fields are not stored."""
    result = _checked(Path(path))
    try:
        names = list(result["candidates"])
        estimates = np.array([_number(entry["error_estimate"]) for entry in result["candidates"].values()])
        figure = ranking_figure(
            names=names,
            outputs=np.zeros(len(names)),
            proxy=np.zeros(()),  # one number: the picture is of errors alone
            anchor=None,
            estimates=estimates,
            unresolved=result["unresolved"],
            reach=_number(result["error_uncertainty"]),
            settled=result.get("settled_pairs"),
        )
        return html_report(result, figure)
    except (KeyError, TypeError, ValueError, AttributeError, IndexError) as problem:
        raise ValueError(f"{path} is not a whole ranking: {type(problem).__name__}: {problem}.") from None


def _checked(path: Path) -> dict[str, Any]:
    try:
        if not path.is_file():
            raise ValueError(f"{path} is not a file; expected a ranking in JSON.")
        if (size := path.stat().st_size) > MOST_BYTES:
            raise ValueError(f"{path} has {size} bytes; expected at most {MOST_BYTES}.")
        found = json.loads(path.read_text(encoding="utf-8"))
    except OSError as problem:
        raise ValueError(f"{path} cannot be read: {problem.strerror}.") from None
    except (UnicodeDecodeError, json.JSONDecodeError, RecursionError) as problem:
        raise ValueError(f"{path} is not JSON ({problem}).") from None
    if not isinstance(found, dict):
        raise ValueError(f"{path} holds a {type(found).__name__}; expected a ranking, as ranking.to_json stores it.")
    for key, kind in (NEEDED | OPTIONAL).items():
        if key not in found or not (isinstance(found[key], kind) or (key in OPTIONAL and found[key] is None)):
            got = f"{found[key]!r:.40}" if key in found else "none"
            raise ValueError(f"{path}: expected {key!r} as ranking.to_json stores it; got {got}. Is it a ranking?")
    return found


def _number(value: Any) -> float:
    return float("nan") if value is None else float(value)
