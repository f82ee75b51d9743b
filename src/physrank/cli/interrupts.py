"""Ctrl-C: a sentence and exit code 130, wherever the program is.

Python's own way is not enough: a KeyboardInterrupt in one of JAX's callbacks is printed and forgotten, and one that comes
while XLA compiles waits until it has.
"""

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NoReturn

CODE = 130
SENTENCE = "physrank: Interrupted. Files that were being written are as they were before."
GRACE = 2.0  # seconds for drafts to be removed and workers to be ended


_said = threading.Event()


def speak() -> None:
    """The sentence, once."""
    if not _said.is_set():
        _said.set()
        print(SENTENCE, file=sys.stderr, flush=True)


@contextmanager
def heard() -> Iterator[None]:
    """For a whole process: what was asked to stop ends within `GRACE`. Once all is done, Ctrl-C comes too late to matter."""
    asked = threading.Event()

    def interrupt(*_: Any) -> None:
        if asked.is_set():
            _leave()
        asked.set()
        patience = threading.Timer(GRACE, _leave)
        patience.daemon = True
        patience.start()
        raise KeyboardInterrupt

    def forgotten(problem: Any) -> None:
        if not issubclass(problem.exc_type, KeyboardInterrupt):
            sys.__unraisablehook__(problem)

    signal.signal(signal.SIGINT, interrupt)
    sys.unraisablehook = forgotten
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        if asked.is_set():
            _leave()


def _leave() -> NoReturn:
    """At once: XLA may be compiling in threads of its own, and Python's orderly end would pull the ground from under them."""
    speak()
    os._exit(CODE)
