"""Who is told when a program is compiled, which takes seconds the first time. Loads nothing: the command line imports it."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

Listener = Callable[[bool], None]  # True: a program is being compiled; False: one is there, and runs

_listener: ContextVar[Listener | None] = ContextVar("listener", default=None)


@contextmanager
def heard(listener: Listener) -> Iterator[None]:
    """Context in which somebody is told."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


def tell(compiling: bool) -> None:
    if (listener := _listener.get()) is not None:
        listener(compiling)
