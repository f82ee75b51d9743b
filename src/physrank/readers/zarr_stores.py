"""zarr stores in a folder, versions 2 and 3: metadata are checked before the library sees them."""

import itertools
import json
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from physrank import _optional
from physrank._axes import role
from physrank.readers.contents import Contents, base, numbers_of
from physrank.readers.field import Fetch, Key, Variable
from physrank.readers.hdf5 import inflated_beyond
from physrank.readers.limits import INFLATION, SMALL, Limit, ReadError, damage

MARKS = ("zarr.json", ".zgroup", ".zarray")
LONGEST, MOST, DEEPEST = 1 << 20, 100_000, 6  # bytes of metadata; chunks of one read; levels
CODECS = {"bytes", "gzip", "zstd", "crc32c", "transpose", "blosc", "zlib", "shuffle"}  # none of them runs code


def is_store(path: Path) -> bool:
    return path.is_dir() and any((path / mark).exists() for mark in MARKS)


def read(path: Path, limit: Limit) -> Contents:
    found = Contents("zarr", {})
    with damage(path, "zarr"):
        for name, folder, meta in _arrays(path, path, ""):
            info = _attributes(path, folder, meta)
            _check_array(path, name, meta, limit)
            array = _opened(folder, meta)
            dims = meta.get("dimension_names") or info.get("_ARRAY_DIMENSIONS")
            variable = Variable(
                name or path.stem,
                tuple(array.shape),
                np.dtype(array.dtype),
                _reader(path, folder, name, limit),
                tuple(map(str, dims)) if dims and len(dims) == len(array.shape) and all(dims) else None,
            )
            found.add(variable)
        found.numbers |= numbers_of(_attributes(path, path, _metadata(path, path)))
    return found


def _check_inside(root: Path, place: Path) -> None:
    if not place.resolve().is_relative_to(root.resolve()):
        raise ReadError(
            f"{root}: {place.name!r} points out of the store, and links are not followed. Copy the data in."
        )


def _metadata(root: Path, folder: Path) -> dict[str, Any]:
    for mark in MARKS:
        if (file := folder / mark).is_file():
            _check_inside(root, file)
            if file.stat().st_size > LONGEST:
                raise ReadError(f"{file} is larger than {LONGEST:,} bytes: no metadata of fields.")
            meta = json.loads(file.read_text(encoding="utf-8"))
            if not isinstance(meta, dict):
                raise ReadError(f"{file} holds a {type(meta).__name__}; expected an object.")
            return meta
    return {}


def _attributes(root: Path, folder: Path, meta: dict[str, Any]) -> dict[str, Any]:
    if "attributes" in meta:
        return dict(meta["attributes"])
    file = folder / ".zattrs"
    if not file.is_file() or file.stat().st_size > LONGEST:
        return {}
    _check_inside(root, file)
    return dict(json.loads(file.read_text(encoding="utf-8")))


def _arrays(path: Path, folder: Path, name: str, depth: int = 0) -> Iterator[tuple[str, Path, dict[str, Any]]]:
    if depth > DEEPEST:
        raise ReadError(f"{path} has more than {DEEPEST} levels: not a store of fields.")
    meta = _metadata(path, folder)
    if "shape" in meta:
        yield name, folder, meta
    elif meta:
        for inner in sorted(folder.iterdir()):
            if inner.is_dir():
                yield from _arrays(path, inner, f"{name}/{inner.name}" if name else inner.name, depth + 1)


def _check_array(path: Path, name: str, meta: dict[str, Any], limit: Limit) -> None:
    """Codecs that only unpack numbers, and chunks that fit."""
    codecs = {str(codec.get("name")) for codec in meta.get("codecs") or ()}
    codecs |= {str(codec.get("id")) for codec in [meta.get("compressor"), *(meta.get("filters") or ())] if codec}
    strings = str(meta.get("data_type", meta.get("dtype")))
    allowed = CODECS | ({"vlen-utf8"} if role(base(name)) == "candidate" else set())
    if not codecs <= allowed:
        raise ReadError(
            f"{path}: {name!r} is packed with {', '.join(sorted(codecs - allowed))}; read are {', '.join(sorted(CODECS))}. "
            "Write it with one of these (sharded stores: without shards)."
        )
    if "|O" in strings and "vlen-utf8" not in codecs:
        raise ReadError(f"{path}: {name!r} holds Python objects; expected numbers.")
    chunks = meta.get("chunks") or meta["chunk_grid"]["configuration"]["chunk_shape"]
    limit.check(f"A chunk of {name!r}", int(np.prod([int(n) for n in chunks], dtype=object)) * 8)


