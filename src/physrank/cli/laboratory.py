"""What the laboratory's commands do. It imports JAX and the laboratory, so `lab` loads it when a command runs."""

import importlib
import time
from pathlib import Path
from typing import Any

import jax
import typer
from rich import box
from rich.console import Console
from rich.table import Table

from physrank import ranking
from physrank._io import write_json
from physrank._version import __version__
from physrank.cli.progress import bars
from physrank.lab import demo as demonstration
from physrank.lab.demo import Demo
from physrank.lab.equations import EQUATIONS, ROLLOUTS
from physrank.lab.figures import catalogue, shipped
from physrank.lab.libraries import PROFILES, Profile, find
from physrank.lab.store.files import StoreError, read_json
from physrank.lab.store.provenance import stamp, unchanged
from physrank.lab.studies import STUDIES, diffusion_reaction
from physrank.lab.studies._kit import tables
from physrank.lab.studies._kit.cases import Context

console = Console()


def demo(out: Path) -> None:
    console.print(
        "[bold]FNO and CNO checkpoints predict solutions of two equations for inputs outside their training "
        "range.[/]\nEvery method ranks them without seeing the solution.\n"
    )
    with bars(52) as advance:
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


def advise(library: str, index: int, tolerance: float) -> ranking.Advice:
    """On one input of the shipped predictions."""
    data = demonstration.DemoData.load()
    if library not in data.predictions or not 0 <= index < len(data.predictions[library]):
        most = len(next(iter(data.predictions.values()))) - 1
        raise ValueError(
            f"got {library}, input {index}; expected shipped predictions, {', '.join(data.predictions)}, input 0 to {most}; "
            "or files and --equation"
        )
    problem = data.problem(find(library)[0].equation, index)
    return ranking.advise(problem, data.candidates(library, index), tolerance=tolerance)


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


def _profile(name: str) -> Profile:
    if name not in PROFILES:
        raise ValueError(f"There is no profile {name!r}; expected one of {', '.join(PROFILES)}.")
    return PROFILES[name]


def train(library: str, profile: str, store: Path, workers: int | None) -> None:
    chosen, size = find(library), _profile(profile)
    runs = sum(library.runs for library in chosen)
    console.print(
        f"training {runs} runs in {store / size.name}; the first epochs come when all is loaded", soft_wrap=True
    )
    parallel = _training("parallel")
    total = sum(library.runs * library.sized(size).epochs for library in chosen)
    started, seen = time.perf_counter(), {}
    with bars(34) as advance:
        advance("all epochs", 0, total)

        def progress(run: str, epoch: int, epochs: int) -> None:
            seen[run] = epoch
            advance(run, epoch, epochs)
            advance("all epochs", sum(seen.values()), total)

        parallel.train(store, size, chosen, progress, workers)
    parallel.predict(store, size, chosen, lambda what: console.print(f"predicting {what}"), workers)
    console.print(
        f"{len(chosen)} libraries in {store / size.name} ({(time.perf_counter() - started) / 60:.1f} minutes)."
    )


def study(
    name: str,
    profile: str,
    store: Path,
    out: Path,
    client: Any = None,
    data: Path | None = None,
    checkpoints: Path | None = None,
) -> None:
    chosen = list(STUDIES) if name in ("all", "verify") else [name]
    if unknown := [one for one in chosen if one not in STUDIES]:
        raise ValueError(f"There is no study {unknown[0]!r}; expected one of {', '.join(STUDIES)}, all or verify.")
    folder = out / _profile(profile).name
    if name == "verify":
        raise typer.Exit(0 if _verify(folder) else 1)
    folder.mkdir(parents=True, exist_ok=True)  # now, not after the work
    official = _official(name, store, data, checkpoints)
    for one in chosen:
        started = time.perf_counter()
        with bars(44) as advance:
            result, figure = STUDIES[one].run(Context(store, _profile(profile), advance, client, official))
        for path in tables.store(folder, f"{one}_official" if official else one, result, figure):
            console.print(f"wrote {path}")
        _print_claims(one, result)
        console.print(f"[dim]{(time.perf_counter() - started) / 60:.1f} minutes[/]")


def _official(name: str, store: Path, data: Path | None, checkpoints: Path | None) -> Path | None:
    """Where the rollouts of a user's own data and checkpoints are; None without any."""
    if data is None and checkpoints is None:
        return None
    if data is None or checkpoints is None or name != diffusion_reaction.NAME:
        raise ValueError(f"--data and --checkpoints go together, with the study {diffusion_reaction.NAME}; got {name}.")
    with bars(44) as advance:
        return _training("official").roll_out(store, ROLLOUTS[name], data, checkpoints, advance)


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


def figures(results: Path, out: Path, profile: str, measure: bool) -> None:
    if measure:
        with bars(30) as advance:
            write_json(results / "figures.json", stamp(shipped.measure(advance)))
    out.mkdir(parents=True, exist_ok=True)
    for name, sources, waits in catalogue.draw(results, out, _profile(profile).name):
        console.print(f"{name}: {', '.join(sources) or 'not drawn'}" + (f"; {waits}" if waits else ""), highlight=False)


def _training(module: str) -> Any:
    """The one door to PyTorch, which only training needs and which takes seconds to import."""
    try:
        return importlib.import_module(f"physrank.lab.training.{module}")
    except ModuleNotFoundError as missing:
        raise ValueError(f"This needs {missing.name}, which is not installed: pip install 'physrank[lab]'.") from None


def info() -> None:
    console.print(
        f"physrank {__version__}, jax {jax.__version__} on {jax.default_backend()} ({jax.device_count()} device)"
    )
