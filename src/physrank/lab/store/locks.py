"""One writer at a time for a folder: a second one is told who is at work, and nothing of either is lost."""

import importlib.util
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from physrank._optional import load
from physrank.lab.store.files import StoreError

NAME = ".lock"  # stays in the folder: the lock is the kernel's, and goes with its process however that ends


@contextmanager
def alone(directory: Path, what: str) -> Iterator[None]:
    """Hold the folder; raises when another process or thread does. Where the system has no such locks, nothing is held."""
    if importlib.util.find_spec("fcntl") is None:
        yield
        return
    fcntl = load("fcntl")
    directory.mkdir(parents=True, exist_ok=True)
    with (directory / NAME).open("a+") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.seek(0)
            owner = file.read().strip()
            raise StoreError(
                f"{directory} is in use: process {owner or 'unknown'} is {what} there. Let it finish, or use "
                "another --store; nothing was changed."
            ) from None
        file.truncate(0)
        file.write(str(os.getpid()))
        file.flush()
        yield
