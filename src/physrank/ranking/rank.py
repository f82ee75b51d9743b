"""`rank`: candidates → anchor → response → proxy → scores. Also in batches, over panels of inputs."""

import time
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import islice, zip_longest
from numbers import Integral
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from physrank._precision import double, in_double
from physrank.physics import Correction, Problem, Response, chained, respond
from physrank.ranking import anchors, tasks
from physrank.ranking import until as rules
from physrank.ranking.candidates import Invalid, Library
from physrank.ranking.result import Ranking, assemble
from physrank.ranking.scores import PENDING, Scores
from physrank.ranking.tasks import Task

METHOD = "shared response"

_respond = eqx.filter_jit(respond)


@eqx.filter_jit
def _respond_batch(problems: Problem, states: jax.Array, correction: Correction, width: int) -> Response:
    """`respond` over the leading axis, `width` inputs at a time, in one compiled program."""
    arrays, fixed = eqx.partition(problems, eqx.is_array)

    def one(case: tuple[Problem, jax.Array]) -> Response:
        return respond(eqx.combine(case[0], fixed), case[1], correction)

    return jax.lax.map(one, (arrays, states), batch_size=width)


@in_double
def rank(
    problem: Problem,
    candidates: Any,
    *,
    task: Task | None = None,
    anchor: Any = "mean",
    corrections: int | Correction = 1,
    invalid: Invalid = "raise",
    allow_unresolved: bool = False,
    until: rules.Rule | str | None = None,
    max_corrections: int = 3,
) -> Ranking:
    """Rank predictions of one solution by one shared physics response, without a reference.

    Main arguments: `problem`, the governing equation with this input's data; `candidates`, a mapping name → array or an
    array with a leading candidate axis; `task`, what is compared and in which metric (`physrank.tasks`; default: the
    problem's own, else the whole field in the mean square).

    Other arguments: `anchor`: "mean", "medoid", a candidate's name, or an array; `corrections`: how many, or a
    `Correction` with its variants; `invalid`: "raise" or "exclude" candidates with NaN; `allow_unresolved`: let `best`
    and `order` answer even when the response did not converge; `until="certified"`: correct again while a decision is
    open, up to `max_corrections` in all. What was proved is then in `ranking.certificate`, and `ranking.corrections`
    says how many it took; `physrank.certificates.until(...)` asks for less than every pair.
    """
    _check_problem(problem)
    if isinstance(max_corrections, bool) or not isinstance(max_corrections, Integral) or max_corrections < 1:
        raise ValueError(f"max_corrections must be a whole number ≥ 1; got {max_corrections!r}.")
    chosen, rule, correction = tasks.resolve(task, problem), anchors.resolve(anchor, problem), _correction(corrections)
    library = Library.of(candidates, problem, invalid)
    started = time.perf_counter()
    response = _numpy(_respond(problem, jnp.asarray(rule.of(library)), correction))
    scoring = _scoring(library, correction, allow_unresolved)
    ranking = assemble(problem, library, chosen, rule.name, response, scoring)
    if until is not None:
        ranking = _settle(ranking, rules.resolve(until), max_corrections)
    return ranking.timed(time.perf_counter() - started)


def _settle(ranking: Ranking, rule: rules.Rule, most: int) -> Ranking:
    """Judge, and correct again while the judge leaves something open."""
    while True:
        verdict = rule(ranking.problem, ranking)
        ranking = replace(ranking, certificate=verdict)
        if verdict.settled or ranking.corrections >= most or ranking.unresolved:
            return ranking
        ranking = corrected(ranking)


def corrected(ranking: Ranking) -> Ranking:
    """The same ranking after one further correction, linearised at its state."""
    before = ranking.response
    rule = replace(before.rule, count=1)
    with double():
        after = _numpy(_respond(ranking.problem, jnp.asarray(before.state), rule))
    both = replace(chained(before, after), rule=replace(rule, count=before.rule.count + 1))
    solves = ranking.scoring.solves + (2 if rule.midpoint else 1)
    scoring = replace(ranking.scoring, solves=solves, unresolved=PENDING)
    return assemble(ranking.problem, ranking.library, ranking.task, ranking.anchor, both, scoring)


