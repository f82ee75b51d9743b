"""`rank`: candidates → anchor → response → proxy → scores."""

import time
from typing import Any, Literal

from physrank import rungs
from physrank.physics import Correction, Problem
from physrank.ranking.candidates import Candidates, Invalid, check_problem
from physrank.ranking.ranking import Ranking, assemble
from physrank.ranking.settings import Settings, Stopping
from physrank.rungs import Effort
from physrank.tasks import Task


def rank(
    problem: Problem,
    candidates: Any,
    *,
    task: Task | None = None,
    anchor: Any = None,
    corrections: int | Correction | None = None,
    effort: str | Effort | None = None,
    decide: Literal["order", "best"] = "order",
    tolerance: float = 0.0,
    uncertainty: Any = None,
    invalid: Invalid = "raise",
    allow_unresolved: bool = False,
    until: Stopping | str | None = None,
    max_corrections: int = 3,
    by: Any = None,
) -> Ranking:
    """Rank predictions of one solution by the governing equation, without a reference.

    Main arguments: `problem`, the governing equation with this input's data; `candidates`, a mapping name → array or an
    array with a leading candidate axis; `task`, what is compared and in which metric (`physrank.tasks`; default: the
    problem's own, else the whole field in the mean square).

    What must be settled: `decide`, the whole "order" or the "best" candidate, up to `tolerance`, an excess of squared loss
    that would not matter; `uncertainty` of the problem's data, such as `{"diffusion": 0.02}` for 2 %.

    How: `effort="auto"` tries coarser grids first, where the problem knows them, then responses on its own grid, and climbs
    only while something asked for is open; "response" is one shared response at the anchor, the method of the paper;
    "solve" solves the equation on its own grid; `physrank.Effort(...)` says it in detail. The response needs an `anchor`:
    "auto", the mean of the candidates that stay together; "mean", "medoid", a candidate's name, an array. Whoever names one
    other than "auto", `corrections` (how many, or a `Correction` with its variants) or `until` means the response, unless
    `effort` says otherwise.
    `until="settled"` or `"certified"`: correct again while something is open, up to `max_corrections` in all; what was
    proved is then in `ranking.certificate`, `by` a method as in `certify`, and `physrank.certificates.Certified(...)` asks
    for less than every pair.

    Other arguments: `invalid`: "raise" or "exclude" candidates with NaN; `allow_unresolved`: let `best` and `order` answer
    even when the physics did not converge.

    ```python
    ranking = pr.rank(problem, {"fno": v1, "cno": v2}, decide="best")
    print(ranking.best, ranking.settled, ranking.doubts)
    ```
    """
    check_problem(problem)
    how = Settings.of(
        task=task,
        anchor=anchor,
        corrections=corrections,
        effort=effort,
        decide=decide,
        tolerance=tolerance,
        uncertainty=uncertainty,
        invalid=invalid,
        allow_unresolved=allow_unresolved,
        until=until,
        max_corrections=max_corrections,
        by=by,
    )
    found, asked, wanted = how.anchored(problem), how.tasked(problem), how.wanted(problem)
    given = Candidates.of(candidates, problem, invalid)

    started = time.perf_counter()
    climber = found.climber(problem, given, asked, wanted)
    (rung,) = rungs.climb([climber], how.plan, how.correction)
    ranking = assemble(problem, given, found.name, rung, wanted, climber.left_out, allow_unresolved)
    return how.further(ranking).timed(time.perf_counter() - started)
