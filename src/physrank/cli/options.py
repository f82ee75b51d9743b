"""Options that several commands share, gathered in nouns: what the problem is, and how it is judged."""

import inspect
from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, get_type_hints

import typer

Files = Annotated[
    list[str],
    typer.Argument(
        help="Candidates: files named by their stem, NAME=FILE, patterns such as 'run*/pred.h5', or one file with several.",
        show_default=False,
    ),
]
Sample = Annotated[int, typer.Option(min=0, help="Which input of files that hold several.")]
Report = Annotated[Path | None, typer.Option(help="Write the verdict as one HTML page.")]
Json = Annotated[
    str | None, typer.Option("--json", metavar="FILE", help="Write the result as JSON; - for standard output.")
]
Pairs = list[str] | None


@dataclass(frozen=True)
class Statement:
    """Which problem the files are about."""

    equation: Annotated[
        str | None, typer.Option(help="A built-in equation, such as burgers; `physrank init` lists them.")
    ] = None
    problem: Annotated[Path | None, typer.Option(help="A problem file (`physrank init` writes one).")] = None
    python: Annotated[
        str | None,
        typer.Option(metavar="FILE.py:FUNCTION", help="An equation of your own; this file is run, so trust it."),
    ] = None
    numbers: Annotated[
        Pairs, typer.Option("--set", metavar="NAME=VALUE", help="A number of the equation: --set viscosity=0.01.")
    ] = None
    data: Annotated[
        Pairs, typer.Option(metavar="NAME=FILE", help="A field of the equation: --data forcing=force.npy.")
    ] = None
    initial: Annotated[
        Path | None, typer.Option(help="Where the initial state is; default: the first frame, if all share it.")
    ] = None
    layout: Annotated[str | None, typer.Option(help="Layout of the files: auto, pdebench, the-well, …")] = None
    dims: Annotated[str | None, typer.Option(help="Names of axes that files do not name: sample,time,x,y,channel.")] = (
        None
    )
    fields: Annotated[str | None, typer.Option(help="Which fields of a file make the state: u,v.")] = None
    from_frame: Annotated[
        int | None, typer.Option(min=0, help="The frame at which prediction begins; earlier ones are dropped.")
    ] = None
    times: Annotated[
        str | None,
        typer.Option(metavar="FIRST:LAST", help="Times of the first and last frame, where files do not say."),
    ] = None


@dataclass(frozen=True)
class Judgement:
    """What is asked of a ranking."""

    task: Annotated[
        str | None,
        typer.Option(help="What is compared: terminal, trajectory, field, or frame:K; default: the problem's."),
    ] = None
    decide: Annotated[Literal["order", "best"] | None, typer.Option(help="What must be settled.")] = None
    tolerance: Annotated[
        float | None, typer.Option(min=0, help="Excess of squared loss that would not matter.", show_default="0")
    ] = None
    effort: Annotated[
        Literal["auto", "response", "solve"] | None, typer.Option(help="How much physics may be spent.")
    ] = None
    invalid: Annotated[
        Literal["raise", "exclude"] | None,
        typer.Option(help="Candidates with NaN: refuse them all, or rank the others.", show_default="raise"),
    ] = None
    uncertainty: Annotated[
        Pairs, typer.Option(metavar="NAME=SHARE", help="How well data are known: --uncertainty diffusion=0.02 for 2 %.")
    ] = None


def grouped(command: Callable[..., None]) -> Callable[..., None]:
    """A command whose parameters that are dataclasses become their fields, one option each."""
    hints = get_type_hints(command, include_extras=True)
    nouns: dict[str, Any] = {name: kind for name, kind in hints.items() if is_dataclass(kind)}
    members = {name: [field.name for field in fields(kind)] for name, kind in nouns.items()}

    def flat(**given: Any) -> None:
        built = {name: kind(**{member: given.pop(member) for member in members[name]}) for name, kind in nouns.items()}
        command(**given, **built)

    parameters = []
    for name, parameter in inspect.signature(command).parameters.items():
        if name in nouns:
            typed = get_type_hints(nouns[name], include_extras=True)
            parameters += [
                inspect.Parameter(
                    field.name, inspect.Parameter.KEYWORD_ONLY, default=field.default, annotation=typed[field.name]
                )
                for field in fields(nouns[name])
            ]
        else:
            parameters.append(parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY, annotation=hints[name]))
    flat.__name__, flat.__doc__ = command.__name__, command.__doc__
    flat.__signature__ = inspect.Signature(parameters)  # pyright: ignore[reportFunctionMemberAccess]
    flat.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return flat
