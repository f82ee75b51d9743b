"""`physrank init`: a commented problem file to begin with."""

from pathlib import Path
from typing import Annotated

import typer

from physrank.cli import results
from physrank.cli.catalogue import CATALOGUE, GRID, Entry, entry
from physrank.cli.door import app


@app.command()
def init(
    equation: Annotated[str | None, typer.Argument(help="A built-in equation; without one, they are listed.")] = None,
    out: Annotated[Path | None, typer.Option(help="Write there; default: standard output.")] = None,
) -> None:
    """Write a commented problem file for a built-in equation. A file that exists is not overwritten.

    \b
    Examples:
      physrank init
      physrank init burgers --out problem.toml
    """
    if equation is None:
        width = max(map(len, CATALOGUE))
        typer.echo("\n".join(f"{name:<{width}}  {known.formula}" for name, known in CATALOGUE.items()))
        return
    known = entry(equation)
    text = template(next(name for name, one in CATALOGUE.items() if one is known), known)
    if out is None:
        typer.echo(text, nl=False)
        return
    if out.exists():
        raise ValueError(f"{out} exists, and is left as it is. Name another file, or move that one away.")
    results.leave_page(text, out)


def template(name: str, known: Entry) -> str:
    """What is needed stands there to be changed; what has a default, or is in most files, is commented out."""
    needed = (
        ("viscosity", "boundary", "diffusion", "forcing", "linear", "cubic") if name != "diffusion-reaction" else ()
    )
    lines = {
        table: [
            f"{'' if key in needed else '# '}{key} = {value}  # {what}"
            for key, (value, what) in known.numbers.items()
            if (key in GRID) == (table == "grid")
        ]
        for table in ("grid", "numbers")
    }
    times = ["# times = [0.0, 0.5]  # of the first and the last frame, or of all"] if known.marches else []
    frame = ["# from_frame = 10  # the frame at which prediction begins"] if known.marches else []
    doubtful = next(key for key in known.numbers if key not in GRID)
    return "\n".join(
        [
            f"# {known.formula}",
            "# What is commented out is optional: files say it, or there is a default. Flags on the line win over this file.",
            "#   physrank rank a.h5 b.h5 --problem problem.toml --report out.html",
            f'equation = "{name}"',
            f'# task = "{known.task}"  # what is compared: terminal, trajectory, field, or frame:K',
            '# layout = "auto"  # of the files; pdebench, the-well, …',
            *frame,
            '# decide = "order"  # what must be settled; or "best"',
            "# tolerance = 0.0  # excess of squared loss that would not matter",
            "",
            "[grid]",
            *lines["grid"],
            *times,
            "",
            "[numbers]",
            *lines["numbers"],
            "",
            "# [uncertainty]  # how well numbers are known: which decisions survive?",
            f"# {doubtful} = 0.02  # 2 %",
            "",
        ]
    )
