"""The paper's rung: one linearised response at the candidates' anchor, and further corrections of its result."""

import time
from collections.abc import Sequence
from dataclasses import replace

import jax
import numpy as np

from physrank import compute
from physrank.geometry.space import Array
from physrank.physics import Correction, Outlook, Problem, Response, capabilities, chained, respond_and_look
from physrank.physics import respond as one_response
from physrank.physics.rescue import SAID, rescue
from physrank.rungs import diagnosis
from physrank.rungs.evidence import Coarse, OnGrid
from physrank.rungs.question import Question
from physrank.rungs.rung import Rung

NAME = "shared response"
Remarks = tuple[str, ...]


def respond(problem: Problem, anchor: Array, correction: Correction, question: Question, look: bool = True) -> Rung:
    """One response per correction, each by the same compiled program; `look` also asks how far the last one may move."""
    started, once, response = time.perf_counter(), replace(correction, count=1), None
    outlook, remarks = None, ()
    for k in range(correction.count):
        base, looks = anchor if response is None else np.asarray(response.state), look and k == correction.count - 1
        after, outlook, said = _respond(problem, base, once, looks)
        response, remarks = after if response is None else chained(response, after), said or remarks
    assert response is not None
    return _rung(problem, response, outlook, question, time.perf_counter() - started, remarks)


def _respond(problem: Problem, base: Array, once: Correction, look: bool) -> tuple[Response, Outlook | None, Remarks]:
    """One correction; where its solver did not converge, what else there is is tried, and told."""
    found = _by(problem, base, once, look)
    if bool(found[0].solved) or (other := rescue(problem, base)) is None:
        return *found, ()
    again = _by(other, base, once, look)
    return (*again, (SAID,)) if bool(again[0].solved) else (*found, ())


def _by(problem: Problem, base: Array, once: Correction, look: bool) -> tuple[Response, Outlook | None]:
    if look:
        return compute.run(respond_and_look, problem, base, once)
    return compute.run(one_response, problem, base, once), None


def respond_batch(
    problems: Sequence[Problem], anchors: Sequence[Array], correction: Correction, questions: Sequence[Question]
) -> list[Rung]:
    """The same for many inputs of one shape at a time. There may be more problems than questions: a batch that was filled
    up to its usual size needs no compilation of its own."""
    started, once, responses = time.perf_counter(), replace(correction, count=1), None
    for _ in range(correction.count - 1):
        after = compute.run_batch(one_response, problems, anchors if responses is None else responses.state, once)
        responses = after if responses is None else chained(responses, after)
    states = anchors if responses is None else responses.state
    after, outlooks = compute.run_batch(respond_and_look, problems, states, once)
    responses = after if responses is None else chained(responses, after)
    seconds = (time.perf_counter() - started) / len(questions)
    rungs = []
    for k, (problem, question) in enumerate(zip(problems, questions, strict=False)):
        response, outlook = jax.tree.map(lambda leaf, k=k: leaf[k], (responses, outlooks))
        rung = _rung(problem, response, outlook, question, seconds)
        if not bool(response.solved):
            again = respond(problem, np.asarray(anchors[k]), correction, question)
            rung = rung if again.failed else again
        rungs.append(rung)
    return rungs


def correct(problem: Problem, rung: Rung) -> Rung:
    """One further correction, linearised at the rung's state, at its own price."""
    started, before = time.perf_counter(), rung.response
    variant = Correction() if before is None else replace(before.variant, count=1)
    after, outlook, remarks = _respond(problem, rung.state, variant, look=True)
    whole = after if before is None else chained(before, after)
    better = _rung(problem, whole, outlook, rung.question, time.perf_counter() - started, remarks, rung.evidence.coarse)
    kept = {cause: part for cause, part in rung.extra.items() if cause == "resolution"}
    return replace(better, solves=variant.solves, extra=kept)


def _rung(
    problem: Problem,
    response: Response,
    outlook: Outlook | None,
    question: Question,
    seconds: float,
    remarks: Remarks = (),
    coarse: Coarse | None = None,
) -> Rung:
    reduction = diagnosis.known_reduction(response, outlook)
    evidence = OnGrid(
        np.asarray(response.state),
        np.asarray(response.base),
        response,
        movements={} if outlook is None else {"linearisation": np.asarray(outlook.movement)},
        free={} if outlook is None else outlook.directions,
        loose=0.0 if outlook is None else float(outlook.loose),
        coarse=coarse,
    )
    return Rung(
        NAME,
        question,
        evidence,
        evidence.seen(question.task),
        solves=response.variant.solves,
        seconds=seconds,
        failed=diagnosis.unresolved(problem, response, outlook),
        reduction=reduction,
        remarks=(*capabilities.remarks(problem), *remarks),
    )
