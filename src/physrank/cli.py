"""The `physrank` command: the only module that sees instrument and laboratory alike."""

import importlib
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import jax
import numpy as np
import typer
from rich import box
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from physrank import __version__, ranking
from physrank.lab import demo as demonstration
from physrank.lab.demo import Demo
from physrank.lab.equations import EQUATIONS
from physrank.lab.libraries import GROUPS, PROFILES, RUNS, Profile, find
from physrank.lab.store.files import StoreError, read_json
from physrank.lab.store.provenance import unchanged
from physrank.lab.studies import STUDIES
from physrank.lab.studies._kit import tables
from physrank.lab.studies._kit.cases import Context

app = typer.Typer(
    no_args_is_help=True, add_completion=False, help="Which prediction to trust, from the governing equation alone."
)
console = Console()


def _show_version(asked: bool) -> None:
    if asked:
        console.print(f"physrank {__version__}")
        raise typer.Exit()


@app.callback()
def main(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Which prediction to trust, from the governing equation alone."""


@app.command()
def demo(
    out: Annotated[Path, typer.Option(help="Folder for the picture, the numbers and the report.")] = Path(
        "demo_output"
    ),
) -> None:
    """Rank trained networks of two equations without a reference, then reveal the reference."""
    console.print(
        "[bold]FNO and CNO checkpoints predict solutions of two equations for inputs outside their training "
        "range.[/]\nEvery method ranks them without seeing the solution.\n"
    )
    with _bars(52) as advance:
        found = demonstration.run(advance)
    console.print("\nNow the references are revealed (high resolution, by discretisations of their own):")
    for equation in found.recovery:
        console.print(_table(found, equation))
    _print_case(found)
    console.print("\nOne checkpoint for all inputs:")
    for library, selection in found.selections.items():
        console.print(f"  {library}: {selection.best}, in {selection.stability:.0%} of resamples", highlight=False)
    for sentence in found.advice:
        console.print(f"\n[bold]{sentence}[/]")
    for path in demonstration.write(found, out):
        console.print(f"wrote {path}")
    console.print(f"[dim]{found.wall_seconds:.0f} s in all, compilation included.[/]")


@app.command()
def advise(
    library: Annotated[str, typer.Argument(help=f"Shipped predictions: {', '.join(demonstration.LIBRARIES)}.")],
    index: Annotated[int, typer.Option("--input", min=0, help="Which of the shipped inputs.")] = 0,
    tolerance: Annotated[float, typer.Option(min=0, help="Excess of squared loss that would not matter.")] = 0.0,
) -> None:
    """Try every way of ranking on one input: what each costs and settles, and what this problem needs."""
    data = demonstration.DemoData.load()
    if library not in data.predictions or index >= len(data.predictions[library]):
        most = len(next(iter(data.predictions.values()))) - 1
        console.print(f"got {library}, input {index}; expected {', '.join(data.predictions)}, input 0 to {most}")
        raise typer.Exit(2)
    problem = data.problem(find(library)[0].equation, index)
    console.print(
        str(ranking.advise(problem, data.candidates(library, index), tolerance=tolerance)),
        highlight=False,
        soft_wrap=True,
    )


@contextmanager
def _bars(width: int = 26) -> Iterator[Any]:
    """`advance(what, done, total)`: one bar for each name, or lines now and then where no terminal listens."""
    if not console.is_terminal:
        yield _lines(60.0)
        return
    columns = (
        TextColumn(f"{{task.description:<{width}}}"),
        BarColumn(),
        TextColumn("{task.completed}/{task.total}"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console) as progress:
        bars: dict[str, Any] = {}

        def advance(what: str, done: int, total: int) -> None:
            if what not in bars:
                bars[what] = progress.add_task(what, total=total)
            progress.update(bars[what], completed=done, visible=done < total or total <= 1 or len(bars) < 20)

        yield advance


def _lines(every: float) -> Any:
    """For logs: a line when something ends, and one every so many seconds before, with the time left."""
    begun: dict[str, tuple[float, int]] = {}
    said: dict[str, float] = {}

    def advance(what: str, done: int, total: int) -> None:
        now = time.perf_counter()
        started, first = begun.setdefault(what, (now, done))
        if said.get(what) == np.inf or (done < total and now - said.setdefault(what, now) < every):
            return
        said[what] = np.inf if done == total else now
        if now - started < every / 10:
            return  # what takes no time needs no line
        left = (now - started) * (total - done) / max(done - first, 1) / 60
        ending = f", about {left:.1f} minutes left" if done < total else ""
        console.print(f"{what}: {done}/{total} after {(now - started) / 60:.1f} minutes{ending}", highlight=False)

    return advance


@contextmanager
def _clear_errors() -> Iterator[None]:
    """A problem with files or names is one sentence, not a traceback."""
    try:
        yield
    except (StoreError, ValueError, OSError) as problem:
        console.print(f"[bold red]{type(problem).__name__}[/]: {problem}", highlight=False)
        raise typer.Exit(1) from None


def _table(found: Demo, equation: str) -> Table:
    cases = next(iter(found.recovery[equation].values())).cases
    table = Table(box=box.SIMPLE_HEAD, title=f"{EQUATIONS[equation].title}: {cases} cases", title_justify="left")
    table.add_column("method", no_wrap=True)
    for heading in ("pairs", "", "top-1", "regret", "ms/input"):
        table.add_column(heading, justify="right", no_wrap=True)
    for name, recovery in found.recovery[equation].items():
        share = recovery.pairs_correct / recovery.pairs
        table.add_row(
            name,
            f"{recovery.pairs_correct}/{recovery.pairs}",
            f"{share:.1%}",
            f"{recovery.top1_tolerant}/{recovery.cases}",
            f"{recovery.mean_normalized_regret:.4f}",
            f"{1e3 * found.seconds[equation][name]:.1f}",
            style="bold" if name == "ladder" else None,
        )
    return table


def _print_case(found: Demo) -> None:
    library, k = demonstration.PICTURED
    shown, true = found.rankings[library][k], found.losses[library][k] ** 0.5
    console.print(f"\nInput {k + 1} of {library}, estimated against true error:", highlight=False)
    for name in shown.order:
        i = shown.names.index(name)
        console.print(f"  {name:<14} estimated {shown.error_estimates[i]:.5f}   true {true[i]:.5f}")


Store = Annotated[
    Path, typer.Option(envvar="PHYSRANK_STORE", help="Folder of checkpoints, predictions and references.")
]
ProfileName = Annotated[str, typer.Option(help="Size of everything: smoke, laptop or paper.")]


def _profile(name: str) -> Profile:
    if name not in PROFILES:
        raise ValueError(f"There is no profile {name!r}; expected one of {', '.join(PROFILES)}.")
    return PROFILES[name]


@app.command()
def train(
    library: Annotated[str, typer.Argument(help=f"A library, or a group of them: {', '.join(GROUPS)}.")],
    profile: ProfileName = "laptop",
    store: Store = Path("store"),
    workers: Annotated[
        int | None, typer.Option(min=1, help="Runs side by side, one core each; default: all cores.")
    ] = None,
) -> None:
    """Train candidate libraries and store their predictions. Interrupt it at will: it goes on where it was."""
    with _clear_errors():
        chosen, size = find(library), _profile(profile)
        parallel, inference = _training("parallel"), _training("inference")
        total, started, seen = len(chosen) * RUNS * size.epochs, time.perf_counter(), {}
        with _bars(34) as advance:
            advance("all epochs", 0, total)

            def progress(run: str, epoch: int, epochs: int) -> None:
                seen[run] = epoch
                advance(run, epoch, epochs)
                advance("all epochs", sum(seen.values()), total)

            parallel.train(store, size, chosen, progress, workers)
        for one in chosen:
            inference.store_predictions(store, size, one, lambda what: console.print(f"predicting {what}"))
        console.print(
            f"{len(chosen)} libraries in {store / size.name} ({(time.perf_counter() - started) / 60:.1f} minutes)."
        )


@app.command()
def study(
    name: Annotated[str, typer.Argument(help="A study, `all` of them, or `verify` for the claims of stored results.")],
    profile: ProfileName = "laptop",
    store: Store = Path("store"),
    out: Annotated[Path, typer.Option(help="Folder for tables and pictures.")] = Path("results/studies"),
) -> None:
    """Run a study from stored predictions, or verify what stored results claim."""
    with _clear_errors():
        chosen = list(STUDIES) if name in ("all", "verify") else [name]
        if unknown := [one for one in chosen if one not in STUDIES]:
            raise ValueError(f"There is no study {unknown[0]!r}; expected one of {', '.join(STUDIES)}, all or verify.")
        folder = out / _profile(profile).name
        if name == "verify":
            raise typer.Exit(0 if _verify(folder) else 1)
        folder.mkdir(parents=True, exist_ok=True)  # now, not after the work
        for one in chosen:
            started = time.perf_counter()
            with _bars(44) as advance:
                result, figure = STUDIES[one].run(Context(store, _profile(profile), advance))
            for path in tables.store(folder, one, result, figure):
                console.print(f"wrote {path}")
            _print_claims(one, result)
            console.print(f"[dim]{(time.perf_counter() - started) / 60:.1f} minutes[/]")


def _verify(folder: Path) -> bool:
    """Whether every claim of every stored study holds; what is not stored is said and does not hold."""
    good = True
    for name in STUDIES:
        path = folder / f"{name}.json"
        if not path.exists():
            console.print(f"[yellow]{name}: no result in {folder}: run `physrank study {name}`[/]")
            good = False
            continue
        result = read_json(path)
        if not unchanged(result):
            console.print(f"[bold red]{path} was edited after it was measured: run `physrank study {name}` again[/]")
            good = False
            continue
        try:
            good &= _print_claims(name, result)
        except StoreError as stale:
            console.print(f"[bold red]{stale}[/]", highlight=False)
            good = False
    return good


def _print_claims(name: str, result: dict[str, Any]) -> bool:
    try:
        found = STUDIES[name].claims(result)
    except KeyError as missing:
        raise StoreError(
            f"The stored result of {name} has no {missing}: it is of another version. Run `physrank study {name}` again."
        ) from None
    for claim, holds in found:
        mark = "[green]holds[/]" if holds else "[bold red]FAILS[/]"
        console.print(f"{mark}  {name}: {claim}", highlight=False)
    return all(holds for _, holds in found)


def _training(module: str) -> Any:
    """The one door to PyTorch, which only training needs and which takes seconds to import."""
    try:
        return importlib.import_module(f"physrank.lab.training.{module}")
    except ModuleNotFoundError as missing:
        raise ValueError(f"This needs {missing.name}, which is not installed: pip install 'physrank[lab]'.") from None


@app.command()
def info() -> None:
    """Say what is installed and what JAX computes on."""
    console.print(
        f"physrank {__version__}, jax {jax.__version__} on {jax.default_backend()} ({jax.device_count()} device)"
    )
