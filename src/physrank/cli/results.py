"""Where results go: words on standard output, JSON and pages to files or to standard output."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import typer

from physrank._io import as_json, write_json, write_text
from physrank.cli.door import say


def leave(words: Any, content: Mapping[str, Any], json_to: str | None) -> None:
    """Words where a person reads them, and JSON where it was asked for; `-` leaves standard output to the JSON."""
    if json_to == "-":
        say(str(words))
        typer.echo(as_json(content))
        return
    typer.echo(str(words))
    if json_to is not None:
        say(f"wrote {write_json(json_to, content)}")


def leave_page(page: str, path: Path) -> None:
    say(f"wrote {write_text(path, page)}")


def stated(sources: Mapping[str, str]) -> None:
    """Which numbers the verdict is about, and who said so: a wrong one gives a confident, wrong answer."""
    if sources:
        say("stated: " + "; ".join(f"{number} ({source})" for number, source in sources.items()))