def _opened(folder: Path, meta: dict[str, Any]) -> Any:
    zarr = _optional.load("zarr")
    store = zarr.storage.LocalStore(folder, read_only=True)
    return zarr.open_array(store=store, mode="r", zarr_format=meta["zarr_format"])  # as it was checked


def _reader(path: Path, folder: Path, name: str, limit: Limit) -> Fetch:
    def fetch(key: Key) -> np.ndarray:
        with damage(path, "zarr"):
            meta = _metadata(path, folder)
            _check_array(path, name, meta, limit)
            array = _opened(folder, meta)
            _check_chunks(path, folder, array, key, limit, _outermost(meta) == "blosc")
            return np.asarray(array[key])

    return fetch


def _outermost(meta: dict[str, Any]) -> str:
    """The codec whose bytes a chunk's file begins with."""
    if "codecs" in meta:
        return str(meta["codecs"][-1].get("name"))
    return str((meta.get("compressor") or {}).get("id"))


def _check_chunks(path: Path, folder: Path, array: Any, key: Key, limit: Limit, blosc: bool) -> None:
    """No chunk that is asked for lies elsewhere, unpacks to far more than a chunk is worth, or ends before it should."""
    expected = int(np.prod(array.chunks, dtype=object)) * max(array.dtype.itemsize, 1) + SMALL
    spans = []
    for part, length in zip(key, array.chunks, strict=True):
        first, last = (part, part) if isinstance(part, int) else (part.start, max(part.start, part.stop - 1))
        spans.append(range(first // length, last // length + 1))
    count = int(np.prod([len(span) for span in spans], dtype=object))
    if count > MOST:
        raise ReadError(
            f"{path}: this takes {count:,} chunks of {folder.name!r}; store it in larger ones, or read a part."
        )
    for place in itertools.product(*spans):
        file = folder / array.metadata.encode_chunk_key(place)
        if not file.is_file():
            continue
        _check_inside(path, file)
        with file.open("rb") as stored:
            head, size = stored.read(18), file.stat().st_size
            if claimed(head) > max(expected, 2 * size):
                raise ReadError(f"{path}: a chunk of {folder.name!r} claims more than it holds; it is damaged.")
            said = max(16, int.from_bytes(head[12:16], "little"))
            if blosc and size < said:  # its decoder would read on, beyond the end
                raise ReadError(f"{path}: a chunk of {folder.name!r} is truncated; get or write it anew.")
            packed = head[:2] in (b"\x1f\x8b", b"\x78\x9c", b"\x78\x01", b"\x78\xda", b"\x78\x5e")
            if packed and size * INFLATION > limit.bytes:
                either = zlib.decompressobj(47)  # gzip or zlib, by their own headers
                if inflated_beyond(head + stored.read(), expected, either):
                    raise ReadError(f"{path}: a chunk of {folder.name!r} unpacks to more than it says.")


def claimed(head: bytes) -> int:
    """How many bytes a zstd or blosc header says it unpacks to; 0 where it says nothing."""
    if head[:4] == b"\x28\xb5\x2f\xfd" and len(head) >= 5:
        flag = head[4]
        width, single = (0, 2, 4, 8)[flag >> 6], bool(flag & 32)
        width = 1 if single and not width else width
        at = 5 + (not single) + (0, 1, 2, 4)[flag & 3]
        return int.from_bytes(head[at : at + width], "little") + (256 if width == 2 else 0)
    if len(head) >= 16 and head[0] in (1, 2):  # blosc: version, codec version, flags, type size, bytes, block, packed
        return int.from_bytes(head[4:8], "little")
    return 0
