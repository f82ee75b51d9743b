"""What a file may ask of this machine: sizes are compared with memory before anything is read."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

INFLATION = 1040  # deflate makes at most 1,032 bytes of one; whatever claims more lies
SMALL = 1 << 16  # bytes that any claim may cost: headers and block sizes


class ReadError(ValueError):
    """A file that cannot or must not be read; the message says why and what to do."""


@dataclass(frozen=True)
class Limit:
    """How many bytes one read may take, by default half of what is free now."""

    path: Path
    max_bytes: int | None = None

    @property
    def bytes(self) -> int:
        return free_memory() // 2 if self.max_bytes is None else self.max_bytes

    def check(self, what: str, wanted: int) -> None:
        if wanted > self.bytes:
            raise ReadError(
                f"{what} of {self.path} takes {human(wanted)} in memory; allowed are {human(self.bytes)}. "
                f"Read a part of it (one sample, field[...]), or allow more: physrank.read(path, max_bytes={wanted})."
            )


def free_memory() -> int:
    """Bytes that can be had without pushing others out; where the system does not say, all that are built in."""
    try:
        for row in Path("/proc/meminfo").read_text(encoding="ascii").splitlines():
            if row.startswith("MemAvailable:"):
                return int(row.split()[1]) * 1024
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, AttributeError):
        return 8 << 30


def human(size: int) -> str:
    for unit in ("bytes", "kB", "MB", "GB"):
        if size < 1000:
            return f"{size:.4g} {unit}"
        size /= 1000  # pyright: ignore[reportAssignmentType]
    return f"{size:.4g} TB"


@contextmanager
def damage(path: Path, kind: str) -> Iterator[None]:
    """Whatever a library says about a broken file becomes one sentence; the system's own refusals stay theirs."""
    try:
        yield
    except (ReadError, FileNotFoundError, PermissionError, ModuleNotFoundError):
        raise
    except (Exception, RecursionError, MemoryError) as problem:  # libraries raise anything at damaged bytes
        said = " ".join(str(problem).split())[:200] or type(problem).__name__
        raise ReadError(
            f"{path} is not a readable {kind} file: {said}. It may be truncated; get or write it anew."
        ) from None