def rank_panel(
    problems: Iterable[Problem],
    libraries: Iterable[Any],
    *,
    task: Task | None = None,
    anchor: Any = "mean",
    corrections: int | Correction = 1,
    invalid: Invalid = "raise",
    allow_unresolved: bool = False,
    chunk: int = 16,
) -> Iterator[Ranking]:
    """`rank` for many inputs of one shape: one compilation, `chunk` inputs at a time, results as they come.

    `problems` and `libraries` may be generators: memory is bounded by the chunk, whatever the length of the panel.
    The problems must be of one kind: same class, same functions, same shapes; what differs is their data.
    """
    if chunk < 1:
        raise ValueError(f"chunk must be at least 1; got {chunk}.")
    if isinstance(problems, Problem):
        raise ValueError("rank_panel needs one problem per input; got a single problem. For one input, use rank.")
    correction = _correction(corrections)
    pairs = enumerate(_paired(problems, libraries))
    width = None
    while block := list(islice(pairs, chunk)):
        width = width or len(block)  # a short panel is its own shape; a short last chunk is padded to the first
        rule, chosen = anchors.resolve(anchor, block[0][1][0]), tasks.resolve(task, block[0][1][0])
        cases = [(problem, _library(k, problem, candidates, invalid)) for k, (problem, candidates) in block]
        started = time.perf_counter()
        with double():
            padded = cases + [cases[-1]] * (width - len(cases))
            batch = stack([problem for problem, _ in padded])
            states = jnp.asarray(np.stack([rule.of(library) for _, library in padded]))
            width_together = min(width, cases[0][0].batch_width)
            responses = _numpy(_respond_batch(batch, states, correction, width_together))
        seconds = (time.perf_counter() - started) / len(cases)
        for k, (problem, library) in enumerate(cases):
            started = time.perf_counter()
            response = jax.tree.map(lambda leaf, k=k: leaf[k], responses)
            scoring = _scoring(library, correction, allow_unresolved)
            ranking = assemble(problem, library, chosen, rule.name, response, scoring)
            yield ranking.timed(seconds + time.perf_counter() - started)


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


def _library(k: int, problem: Problem, candidates: Any, invalid: Invalid) -> Library:
    try:
        _check_problem(problem)
        return Library.of(candidates, problem, invalid)
    except ValueError as error:
        raise ValueError(f"Input {k} of the panel: {error}") from None


def stack(problems: list[Problem]) -> Problem:
    """Problems of one kind as one problem with a leading batch axis on every array."""
    arrays, fixed = zip(*(eqx.partition(problem, eqx.is_array) for problem in problems), strict=True)
    first = problems[0]
    for k, (problem, rest) in enumerate(zip(problems, fixed, strict=True)):
        shapes = [jnp.shape(leaf) for leaf in jax.tree.leaves(arrays[k])]
        expected = [jnp.shape(leaf) for leaf in jax.tree.leaves(arrays[0])]
        if not eqx.tree_equal(rest, fixed[0]) or shapes != expected:
            detail = (
                f"arrays {shapes} against {expected}" if shapes != expected else "another function or fixed setting"
            )
            raise ValueError(
                f"Problem {k} of this chunk ({type(problem).__name__}) differs in kind from problem 0 "
                f"({type(first).__name__}): {detail}. Give all inputs the same functions and shapes, with what changes in "
                "data (a function defined anew for each input is another function), or rank separate panels."
            )
    return eqx.combine(jax.tree.map(lambda *leaves: jnp.stack(leaves), *arrays), fixed[0])


def _correction(corrections: Any) -> Correction:
    if isinstance(corrections, Correction):
        return corrections
    if isinstance(corrections, bool) or not isinstance(corrections, Integral):
        raise ValueError(f"corrections must be a whole number ≥ 1 or a physrank.Correction(...); got {corrections!r}.")
    return Correction(count=int(corrections))


def _scoring(library: Library, correction: Correction, allow_unresolved: bool) -> Scores:
    solves = correction.count * (2 if correction.midpoint else 1)
    values = np.full(len(library.names), np.nan)
    return Scores(
        METHOD,
        library.names,
        values,
        PENDING,
        solves,
        allow_unresolved=allow_unresolved,
        excluded=library.excluded,
    )


def _numpy(response: Response) -> Response:
    return jax.tree.map(np.asarray, response)
