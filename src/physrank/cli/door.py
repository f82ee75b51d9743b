"""The door: one program, one way for errors to become a sentence and an exit code."""

import importlib
import warnings
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

import physrank as pr
from physrank.cli import interrupts

SETTLED, FAILED, BAD_INPUT, OPEN, INTERRUPTED = 0, 1, 2, 3, interrupts.CODE
CODES = (
    "Exit codes: 0 settled; 3 open or unresolved; 2 bad input; 1 something failed that is not the input's fault, such as a "
    "full disk; 130 interrupted."
)


class Door(TyperGroup):
    """Runs a command; what goes wrong is one sentence on standard error, not a traceback."""

    def invoke(self, ctx: Any) -> Any:
        with warnings.catch_warnings():
            warnings.showwarning = lambda message, *_, **__: say(f"note: {message}")
            try:
                return super().invoke(ctx)
            except KeyboardInterrupt:
                interrupts.speak()
                raise typer.Exit(INTERRUPTED) from None
            except BrokenPipeError:  # whoever listened has gone
                raise
            except OSError as problem:
                raise refused(
                    f"{problem.filename}: {problem.strerror}." if problem.filename else problem, FAILED
                ) from None
            except MemoryError as problem:
                raise refused(f"Not enough memory: {problem}", FAILED) from None
            except ModuleNotFoundError as problem:
                raise refused(problem, FAILED) from None
            except ValueError as problem:
                raise refused(problem, BAD_INPUT) from None


def refused(why: Any, code: int) -> typer.Exit:
    say(f"physrank: {why}")
    return typer.Exit(code)


def say(sentence: str) -> None:
    """To standard error: results alone go to standard output."""
    typer.echo(sentence, err=True)


def lazily(module: str) -> Any:
    """A module of this room that is slow to load, when a command needs it."""
    return importlib.import_module(f"physrank.cli.{module}")


app = typer.Typer(
    cls=Door,
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    help=f"Which prediction to trust, from the governing equation alone.\n\n{CODES}",
)


def _show_version(asked: bool) -> None:
    if asked:
        typer.echo(f"physrank {pr.__version__}")
        raise typer.Exit()


@app.callback()
def main(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    del version
