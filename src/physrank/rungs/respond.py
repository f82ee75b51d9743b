"""The paper's rung: one linearised response at the candidates' anchor, and further corrections of its result."""

import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import jax
import numpy as np

from physrank import compute
from physrank.geometry.space import Array
from physrank.physics import Correction, Problem, Response, chained
from physrank.physics import respond as one_response
from physrank.rungs import diagnosis
from physrank.rungs.rung import Question, Rung

NAME = "shared response"


def respond(problem: Problem, anchor: Array, correction: Correction, question: Question) -> Rung:
    """One response per correction, each by the same compiled program."""
    started = time.perf_counter()
    once = replace(correction, count=1)
    response = compute.run(one_response, problem, anchor, once)
    for _ in range(1, correction.count):
        response = chained(response, compute.run(one_response, problem, response.state, once))
    return _rung(problem, response, question, time.perf_counter() - started)


def respond_batch(
    problems: Sequence[Problem], anchors: Sequence[Array], correction: Correction, questions: Sequence[Question]
) -> list[Rung]:
    """The same for many inputs of one shape at a time. There may be more problems than questions: a batch that was filled
    up to its usual size needs no compilation of its own."""
    started = time.perf_counter()
    once = replace(correction, count=1)
    responses = compute.run_batch(one_response, problems, anchors, once)
    for _ in range(1, correction.count):
        responses = chained(responses, compute.run_batch(one_response, problems, responses.state, once))
    seconds = (time.perf_counter() - started) / len(questions)
    return [
        _rung(problem, jax.tree.map(lambda leaf, k=k: leaf[k], responses), question, seconds)
        for k, (problem, question) in enumerate(zip(problems, questions, strict=False))
    ]


def correct(problem: Problem, rung: Rung) -> Rung:
    """One further correction, linearised at the rung's state."""
    started, before = time.perf_counter(), rung.response
    variant = Correction() if before is None else replace(before.variant, count=1)
    after = compute.run(one_response, problem, rung.state, variant)
    whole = after if before is None else chained(before, after)
    better = _rung(problem, whole, rung.question, rung.seconds + time.perf_counter() - started)
    return replace(better, solves=rung.solves + variant.solves)


def _rung(problem: Problem, response: Response, question: Question, seconds: float) -> Rung:
    at: dict[str, Any] = {"state": np.asarray(response.state), "base": np.asarray(response.base)}
    failed = diagnosis.unresolved(problem, response)
    return Rung(NAME, question, **at, solves=response.variant.solves, seconds=seconds, failed=failed, response=response)
