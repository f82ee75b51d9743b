"""Progress on standard error: bars and a spinner for a terminal, a line now and then for a log."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from rich.console import Console

from physrank import _compiling, _optional

Advance = Callable[[str, int, int], None]  # what, how many done, of how many

errors = Console(stderr=True)


@contextmanager
def working(on: str) -> Iterator[None]:
    """A spinner beside what is being done, where a terminal listens."""
    if not errors.is_terminal:
        yield
        return
    with errors.status(f"{on} …") as status:

        def tell(compiling: bool) -> None:
            status.update(f"{on}: compiling, once for problems of this kind …" if compiling else f"{on} …")

        with _compiling.heard(tell):
            yield


@contextmanager
def bars(width: int = 26) -> Iterator[Advance]:
    """`advance(what, done, total)`: one bar for each name, or lines now and then where no terminal listens."""
    if not errors.is_terminal:
        yield lines(60.0)
        return
    rich = _optional.load("rich.progress")
    columns = (
        rich.TextColumn(f"{{task.description:<{width}}}"),
        rich.BarColumn(),
        rich.TextColumn("{task.completed}/{task.total}"),
        rich.TimeRemainingColumn(),
    )
    with rich.Progress(*columns, console=errors) as progress:
        shown: dict[str, Any] = {}

        def advance(what: str, done: int, total: int) -> None:
            if what not in shown:
                shown[what] = progress.add_task(what, total=total)
            progress.update(shown[what], completed=done, visible=done < total or total <= 1 or len(shown) < 20)

        yield advance


def lines(every: float) -> Advance:
    """For logs: a line when something ends, and one every so many seconds before, with the time left."""
    begun: dict[str, tuple[float, int]] = {}
    said: dict[str, float] = {}

    def advance(what: str, done: int, total: int) -> None:
        now = time.perf_counter()
        started, first = begun.setdefault(what, (now, done))
        if said.get(what) == float("inf") or (done < total and now - said.setdefault(what, now) < every):
            return
        said[what] = float("inf") if done == total else now
        if now - started < every / 10:
            return  # what takes no time needs no line
        left = (now - started) * (total - done) / max(done - first, 1) / 60
        ending = f", about {left:.1f} minutes left" if done < total else ""
        errors.print(f"{what}: {done}/{total} after {(now - started) / 60:.1f} minutes{ending}", highlight=False)

    return advance
