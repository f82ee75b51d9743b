"""`physrank select`: one checkpoint for good, over all inputs of the files."""

import os
import pickle
import random
from collections.abc import Iterable
from contextlib import chdir
from dataclasses import replace
from functools import lru_cache, partial
from itertools import tee
from typing import Annotated, Any
from uuid import uuid4

import typer

import physrank as pr
from physrank.cli import results
from physrank.cli.cluster import Scheduler, connected
from physrank.cli.door import OPEN, SETTLED, app
from physrank.cli.options import Files, Json, Judgement, Statement, grouped
from physrank.cli.progress import bars
from physrank.cli.stating import Case, Stated


@app.command()
@grouped
def select(
    files: Files,
    stated: Statement,
    judged: Judgement,
    within: Annotated[
        float, typer.Option(min=0, help="Excess of the mean score that would not matter, as a share: 0.05 is 5 %.")
    ] = 0.05,
    confidence: Annotated[float, typer.Option(help="Of the choice.")] = 0.95,
    most: Annotated[int | None, typer.Option(min=1, help="Look at no more than so many inputs.")] = None,
    seed: Annotated[int, typer.Option(min=0, help="Of the order in which inputs are read.")] = 0,
    scheduler: Scheduler = None,
    json: Json = None,
) -> None:
    """Choose one checkpoint for repeated use, from the scores over the inputs that the files hold.

    Inputs are read in random order, and no further once the choice for all of them is settled. With --scheduler, workers
    read the files and rank; paths must be theirs too. Inputs that cannot be ranked are then left out and listed. Exit
    code 0: settled.

    \b
    Examples:
      physrank select fno.h5 cno.h5 unet.h5 --equation diffusion-reaction --layout pdebench --from-frame 10
      physrank select 'epoch*.npz' --problem problem.toml --within 0.01 --json choice.json
      physrank select 'epoch*.npz' --problem problem.toml --scheduler tcp://head:8786
    """
    said = Stated.of(files, stated)
    samples = list(range(said.given.samples))
    random.Random(seed).shuffle(samples)
    samples = samples[:most]
    first = said.case(samples[0])
    results.stated(first.sources)
    options = {"decide": "best", "allow_unresolved": True} | said.options(judged, first.problem)
    with connected(scheduler) as client, bars() as advance, first.compiled(len(samples)):
        panel = pr.rank_panel(
            *(_here(said, first, samples) if client is None else _there(files, stated, samples)),
            progress=lambda done, _: advance("inputs", done, len(samples)),
            **options,
        )
        rule = pr.Settled(tolerance=within, total=len(samples))
        selection = pr.select(panel, confidence=confidence, until=rule, client=client)
    selection = replace(
        selection,
        **{  # by their numbers in the files
            name: {samples[k]: why for k, why in getattr(selection, name).items()} for name in ("failed", "unresolved")
        },
    )
    results.leave(selection, selection.to_dict(), json)
    raise typer.Exit(SETTLED if selection.settled else OPEN)


def _here(said: Stated, first: Case, samples: list[int]) -> tuple[Iterable[Any], Iterable[Any]]:
    """Problems and candidates of the inputs, read as they are asked for."""
    problems, libraries = tee(first if k == 0 else said.case(sample) for k, sample in enumerate(samples))
    return (case.problem for case in problems), (case.candidates for case in libraries)


def _there(files: list[str], stated: Statement, samples: list[int]) -> tuple[Iterable[Any], Iterable[Any]]:
    """The same as functions: whoever calls them reads the files."""
    told = pickle.dumps((uuid4().hex, os.getcwd(), files, stated))  # what workers keep is of this command: files change
    return [partial(_problem, told, sample) for sample in samples], [partial(_states, told, s) for s in samples]


def _problem(told: bytes, sample: int) -> Any:
    return _case(told, sample).problem


def _states(told: bytes, sample: int) -> Any:
    return _case(told, sample).candidates


@lru_cache(maxsize=1)
def _case(told: bytes, sample: int) -> Case:
    folder, said = _said(told)
    with chdir(folder):
        return said.case(sample)


@lru_cache(maxsize=4)
def _said(told: bytes) -> tuple[str, Stated]:
    _, folder, files, stated = pickle.loads(told)
    with chdir(folder):
        return folder, Stated.of(files, stated)
