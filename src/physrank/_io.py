"""The one way results reach a disk: whole or not at all, whatever happens meanwhile and whoever else is writing."""

import contextlib
import errno
import glob
import json
import os
import platform
import shutil
import stat
import tempfile
import uuid
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

HOST = platform.node().split(".")[0] or "here"
FULL = 1 << 16  # bytes left on a disk that is as good as full


def write_whole(path: str | os.PathLike[str], write: Callable[[Path], Any]) -> Path:
    """`write` fills a draft beside the target; only a complete file takes the name.

    Every writer has a draft of its own, so that two processes or eight threads with one target leave one whole file, the
    last one's. What fails, a full disk for one, leaves the earlier file as it was, and the error names file and cause.
    """
    named, streams = Path(path), _streams(path)
    target = Path(os.path.realpath(named))  # through links: what they point to is written, and they stay
    place = Path(tempfile.gettempdir(), named.name) if streams else target
    draft = place.with_name(f"{_start(place)}{os.getpid()}.{uuid.uuid4().hex}.partial")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        _sweep(place)
        write(draft)
        with draft.open("rb+") as file:
            os.fsync(file.fileno())
        if streams:
            named.write_bytes(draft.read_bytes())
        else:
            draft.replace(target)
    except Exception as problem:
        if (code := _cause(problem, place)) is None:
            raise
        said = f"{os.strerror(code)}; could not write, and what was there is unchanged"
        raise OSError(code, said, str(named)) from problem
    finally:
        with contextlib.suppress(OSError):  # renamed or never begun; nothing here may hide the first error
            draft.unlink()
    return named


def _streams(path: str | os.PathLike[str]) -> bool:
    """A device, a pipe, standard output by its name: there is nothing to put another file in place of."""
    try:
        kind = os.stat(path).st_mode
    except OSError:
        return False
    return not (stat.S_ISREG(kind) or stat.S_ISDIR(kind)) or os.path.abspath(path).startswith(("/dev/", "/proc/"))


def _start(path: Path) -> str:
    """How the names of its drafts begin. Names have at most 255 bytes, and those of drafts are longer than the target's."""
    return f".{path.name.encode()[:100].decode(errors='ignore')}.{HOST}."


def _cause(problem: Exception, target: Path) -> int | None:
    """The system's reason; some libraries report a full disk as an error of their own."""
    if isinstance(problem, OSError) and problem.errno:
        return problem.errno
    folder = target.parent
    return errno.ENOSPC if folder.exists() and shutil.disk_usage(folder).free < FULL else None


def write_text(path: str | os.PathLike[str], text: str) -> Path:
    return write_whole(path, lambda draft: draft.write_text(text, encoding="utf-8"))


def write_bytes(path: str | os.PathLike[str], content: bytes | memoryview) -> Path:
    return write_whole(path, lambda draft: draft.write_bytes(content))


def as_json(content: Mapping[str, Any]) -> str:
    """Strict JSON: a number that is not finite is an error here, not in whoever reads it."""
    return json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False)


def write_json(path: str | os.PathLike[str], content: Mapping[str, Any]) -> Path:
    return write_text(path, as_json(content) + "\n")


def _sweep(path: Path) -> None:
    """What a killed process of this machine left of an earlier attempt; other machines look after theirs."""
    start = _start(path)
    for left in path.parent.glob(f"{glob.escape(start)}*.partial"):
        owner = left.name.removeprefix(start).split(".")[0]
        if owner.isdigit() and not _alive(int(owner)):
            left.unlink(missing_ok=True)


def _alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True
