"""`physrank certify`: which decisions are proved."""

from typing import Annotated

import typer

import physrank as pr
from physrank.cli import results
from physrank.cli.door import OPEN, SETTLED, app
from physrank.cli.options import Files, Json, Judgement, Report, Sample, Statement, grouped
from physrank.cli.progress import working
from physrank.cli.stating import Stated


@app.command()
@grouped
def certify(
    files: Files,
    stated: Statement,
    judged: Judgement,
    sample: Sample = 0,
    corrections: Annotated[int, typer.Option(min=1, help="At most so many, while something is open.")] = 4,
    report: Report = None,
    json: Json = None,
) -> None:
    """Prove decisions of a ranking, and say against which target and on what the proof rests.

    Exit code 0: everything asked for is proved (--decide best: a candidate within the tolerance of the best); 3: not all.

    \b
    Examples:
      physrank certify fno.npy cno.npy --equation burgers --set viscosity=0.05 --times 0:0.5
      physrank certify fno.h5 cno.h5 --problem problem.toml --decide best --tolerance 1e-4 --report proof.html
    """
    with working("reading"):
        said = Stated.of(files, stated)
        case = said.case(sample)
        options = said.options(judged, case.problem)
    results.stated(case.sources)
    asked = pr.certificates.Certified(
        decision="best" if options.get("decide") == "best" else "pairs", tolerance=options.get("tolerance", 0.0)
    )
    with working("certifying"), case.compiled():
        ranking = pr.rank(case.problem, case.candidates, until=asked, max_corrections=corrections, **options)
    results.leave(ranking, ranking.to_dict(), json)
    if report is not None:
        with working("drawing"):
            path = ranking.report(report)
        results.say(f"wrote {path}")
    proof = ranking.certificate
    raise typer.Exit(SETTLED if proof is not None and proof.settled else OPEN)
