"""`rank`: candidates → anchor → response → proxy → scores. Also in batches, over panels of inputs."""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import islice, zip_longest
from numbers import Integral
from typing import Any, Literal, Protocol, cast

from physrank import rungs, tasks
from physrank.certificates import Certified
from physrank.physics import Correction, Problem
from physrank.ranking import anchors
from physrank.ranking.candidates import Candidates, Invalid, by_input
from physrank.ranking.ranking import Ranking, assemble
from physrank.rungs import Asked, Effort, data
from physrank.rungs.effort import EFFORTS
from physrank.rungs.effort import resolve as effort_of
from physrank.tasks import Task


class Verdict(Protocol):
    """What a stopping rule finds: at least whether nothing is open. A certificate is one."""

    @property
    def settled(self) -> bool: ...


Stopping = Callable[[Problem, Ranking], Verdict]


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
    proved is then in `ranking.certificate`, and `physrank.certificates.Certified(...)` asks for less than every pair.

    Other arguments: `invalid`: "raise" or "exclude" candidates with NaN; `allow_unresolved`: let `best` and `order` answer
    even when the physics did not converge.
    """
    _check_problem(problem)
    plan = _plan(effort, anchor, corrections, until)
    asked, correction = tasks.resolve(task, problem), _correction(corrections)
    found = anchors.resolve("auto" if anchor is None else anchor, problem)
    stopping, most = _stopping(until), _most(max_corrections)
    wanted = Asked(decide, tolerance, data.resolve(uncertainty, problem))
    given = Candidates.of(candidates, problem, invalid)

    started = time.perf_counter()
    climber = found.climber(problem, given, asked, wanted)
    (rung,) = rungs.climb([climber], plan, correction)
    ranking = assemble(problem, given, found.name, rung, wanted, climber.left_out, allow_unresolved)
    return _further(ranking, stopping, most).timed(time.perf_counter() - started)


def _further(ranking: Ranking, stopping: Stopping | None, most: int) -> Ranking:
    """Corrected again while what the rule asks for is open."""
    while stopping is not None:
        verdict = stopping(ranking.problem, ranking)
        ranking = ranking if verdict is ranking else replace(ranking, certificate=verdict)
        if verdict.settled or ranking.corrections >= most or ranking.unresolved:
            break
        ranking = ranking.corrected()
    return ranking


def _is_settled(_: Problem, ranking: Ranking) -> Verdict:
    return ranking


STOPPINGS: dict[str, Stopping] = {"settled": _is_settled, "certified": Certified()}


def rank_panel(
    problems: Iterable[Problem],
    libraries: Iterable[Any] | Mapping[str, Any],
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
    chunk: int = 16,
) -> Iterator[Ranking]:
    """`rank` for many inputs of one shape: one compilation, `chunk` inputs at a time, results as they come.

    `problems` and `libraries` may be generators: memory is bounded by the chunk, whatever the length of the panel.
    `libraries` are the candidates of each input, or `{model: batch}` with the inputs along the first axis of each batch.
    The problems must be of one kind: same class, same functions, same shapes; what differs is their data. With `until`, as
    in `rank`, inputs that are open after their batch are corrected further, one by one; the others cost nothing more.
    """
    if chunk < 1:
        raise ValueError(f"chunk must be at least 1; got {chunk}.")
    if isinstance(problems, Problem):
        raise ValueError("rank_panel needs one problem per input; got a single problem. For one input, use rank.")
    correction, plan = _correction(corrections), _plan(effort, anchor, corrections, until)
    stopping, most = _stopping(until), _most(max_corrections)
    pairs = enumerate(_paired(problems, by_input(libraries)))
    width = None
    while block := list(islice(pairs, chunk)):
        width = width or len(block)  # a short panel is its own shape; a short last chunk is padded to the first
        first = block[0][1][0]
        found, asked = anchors.resolve("auto" if anchor is None else anchor, first), tasks.resolve(task, first)
        cases = [(problem, _candidates(k, problem, given, invalid)) for k, (problem, given) in block]
        started = time.perf_counter()
        climbers = [
            found.climber(problem, given, asked, Asked(decide, tolerance, data.resolve(uncertainty, problem)))
            for problem, given in cases
        ]
        batch = rungs.climb(climbers, plan, correction, width)
        seconds = (time.perf_counter() - started) / len(cases)
        for (problem, given), climber, rung in zip(cases, climbers, batch, strict=True):
            started = time.perf_counter()
            ranking = assemble(problem, given, found.name, rung, climber.asked, climber.left_out, allow_unresolved)
            yield _further(ranking, stopping, most).timed(seconds + time.perf_counter() - started)


def _check_problem(problem: Any) -> None:
    if not isinstance(problem, Problem):
        raise ValueError(
            f"problem must be an equation, a Stationary or a Marching problem; got {problem!r:.60}. "
            "The order is rank(problem, candidates)."
        )


def _paired(problems: Iterable[Problem], libraries: Iterable[Any]) -> Iterator[tuple[Problem, Any]]:
    missing = object()
    for k, (problem, candidates) in enumerate(zip_longest(problems, libraries, fillvalue=missing)):
        if problem is missing or candidates is missing:
            which = "problems" if problem is missing else "libraries"
            raise ValueError(f"The panel has only {k} {which}; expected as many problems as libraries of candidates.")
        yield problem, candidates  # pyright: ignore[reportReturnType]


def _candidates(k: int, problem: Problem, candidates: Any, invalid: Invalid) -> Candidates:
    try:
        _check_problem(problem)
        return Candidates.of(candidates, problem, invalid)
    except ValueError as error:
        raise ValueError(f"Input {k} of the panel: {error}") from None


def _plan(effort: Any, anchor: Any, *named: Any) -> Effort:
    """As asked; else the ladder, or the response alone where its anchor, corrections or stopping rule are named."""
    if effort is not None:
        return effort_of(effort)
    plain = isinstance(anchor, str) and anchor == "auto"
    return EFFORTS["auto" if (anchor is None or plain) and all(name is None for name in named) else "response"]


def _correction(corrections: Any) -> Correction:
    if corrections is None:
        return Correction()
    if isinstance(corrections, Correction):
        return corrections
    if isinstance(corrections, bool) or not isinstance(corrections, Integral):
        raise ValueError(f"corrections must be a whole number ≥ 1 or a physrank.Correction(...); got {corrections!r}.")
    return Correction(count=int(corrections))


def _stopping(until: Any) -> Stopping | None:
    if until is None or (callable(until) and not isinstance(until, str)):
        return cast("Stopping | None", until)
    if isinstance(until, str) and until in STOPPINGS:
        return STOPPINGS[until]
    names = ", ".join(repr(name) for name in STOPPINGS)
    raise ValueError(f"until must be {names} or a rule such as physrank.certificates.Certified(...); got {until!r}.")


def _most(max_corrections: Any) -> int:
    if isinstance(max_corrections, bool) or not isinstance(max_corrections, Integral) or max_corrections < 1:
        raise ValueError(f"max_corrections must be a whole number ≥ 1; got {max_corrections!r}.")
    return int(max_corrections)
