"""`physrank select`: one checkpoint for good, over all inputs of the files."""

import random
from collections.abc import Iterator
from itertools import tee
from typing import Annotated, Any

import typer

import physrank as pr
from physrank.cli import results
from physrank.cli.door import OPEN, SETTLED, app
from physrank.cli.options import Files, Json, Judgement, Statement, grouped
from physrank.cli.progress import Advance, bars
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
    json: Json = None,
) -> None:
    """Choose one checkpoint for repeated use, from the scores over the inputs that the files hold.

    Inputs are read in random order, and no further once the choice for all of them is settled. Exit code 0: settled.

    \b
    Examples:
      physrank select fno.h5 cno.h5 unet.h5 --equation diffusion-reaction --layout pdebench --from-frame 10
      physrank select 'epoch*.npz' --problem problem.toml --within 0.01 --json choice.json
    """
    said = Stated.of(files, stated)
    samples = list(range(said.given.samples))
    random.Random(seed).shuffle(samples)
    samples = samples[:most]
    first = said.case(samples[0])
    results.stated(first.sources)
    options = {"decide": "best", "allow_unresolved": True} | said.options(judged, first.problem)
    with bars() as advance, first.compiled(len(samples)):
        rankings = _ranked(said, first, samples, options, advance)
        rule = pr.Settled(tolerance=within, total=len(samples))
        selection = pr.select(rankings, confidence=confidence, until=rule)
    results.leave(selection, selection.to_dict(), json)
    raise typer.Exit(SETTLED if selection.settled else OPEN)


def _ranked(said: Stated, first: Case, samples: list[int], options: dict[str, Any], advance: Advance) -> Iterator[Any]:
    """One ranking per input, as they are asked for."""
    problems, libraries = tee(first if k == 0 else said.case(sample) for k, sample in enumerate(samples))
    panel = pr.rank_panel((case.problem for case in problems), (case.candidates for case in libraries), **options)
    for done, ranking in enumerate(panel, start=1):
        yield ranking
        advance("inputs", done, len(samples))
