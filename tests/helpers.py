"""What several test files need."""

import os
import re
from dataclasses import replace
from pathlib import Path

import equinox as eqx
import numpy as np
import pytest

import physrank as pr
from physrank.rungs.evidence import OnGrid

BESIDE = Path(__file__).resolve().parents[2] / "shared" / "data"  # beside the checkout
EXTERNAL = Path(os.environ.get("PHYSRANK_EXTERNAL_DATA", BESIDE))  # data written by others


def wide(listed="wide.txt"):
    """(seconds, test) of what tests/wide.txt lists: a test of a file, or one case of it."""
    text = (Path(__file__).parent / listed).read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    return [(float(seconds), test) for seconds, test in (line.split(" ", 1) for line in lines)]


def with_state(ranking, state):
    """The ranking as if its response had ended at another state."""
    return with_response(ranking, eqx.tree_at(lambda r: r.state, ranking.response, state))


def with_response(ranking, response):
    evidence = OnGrid(np.asarray(response.state), np.asarray(response.base), response)
    rung = replace(ranking.rung, evidence=evidence, seen=evidence.seen(ranking.task))
    return replace(ranking, rung=rung)


def with_outputs(ranking, outputs):
    """The ranking as if its candidates had given other outputs."""
    question = replace(ranking.rung.question, outputs=outputs)
    return replace(ranking, rung=replace(ranking.rung, question=question))


def solve(problem):
    state, failed = pr.scorers.DirectSolve().solution(problem, problem.state_shape)
    assert failed is None
    assert np.all(np.isfinite(state))
    return state


def named_substeps(build):
    """What the refusal of a single substep asks for; one less must be refused too."""
    with pytest.raises(ValueError, match=r"1 substeps per row are unstable.*Use substeps=\d+ or more\.") as refused:
        build(1)
    found = re.search(r"substeps=(\d+) or more", str(refused.value))
    assert found
    number = int(found[1])
    with pytest.raises(ValueError, match=f"Use substeps={number} or more"):
        build(number - 1)
    return number


def relative_error(build, number):
    """Of the named number against eight times as many."""
    fine = solve(build(8 * number))
    return np.linalg.norm(solve(build(number)) - fine) / np.linalg.norm(fine)
