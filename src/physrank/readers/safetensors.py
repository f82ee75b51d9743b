"""safetensors: a header of names, types and places, then plain numbers."""

import json
import struct
from pathlib import Path
from typing import Any

import numpy as np

from physrank.readers.contents import Contents
from physrank.readers.field import Fetch, Key, Variable
from physrank.readers.limits import Limit, ReadError, damage

LONGEST = 1 << 24  # bytes of header
TYPES = {
    "F64": "<f8", "F32": "<f4", "F16": "<f2", "BF16": "<u2", "I64": "<i8", "I32": "<i4", "I16": "<i2", "I8": "i1",
    "U64": "<u8", "U32": "<u4", "U16": "<u2", "U8": "u1", "BOOL": "?",
}  # fmt: skip


def read(path: Path, limit: Limit) -> Contents:
    found = Contents("safetensors", {})
    with damage(path, "safetensors"), path.open("rb") as file:
        (length,) = struct.unpack("<Q", file.read(8))
        room = path.stat().st_size - 8 - length
        if length > LONGEST or room < 0:
            raise ReadError(f"{path} claims a header of {length:,} bytes: it is truncated or no safetensors file.")
        header = json.loads(file.read(length), object_pairs_hook=_once)
        for name, entry in header.items():
            if name != "__metadata__":
                _add(found, path, name, entry, 8 + length, room)
    return found


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len({name for name, _ in pairs}) < len(pairs):
        raise ReadError("its header has a name twice.")
    return dict(pairs)


def _add(found: Contents, path: Path, name: str, entry: Any, start: int, room: int) -> None:
    kind, shape, (begin, end) = entry["dtype"], tuple(entry["shape"]), entry["data_offsets"]
    if kind not in TYPES:
        found.skipped[name] = f"its values are of type {kind}, expected numbers"
        return
    dtype = np.dtype(TYPES[kind])
    whole = all(isinstance(n, int) and not isinstance(n, bool) and n >= 0 for n in (*shape, begin, end))
    if not whole or end > room or end - begin != int(np.prod(shape, dtype=object)) * dtype.itemsize:
        raise ReadError(f"{path}: {name!r} claims bytes {begin}–{end} for shape {shape} of {kind}, which cannot be.")
    fetch = _mapped(path, shape, dtype, start + begin, kind == "BF16")
    shown = np.dtype(np.float32) if kind == "BF16" else dtype
    found.add(Variable(name, shape, shown, fetch))


def _mapped(path: Path, shape: tuple[int, ...], dtype: np.dtype, start: int, half: bool) -> Fetch:
    def fetch(key: Key) -> np.ndarray:
        with damage(path, "safetensors"):
            values = np.array(np.memmap(path, dtype, "r", start, shape)[key])
        # bfloat16 is the upper half of a float32
        return (values.astype(np.uint32) << 16).view(np.float32) if half else values

    return fetch
