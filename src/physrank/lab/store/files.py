"""Reading what the laboratory stored: damage, other settings and other data are named errors."""

import hashlib
import json
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from physrank._io import write_whole


class StoreError(RuntimeError):
    """A stored file is missing, damaged, or made with other settings; nothing was overwritten."""


def read_json(path: Path) -> dict[str, Any]:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, json.JSONDecodeError) as problem:
        raise StoreError(f"{path} is not a readable JSON file ({problem}). Delete it and make it again.") from None
    if not isinstance(content, dict):
        raise StoreError(f"{path} holds a {type(content).__name__}; expected an object with named fields.")
    return content


def sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def digest(content: Any) -> str:
    """A short hash of anything JSON can hold, independent of the order of keys."""
    return hashlib.sha256(json.dumps(content, sort_keys=True, allow_nan=False).encode()).hexdigest()[:16]


def check_settings(path: Path, stored: dict[str, Any], asked: dict[str, Any]) -> None:
    """Stored settings must be the ones asked for; the error names those that differ."""
    if not isinstance(stored, dict):
        raise StoreError(f"{path} holds settings of type {type(stored).__name__}; expected named fields. Delete it.")
    different = [key for key in asked if stored.get(key) != asked[key]]
    if different:
        shown = ", ".join(f"{key} = {stored.get(key)!r} (asked {asked[key]!r})" for key in different[:4])
        raise StoreError(f"{path} was made with other settings: {shown}. Use another --store, or delete it.")


def write_arrays(path: Path, arrays: dict[str, np.ndarray], *, compressed: bool = False) -> Path:
    """A NumPy archive, whole or not at all."""

    def write(temporary: Path) -> None:
        with temporary.open("wb") as file:  # given a name, NumPy would add a suffix
            (np.savez_compressed if compressed else np.savez)(file, allow_pickle=False, **arrays)

    return write_whole(path, write)


def read_arrays(path: Path) -> dict[str, np.ndarray]:
    """Every array of an archive; nothing in it can execute."""
    try:
        with np.load(path, allow_pickle=False) as file:
            return {name: file[name] for name in file.files}
    except (OSError, EOFError, ValueError, TypeError, AttributeError, zipfile.BadZipFile) as problem:
        raise StoreError(f"{path} is not a readable archive ({problem}). Delete it to make it again.") from None
