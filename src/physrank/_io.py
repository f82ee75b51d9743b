"""The one way results reach a disk: whole or not at all, whatever happens meanwhile and whoever else is writing."""

import contextlib
import glob
import json
import os
import platform
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any


def write_whole(path: str | os.PathLike[str], write: Callable[[Path], Any]) -> Path:
    """`write` fills a draft beside the target; only a complete file takes the name.

    What the system refuses (a full disk, a missing permission) is an `OSError` that names the file and the cause.
    """
    target = Path(path)
    draft = target.with_name(f"{_prefix(target)}{os.getpid()}.{uuid.uuid4().hex}.partial")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        _sweep(target)
        try:
            write(draft)
            with draft.open("rb+") as file:
                os.fsync(file.fileno())
            draft.replace(target)
        finally:
            with contextlib.suppress(OSError):
                draft.unlink(missing_ok=True)
    except OSError as problem:
        cause = problem.strerror or str(problem)
        raise OSError(
            problem.errno, f"{target} could not be written: {cause}. What was there before still is."
        ) from None
    return target


def write_text(path: str | os.PathLike[str], text: str) -> Path:
    return write_whole(path, lambda draft: draft.write_text(text, encoding="utf-8"))


def write_json(path: str | os.PathLike[str], content: dict[str, Any]) -> Path:
    """Strict JSON: a number that is not finite is an error here, not in whoever reads the file."""
    return write_text(path, json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False) + "\n")


def _prefix(path: Path) -> str:
    """Of drafts made on this machine: of processes on others that share the disk we cannot tell whether they live."""
    return f".{path.name[:30]}.{platform.node().replace('.', '-')[:40]}."


def _sweep(path: Path) -> None:
    """What a killed process left of an earlier attempt."""
    for left in path.parent.glob(f"{glob.escape(_prefix(path))}*.partial"):
        owner = left.name.removeprefix(_prefix(path)).split(".")[0]
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
