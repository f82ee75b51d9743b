"""`physrank advise`: what each way of ranking costs and settles on one input."""

from typing import Annotated

import typer

import physrank as pr
from physrank.cli import results
from physrank.cli.door import app, lazily
from physrank.cli.options import Files, Json, Judgement, Sample, Statement, grouped
from physrank.cli.progress import working
from physrank.cli.stating import Stated


@app.command()
@grouped
def advise(
    files: Files,
    stated: Statement,
    judged: Judgement,
    sample: Sample = 0,
    index: Annotated[int, typer.Option("--input", min=0, help="Which input of shipped predictions.")] = 0,
    json: Json = None,
) -> None:
    """Try every way of ranking on one input: what each costs and settles, and what this problem needs.

    With the name of shipped predictions instead of files (burgers-fno-e1, burgers-cno-e1, reaction_diffusion-fno-e1,
    reaction_diffusion-cno-e1), on those.

    \b
    Examples:
      physrank advise burgers-fno-e1 --input 3
      physrank advise fno.h5 cno.h5 unet.h5 --equation diffusion-reaction --layout pdebench --from-frame 10
    """
    with working("trying"):
        if len(files) == 1 and stated == Statement():
            found = lazily("laboratory").advise(files[0], index, judged.tolerance or 0.0)
        else:
            said = Stated.of(files, stated)
            case = said.case(sample)
            results.stated(case.sources)
            options = said.options(judged, case.problem)
            if extra := options.keys() - {"task", "decide", "tolerance"}:
                raise ValueError(
                    f"advise tries every effort on data as stated; it takes no {', '.join(sorted(extra))}."
                )
            found = pr.advise(case.problem, case.candidates, **options)
    results.leave(found, found.to_dict(), json)
