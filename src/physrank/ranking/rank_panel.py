"""`rank_panel`: the rankings of many inputs, in blocks, made here or by the workers of a cluster when they are asked for."""

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sized
from contextlib import closing
from itertools import chain, islice, zip_longest
from typing import Any

from physrank import compute, scale
from physrank.physics import Problem
from physrank.ranking.block import Failed, Failing, Input, Work, failing_of
from physrank.ranking.candidates import by_input
from physrank.ranking.ranking import Ranking
from physrank.ranking.settings import Settings


def rank_panel(
    problems: Iterable[Problem | Callable[[], Problem]],
    libraries: Iterable[Any] | Mapping[str, Any],
    *,
    chunk: int = 16,
    failing: Failing | None = None,
    client: Any = None,
    progress: Callable[[int, int | None], None] | None = None,
    **rank_options: Any,
) -> "Panel":
    """`rank` for many inputs of one shape: one compilation, `chunk` inputs at a time, results as they come.

    Main arguments: `problems` and `libraries` may be generators: memory is bounded by the chunk, whatever the length of the
    panel. `libraries` are the candidates of each input, or `{model: batch}` with the inputs along the first axis of each
    batch. The problems must be of one kind: same class, same functions, same shapes; what differs is their data. Keywords
    of `rank` say how; with `until`, inputs that are open after their batch are corrected further, one by one.

    On a cluster: `client`, of `dask.distributed`. Rankings come in the order of the inputs and equal the local ones bit for
    bit, whatever the number of workers and what becomes of them. A problem, the candidates of an input, or one of them may
    be a function without arguments, and candidates may be handles to files (`physrank.read`, h5py, zarr, xarray): they are
    called and read where they are needed.

    `failing`: what becomes of an input that cannot be ranked (an exception, NaN in a candidate): "raise", or "report": a
    `Failed` with its number and the reason stands in its place. Default: "report" with a client, else "raise".
    `progress(done, total)` is called after every input; the total is None where the length of the panel cannot be seen.

    ```python
    for ranking in pr.rank_panel(problems, {"fno": fno_batch, "cno": cno_batch}):
        print(ranking.best)
    ```
    """
    if chunk < 1:
        raise ValueError(f"chunk must be at least 1; got {chunk}.")
    if isinstance(problems, Problem):
        raise ValueError("rank_panel needs one problem per input; got a single problem. For one input, use rank.")
    failing_of(failing, client)
    total = len(problems) if isinstance(problems, Sized) else None
    cases, how = _paired(problems, by_input(libraries)), Settings.of(**rank_options)
    return Panel(cases, how, chunk, failing, client, progress, total)


class Panel(Iterator[Any]):
    """Rankings, one after the other: an iterator, which does nothing before it is asked."""

    def __init__(
        self,
        cases: Iterator[Input],
        how: Settings,
        chunk: int,
        failing: Failing | None,
        client: Any,
        progress: Callable[[int, int | None], None] | None,
        total: int | None,
    ):
        self._cases, self._how, self._chunk, self._client = cases, how, chunk, client
        self._failing: Failing | None = failing
        self._progress = progress
        self.total = total  # how many inputs, where that is known
        self._rankings: Iterator[Any] | None = None

    def __next__(self) -> Any:
        if self._rankings is None:
            self._rankings = self.records()
        return next(self._rankings)

    def close(self) -> None:
        """Nobody asks any more: what workers have begun is cancelled."""
        if isinstance(self._rankings, Generator):
            self._rankings.close()

    def records(self, record: Callable[[Ranking], Any] | None = None, client: Any = None) -> Iterator[Any]:
        """`record(ranking)` of every input, made where the ranking is: what is small travels well. `Failed` stays itself.

        On a cluster `record` is a function that workers can import, or any other that cloudpickle can carry.
        """
        if self._rankings is not None:
            raise ValueError("This panel is being read already: its inputs can be had only once.")
        client = self._client if client is None else client
        self._rankings = found = self._told(self._found(record, client))
        return found

    def _told(self, records: Generator[Any, None, None]) -> Generator[Any, None, None]:
        with closing(records):
            for done, record in enumerate(records, start=1):
                yield record
                if self._progress is not None:
                    self._progress(done, self.total)

    def _found(self, record: Callable[[Ranking], Any] | None, client: Any) -> Generator[Any, None, None]:
        blocks = iter(lambda: list(islice(self._cases, self._chunk)), [])
        if not (first := next(blocks, [])):
            return
        failing = failing_of(self._failing, client)
        # a short panel is its own shape; a short last block is filled up to the first
        work = Work(self._how, len(first), failing, record, compute.quickly())
        every = chain([first], blocks)
        if client is None:
            for rows in map(work, every):
                yield from rows
            return
        count = None if self.total is None else -(-self.total // self._chunk)
        place = 0
        with closing(scale.ordered(client, work, every, count)) as results:
            for rows in results:
                for found in rows:
                    yield _placed(found, place, failing)
                    place += 1


def _placed(found: Any, place: int, failing: Failing) -> Any:
    """What killed every worker is a failed input."""
    if not isinstance(found, scale.Lost):
        return found
    if failing == "raise":
        raise RuntimeError(f"Input {place} of the panel: {found.why}")
    return Failed(place, found.why)


def _paired(problems: Iterable[Any], libraries: Iterable[Any]) -> Iterator[Input]:
    missing = object()
    for k, (problem, candidates) in enumerate(zip_longest(problems, libraries, fillvalue=missing)):
        if problem is missing or candidates is missing:
            which = "problems" if problem is missing else "libraries"
            raise ValueError(f"The panel has only {k} {which}; expected as many problems as libraries of candidates.")
        yield k, problem, candidates
