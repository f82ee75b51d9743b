"""`physrank check`: is this the equation that a known solution obeys?"""

from typing import Annotated

import typer

import physrank as pr
from physrank.cli import results
from physrank.cli.door import OPEN, SETTLED, app, say
from physrank.cli.options import Json, Sample, Statement, grouped
from physrank.cli.progress import working
from physrank.cli.stating import Stated


@app.command()
@grouped
def check(
    known: Annotated[str, typer.Argument(help="A file with a solution that you have, such as a training sample.")],
    stated: Statement,
    sample: Sample = 0,
    json: Json = None,
) -> None:
    """Hold the stated equation against a known solution: step 0 before ranking anything.

    Says where the defect sits and which number or slip of layout would lower it. Exit code 0: it passes; 3: it does not.

    \b
    Examples:
      physrank check train.h5 --equation diffusion-reaction --layout pdebench --from-frame 10
      physrank check sample.npy --equation burgers --set viscosity=0.01 --times 0:0.5
    """
    with working("reading"):
        case = Stated.of([known], stated).case(sample)
    if len(case.candidates) > 1:
        raise ValueError(
            f"{known} holds {len(case.candidates)} states; one is checked at a time: choose with --fields."
        )
    results.stated(case.sources)
    (state,) = case.candidates.values()
    with working("checking"), case.compiled():
        found = pr.check(case.problem, state, progress=say)
    content = {
        "passes": found.passes,
        "floor": found.floor,
        "where": found.where,
        "suggestions": [{"what": s.what, "name": s.name, "floor": s.floor} for s in found.suggestions],
    }
    results.leave(found, content, json)
    raise typer.Exit(SETTLED if found.passes else OPEN)
