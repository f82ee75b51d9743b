"""What a worker does with a task: it makes sure that it is like the client, and says what became of every block."""

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any

import jax

from physrank import _optional
from physrank.scale import pickling

ALIKE = ("physrank", "jax", "jaxlib", "numpy", "scipy")  # whose versions decide about bits


class Unreadable(RuntimeError):
    """A block that arrived, and cannot be unpickled here."""


@dataclass(frozen=True)
class Home:
    """What decides about bits where the client is: versions, and the precision in which JAX was asked to compute."""

    versions: tuple[tuple[str, str], ...]
    x64: bool
    products: Any  # precision of products, as JAX calls it

    @classmethod
    def here(cls) -> "Home":
        settings: Any = jax.config  # which has its attributes from a table
        return cls(versions(), bool(settings.jax_enable_x64), settings.jax_default_matmul_precision)

    def differs(self) -> str | None:
        """In what this process is another one."""
        there = dict(versions())
        return next((f"{name} {there[name]}, the client {n}" for name, n in self.versions if there[name] != n), None)


@cache
def versions() -> tuple[tuple[str, str], ...]:
    """Of Python, because functions travel as its code, and of what computes."""
    python = f"{sys.version_info.major}.{sys.version_info.minor}"
    return (("Python", python), *((name, _optional.load(name).__version__) for name in ALIKE))


@dataclass(frozen=True)
class Raised:
    """An exception on its way home. Classes that cannot be unpickled are told in words."""

    words: str
    sent: bytes | None

    @classmethod
    def of(cls, error: Exception) -> "Raised":
        words = f"{type(error).__name__}: {error}"
        error.__cause__ = error.__context__ = None  # which may be of such a class
        with suppress(Exception):
            sent = pickling.dumps(error)
            pickling.loads(sent)
            return cls(words, sent)
        return cls(words, None)

    @property
    def error(self) -> Exception:
        with suppress(Exception):
            if self.sent is not None:
                return pickling.loads(self.sent)
        return RuntimeError(self.words)


def work(function: bytes, blocks: list[bytes], home: Home) -> tuple[list[bytes], list[float]] | Raised:
    """Every block's results, and how long they took."""
    if (other := home.differs()) is not None:
        return Raised.of(
            RuntimeError(
                f"A worker has {other}: its results would not be those of one machine. Install the same versions of "
                f"Python, {', '.join(ALIKE)} on both sides."
            )
        )
    found, seconds = [], []
    with _synchronous(), jax.enable_x64(home.x64), jax.default_matmul_precision(home.products):
        for block in blocks:
            started = time.perf_counter()
            done, cases = _unpickled(function, block)
            try:
                found.append(pickling.dumps(done(cases)))
            except Exception as error:
                return Raised.of(error)
            seconds.append(time.perf_counter() - started)
    return found, seconds


def _unpickled(function: bytes, block: bytes) -> tuple[Any, list[Any]]:
    try:
        return _loaded(function), pickling.loads(block)
    except Exception as error:
        hint = " Modules of your own must be importable on the workers." if isinstance(error, ImportError) else ""
        raise Unreadable(f"a worker could not unpickle it: {type(error).__name__}: {error}{hint}") from None


@lru_cache(maxsize=2)  # with the models of a race it may be large
def _loaded(function: bytes) -> Any:
    return pickling.loads(function)


_computing, _lock, _before = 0, threading.Lock(), {}


@contextmanager
def _synchronous() -> Iterator[None]:
    """Arrays of Dask inside a task are computed by the thread that is here: waiting for others would wait for itself.

    The setting is the process's, whose threads come and go in any order: the last one to leave takes it back.
    """
    global _computing
    config = _optional.load("dask").config
    with _lock:
        _computing += 1
        if _computing == 1:
            _before["scheduler"] = config.get("scheduler", None)
            config.set(scheduler="synchronous")
    try:
        yield
    finally:
        with _lock:
            _computing -= 1
            if not _computing:
                config.set(scheduler=_before["scheduler"])
