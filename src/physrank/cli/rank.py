"""`physrank rank`: files of predictions to a verdict."""

import typer

import physrank as pr
from physrank.cli import results
from physrank.cli.door import OPEN, SETTLED, app
from physrank.cli.options import Files, Json, Judgement, Report, Sample, Statement, grouped
from physrank.cli.progress import working
from physrank.cli.stating import Stated


@app.command()
@grouped
def rank(
    files: Files, stated: Statement, judged: Judgement, sample: Sample = 0, report: Report = None, json: Json = None
) -> None:
    """Rank predictions of one solution by the governing equation, without a reference.

    Numbers of the equation come from --set, else from the problem file, else from the files themselves; the command says
    which. Exit code 0: what was asked for is settled; 3: it is open or unresolved; 2: bad input.

    \b
    Examples:
      physrank rank fno.h5 cno.h5 unet.h5 --equation diffusion-reaction --layout pdebench --from-frame 10 --report out.html
      physrank rank fno=a.npy cno=b.npy --equation burgers --set viscosity=0.01 --times 0:0.5
      physrank rank 'run*/prediction.h5' --problem problem.toml --sample 3 --json - > verdict.json
      physrank rank a.npz b.npz --python my_pde.py:problem_of --set viscosity=0.01 --decide best
    """
    with working("reading"):
        said = Stated.of(files, stated)
        case = said.case(sample)
        options = said.options(judged, case.problem)
    results.stated(case.sources)
    with working("ranking"), case.compiled():
        ranking = pr.rank(case.problem, case.candidates, **options)
    results.leave(ranking, ranking.to_dict(), json)
    if report is not None:
        with working("drawing"):
            path = ranking.report(report)
        results.say(f"wrote {path}")
    raise typer.Exit(SETTLED if ranking.settled else OPEN)
