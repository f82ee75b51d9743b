"""`physrank report`: a page from a stored ranking."""

from pathlib import Path
from typing import Annotated

import typer

import physrank as pr
from physrank.cli import results
from physrank.cli.door import app
from physrank.cli.progress import working


@app.command()
def report(
    result: Annotated[Path, typer.Argument(help="A ranking as `physrank rank --json` or `ranking.to_json` stored it.")],
    out: Annotated[Path | None, typer.Option(help="The page; default: beside the result, ending in .html.")] = None,
) -> None:
    """Make an HTML page of a stored ranking: decision, estimated errors, doubts, certificate. Fields are not stored.

    \b
    Example:
      physrank report verdict.json --out page.html
    """
    with working("drawing"):
        page = pr.report.page_of(result)
    results.leave_page(page, out or result.with_suffix(".html"))
