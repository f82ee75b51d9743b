"""A cluster at the command line: `--scheduler ADDRESS` of dask.distributed."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Any

import typer

from physrank import _optional

Scheduler = Annotated[
    str | None,
    typer.Option(
        metavar="ADDRESS",
        help="A Dask scheduler, such as tcp://host:8786: its workers do the ranking (physrank[dask]).",
    ),
]
PATIENCE = 10  # seconds for a scheduler to answer


@contextmanager
def connected(address: str | None) -> Iterator[Any]:
    """A client of the scheduler; None without one."""
    if address is None:
        yield None
        return
    try:
        # not as Dask's default, which one that never answered would remain: whoever writes netCDF would wait for its locks
        client = _optional.load("distributed").Client(address, timeout=PATIENCE, set_as_default=False)
    except (OSError, ValueError) as problem:
        raise ValueError(
            f"--scheduler {address}: no Dask scheduler answers there ({problem}). Start one with `dask scheduler` and "
            "workers with `dask worker ADDRESS --nworkers 8 --nthreads 1`."
        ) from None
    with client:
        yield client
