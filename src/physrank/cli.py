"""The `physrank` command: the only module that sees instrument and laboratory alike."""

from pathlib import Path
from typing import Annotated, Any

import jax
import typer
from rich import box
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from physrank import __version__
from physrank.lab import demo as demonstration
from physrank.lab.demo import Demo

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
    """Rank eight trained networks on 24 inputs without a reference, then reveal the reference."""
    console.print(
        "[bold]Eight FNO checkpoints predict a reaction–diffusion field for 24 inputs outside their training range.[/]"
    )
    console.print("Every method ranks them without seeing the solution.\n")
    columns = (
        TextColumn("{task.description:<26}"),
        BarColumn(),
        TextColumn("{task.completed}/{task.total}"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console) as progress:
        bars: dict[str, Any] = {}

        def advance(method: str, done: int, total: int) -> None:
            if method not in bars:
                bars[method] = progress.add_task(method, total=total)
            progress.update(bars[method], completed=done)

        found = demonstration.run(advance)
    console.print("\nNow the reference is revealed (Chebyshev collocation, a discretisation of its own):\n")
    console.print(_table(found))
    _print_case(found)
    console.print(f"\nOne checkpoint for all inputs: {found.selection}")
    console.print(f"\n[bold]{found.advice}[/]")
    for path in demonstration.write(found, out):
        console.print(f"wrote {path}")
    console.print(f"[dim]{found.wall_seconds:.0f} s in all, compilation included.[/]")


def _table(found: Demo) -> Table:
    table = Table(box=box.SIMPLE_HEAD)
    table.add_column("method", no_wrap=True)
    for heading in ("pairs", "", "top-1", "regret", "ms/input"):
        table.add_column(heading, justify="right", no_wrap=True)
    for name, recovery in found.recovery.items():
        share = recovery.pairs_correct / recovery.pairs
        table.add_row(
            name,
            f"{recovery.pairs_correct}/{recovery.pairs}",
            f"{share:.1%}",
            f"{recovery.top1_tolerant}/{recovery.cases}",
            f"{recovery.mean_normalized_regret:.4f}",
            f"{1e3 * found.seconds[name]:.1f}",
            style="bold" if name == "shared response" else None,
        )
    return table


def _print_case(found: Demo) -> None:
    shown = found.pictured
    console.print(f"\nInput {demonstration.PICTURED + 1} of {len(found.losses)}, estimated against true error:")
    for name in shown.order:
        i = shown.names.index(name)
        estimate, true = shown.error_estimates[i], found.losses[demonstration.PICTURED][i] ** 0.5
        console.print(f"  {name:<12} estimated {estimate:.5f}   true {true:.5f}")


@app.command()
def info() -> None:
    """Say what is installed and what JAX computes on."""
    console.print(
        f"physrank {__version__}, jax {jax.__version__} on {jax.default_backend()} ({jax.device_count()} device)"
    )
