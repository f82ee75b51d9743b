"""The laboratory at the command line: `demo`, `train`, `study`, `figures`, `info`."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from physrank.cli.cluster import Scheduler, connected
from physrank.cli.door import FAILED, app, lazily, refused

Store = Annotated[
    Path, typer.Option(envvar="PHYSRANK_STORE", help="Folder of checkpoints, predictions and references.")
]
ProfileName = Annotated[str, typer.Option(help="Size of everything: smoke, laptop or paper.")]


@contextmanager
def laboratory() -> Iterator[Any]:
    """What does the work; what is missing or damaged in a store is a sentence."""
    room = lazily("laboratory")
    try:
        yield room
    except room.StoreError as problem:
        raise refused(problem, FAILED) from None


@app.command()
def demo(
    out: Annotated[Path, typer.Option(help="Folder for the picture, the numbers and the report.")] = Path(
        "demo_output"
    ),
) -> None:
    """Rank trained networks of two equations without a reference, then reveal the reference.

    \b
    Example:
      physrank demo --out demo_output
    """
    with laboratory() as room:
        room.demo(out)


@app.command()
def train(
    library: Annotated[
        str,
        typer.Argument(
            help="A library, or primary, additional, stress, sine_gordon, quality, mixed, diffusion_reaction, flow_1d, "
            "flow_2d."
        ),
    ],
    profile: ProfileName = "laptop",
    store: Store = Path("store"),
    workers: Annotated[
        int | None, typer.Option(min=1, help="Runs side by side, one core each; default: all cores.")
    ] = None,
) -> None:
    """Train candidate libraries and store their predictions. Interrupt it at will: it goes on where it was.

    \b
    Example:
      physrank train burgers-fno-e1 --profile smoke --store store
    """
    with laboratory() as room:
        room.train(library, profile, store, workers)


@app.command()
def study(
    name: Annotated[str, typer.Argument(help="A study, `all` of them, or `verify` for the claims of stored results.")],
    profile: ProfileName = "laptop",
    store: Store = Path("store"),
    out: Annotated[Path, typer.Option(help="Folder for tables and pictures.")] = Path("results/studies"),
    scheduler: Scheduler = None,
    data: Annotated[
        Path | None, typer.Option(help="PDEBench's 2D_diff-react_NA_NA.h5, for the study diffusion_reaction.")
    ] = None,
    checkpoints: Annotated[Path | None, typer.Option(help="Folder of PDEBench's U-Nets for that file.")] = None,
) -> None:
    """Run a study from stored predictions, or verify what stored results claim.

    \b
    Examples:
      physrank study primary --profile smoke --store store
      physrank study diffusion_reaction --data 2D_diff-react_NA_NA.h5 --checkpoints unets
      physrank study verify
    """
    for library in ("OPENBLAS", "MKL"):
        # Products of a few candidates are small; beside other work, NumPy's threads wait for each other ten times as long.
        os.environ.setdefault(f"{library}_NUM_THREADS", "1")
    with laboratory() as room, connected(scheduler) as client:
        room.study(name, profile, store, out, client, data, checkpoints)


@app.command()
def figures(
    results: Annotated[Path, typer.Option(help="Folder of stored results.")] = Path("results"),
    out: Annotated[Path, typer.Option(help="Folder for the figures and their index.")] = Path("docs/assets/figures"),
    profile: ProfileName = "laptop",
    measure: Annotated[
        bool, typer.Option("--measure", help="First measure, from the shipped predictions, what single cases need.")
    ] = False,
) -> None:
    """Draw the paper's figures from stored results; say which study is missing for the others.

    \b
    Example:
      physrank figures --results results --out figures
    """
    with laboratory() as room:
        room.figures(results, out, profile, measure)


@app.command()
def info() -> None:
    """Say what is installed and what JAX computes on.

    \b
    Example:
      physrank info
    """
    with laboratory() as room:
        room.info()
