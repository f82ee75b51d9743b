"""`rank_streamed`: candidates that do not fit in memory. A sample of them says where to linearise; then each is read once.

The physics needs one state to start from, not all candidates; a score needs one candidate, not the others. So the anchor is
found from a few candidates, the response is solved, and all candidates pass by, some at a time: S_i = ‖y_i − q‖², and for
every cause of doubt, with the change c of the proxy that it stands for, the product ⟨c, y_i − q⟩ that tells how far a gap
may still move.
"""

import time
from collections.abc import Callable, Mapping
from typing import Any, Literal

import numpy as np

from physrank import rungs
from physrank._arrays import not_finite, to_numpy
from physrank.geometry.space import Array
from physrank.physics import Correction, Problem
from physrank.ranking.candidates import Candidates, Invalid, check_problem, opened
from physrank.ranking.scores import Scores
from physrank.ranking.settings import Settings
from physrank.rungs import Rung
from physrank.rungs.rung import SAFETY
from physrank.tasks import Task

SAMPLE = 16  # candidates that say where to linearise
PAIRS = 4096  # candidates up to which the doubt of every pair is given
Fetch = Callable[[], Any]


def rank_streamed(
    problem: Problem,
    candidates: Any,
    *,
    task: Task | None = None,
    anchor: Any = None,
    corrections: int | Correction | None = None,
    effort: Literal["response", "solve"] = "response",
    invalid: Invalid = "raise",
    allow_unresolved: bool = False,
    max_bytes: int = 1 << 28,
) -> Scores:
    """Scores of candidates of which only a part is in memory at a time; none is read more than twice.

    Main arguments: `problem` and `task` as for `rank`; `candidates`, a mapping from names to handles (`physrank.read`
    fields, h5py, zarr, xarray, memory maps) or to functions without arguments that read one; or a handle to one array with a
    leading candidate axis.

    Other arguments: `max_bytes`, what the candidates in memory may take; `anchor`, as for `rank`, of a sample of up to 16
    of them, spread evenly; `corrections`, `invalid` and `allow_unresolved` as for `rank`; `effort="solve"` solves the
    equation instead. The ladder needs all candidates at hand, and `rank` climbs it.

    ```python
    handles = {name: pr.read(f"{name}.h5").fields["u"] for name in names}
    scores = pr.rank_streamed(problem, handles, max_bytes=10**9)
    ```
    """
    check_problem(problem)
    if effort not in ("response", "solve"):
        raise ValueError(f'effort must be "response" or "solve": the ladder needs all candidates; got {effort!r}.')
    how = Settings.of(
        task=task,
        anchor=anchor,
        corrections=corrections,
        effort=effort,
        invalid=invalid,
        allow_unresolved=allow_unresolved,
    )
    fetches = _fetches(candidates)
    names, started = list(fetches), time.perf_counter()
    first = _read(fetches, names[:1])
    size = _bytes(problem, first[names[0]])
    rung = _physics(problem, fetches, first, how, max(2, max_bytes // (4 * size)))
    columns, excluded = [], {}
    at_once = max(1, max_bytes // (4 * size))  # as they are read, on the grid, less the proxy, and weighted
    for start in range(0, len(names), at_once):
        arrays = _read(fetches, names[start : start + at_once])
        columns.append(_judged(problem, rung, arrays, invalid, excluded))
    values, *products = np.concatenate(columns, axis=1)
    return Scores(
        f"{rung.name}, streamed",
        tuple(names),
        values,
        rung.failed,
        rung.solves,
        time.perf_counter() - started,
        allow_unresolved,
        excluded,
        _uncertainty(rung, values, products),
        rung.question.unit,
    )


def _fetches(candidates: Any) -> dict[str, Fetch]:
    """What reads each candidate."""
    if isinstance(candidates, Mapping):
        found = {str(name): _later(value) for name, value in candidates.items()}
    elif len(getattr(candidates, "shape", ())) > 1:
        found = {str(k): _later(candidates, k) for k in range(candidates.shape[0])}
    else:
        raise ValueError(
            "candidates must be a mapping from names to handles or functions that read them, or a handle to one array with "
            f"a leading candidate axis; got {candidates!r:.80}."
        )
    if not found:
        raise ValueError("No candidates: expected a mapping name → handle, or a handle with a leading candidate axis.")
    return found


def _later(handle: Any, k: int | None = None) -> Fetch:
    return lambda: opened(handle) if k is None else handle[k]


def _read(fetches: Mapping[str, Fetch], names: list[str]) -> dict[str, Array]:
    return {name: to_numpy(f"Candidate {name!r}", fetches[name](), allow_complex=True) for name in names}


def _bytes(problem: Problem, array: Array) -> int:
    """Of a candidate on the problem's grid."""
    shape = problem.state_shape or array.shape
    known = [n or m for n, m in zip(shape, array.shape, strict=True)] if len(shape) == array.ndim else array.shape
    return max(array.nbytes, 8 * int(np.prod(known)))


def _physics(problem: Problem, fetches: Mapping[str, Fetch], first: dict[str, Array], how: Settings, most: int) -> Rung:
    """What judges all candidates, from a sample of them."""
    names = list(fetches)
    places = np.unique(np.linspace(0, len(names) - 1, min(SAMPLE, len(names), most)).astype(int))
    chosen = [names[k] for k in places[1:]]
    if isinstance(how.anchor, str) and how.anchor in fetches and how.anchor not in (names[0], *chosen):
        chosen.append(how.anchor)
    given = Candidates.of(first | _read(fetches, chosen), problem, how.invalid)
    climber = how.anchored(problem).climber(problem, given, how.tasked(problem), how.wanted(problem))
    return rungs.climb([climber], how.plan, how.correction)[0]


def _judged(
    problem: Problem, rung: Rung, arrays: dict[str, Array], invalid: Invalid, excluded: dict[str, str]
) -> Array:
    """For every change c of the proxy a row ⟨c, y_i − q⟩, after that of the scores ‖y_i − q‖²; NaN where excluded."""
    names = list(arrays)
    if invalid == "exclude":
        bad = {name: f"contains {why}" for name, array in arrays.items() if (why := not_finite(array))}
        excluded |= bad
        arrays = {name: array for name, array in arrays.items() if name not in bad}
    changes, question = list(rung.seen.changes.values()), rung.question
    found = np.full((1 + len(changes), len(names)), np.nan)
    if arrays:
        outputs = question.task.outputs(Candidates.of(arrays, problem, invalid).states)
        rows = question.space.coordinates(question.measured(outputs - rung.proxy))
        products = [rows @ question.space.coordinates(question.measured(change)) for change in changes]
        found[:, [names.index(name) for name in arrays]] = [np.einsum("nk,nk->n", rows, rows), *products]
    return found


def _uncertainty(rung: Rung, scores: Array, products: list[Array]) -> Array | None:
    """How far each gap may still move, as in `Rung.parts`; distances between two go over the proxy, which is no shorter."""
    if len(scores) > PAIRS or not products:
        return None
    norms = np.sqrt(scores)
    apart = np.where(np.eye(len(norms), dtype=bool), 0.0, norms[:, None] + norms)
    found = 2 * (rung.algebra + SAFETY * rung.after_next) * apart
    for product in products:
        found += 2 * SAFETY * np.abs(product[:, None] - product)
    if rung.seen.free or rung.extra:  # what the equation or the grid does not determine
        found += np.where(np.eye(len(found), dtype=bool), 0.0, np.inf)
    return found
