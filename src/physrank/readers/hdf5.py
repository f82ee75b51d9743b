"""HDF5 from strangers: only plain datasets inside the file itself; links, virtual and external data are refused."""

import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from physrank import _optional
from physrank.readers import heaps
from physrank.readers.contents import Contents, is_coordinate, numbers_of, text
from physrank.readers.field import Fetch, Key, Variable
from physrank.readers.limits import INFLATION, SMALL, Limit, ReadError, damage

MAGIC = b"\x89HDF\r\n\x1a\n"
DEEPEST, MOST = 6, 20_000  # levels of groups and number of objects that a file may have
ATTRIBUTES = 1000  # of one object that are looked at
DEFLATE = 1
FILTERS = {DEFLATE, 2, 3, 4, 5, 6, 32000}  # deflate, shuffle, fletcher32, szip, nbit, scale-offset, lzf
PACKED = "its texts are packed: write them without filters"
DIMS = ("dims", "dimensions", "_ARRAY_DIMENSIONS", "DIMENSION_LABELS")


def read(path: Path, limit: Limit, followed: bool = False) -> Contents:
    """Everything in the file, as it lies. Of a series of numbered groups only the first is looked at.

    `followed`: a library will read all attributes, also those that are left alone here.
    """
    found = Contents("hdf5", {})
    heaps.forget()
    with opened(path) as file:
        found.numbers |= numbers_of(attributes(file, followed))
        names = list(file)
        if names and all(name.isdigit() for name in names) and _is_group(file, names[0]):
            found.series = tuple(sorted(names, key=lambda name: (int(name), name)))
            names = list(found.series[:1])
        for name, dataset in _walk(file, names):
            _add(found, name, dataset, path, limit, followed)
    return found


def is_hdf5(path: Path) -> bool:
    with path.open("rb") as file:
        return begins(file.read(4096))


def begins(head: bytes) -> bool:
    """Whether HDF5 begins here, or after a block of the user's own, as in MATLAB's files."""
    return any(head[at:].startswith(MAGIC) for at in (0, 512, 1024, 2048))


@contextmanager
def opened(path: Path) -> Iterator[Any]:
    with damage(path, "HDF5"), _optional.load("h5py").File(path, "r", locking=False) as file:
        yield file


def attributes(thing: Any, followed: bool = False) -> dict[str, Any]:
    """Small plain attributes; what is large, or points elsewhere, is left alone. Whatever is of any length is looked at
    first, also where it is left alone: netCDF's library follows it. `followed`: what cannot be looked at is refused."""
    h5py, found = _optional.load("h5py"), {}
    names = list(thing.attrs)
    if followed and len(names) > ATTRIBUTES:
        raise ReadError(f"{thing.file.filename}: {thing.name!r} has {len(names):,} attributes: not a file of fields.")
    for name in names[:ATTRIBUTES]:
        stored = h5py.h5a.open(thing.id, name.encode())
        kind = stored.get_type()
        plain = kind.get_class() in (h5py.h5t.INTEGER, h5py.h5t.FLOAT, h5py.h5t.STRING, h5py.h5t.ENUM)
        texts = kind.get_class() == h5py.h5t.STRING and kind.is_variable_str()
        if texts or kind.get_class() == h5py.h5t.VLEN:
            heaps.check_attribute(thing, name, h5py.h5o.get_info(thing.id).addr)
        elif followed and _holds_texts(kind):
            raise ReadError(
                f"{thing.file.filename}: attribute {name!r} of {thing.name!r} has texts or lists inside of a structure, and "
                "what they claim to need is not looked at. Write them as attributes of their own."
            )
        if plain and stored.get_storage_size() <= SMALL:
            found[name] = thing.attrs[name]
    return found


def _holds_texts(kind: Any) -> bool:
    """Whether a datatype has, at any depth, something of any length."""
    h5t = _optional.load("h5py").h5t
    if kind.get_class() == h5t.COMPOUND:
        return any(_holds_texts(kind.get_member_type(k)) for k in range(kind.get_nmembers()))
    if kind.get_class() == h5t.ARRAY:
        return _holds_texts(kind.get_super())
    return kind.get_class() == h5t.VLEN or (kind.get_class() == h5t.STRING and kind.is_variable_str())


def inside(group: Any, name: str) -> Any:
    """A member of a group that lies in the same file."""
    h5py = _optional.load("h5py")
    link = group.get(name, getlink=True)
    if not isinstance(link, h5py.HardLink):
        kind = "points to another file" if isinstance(link, h5py.ExternalLink) else "is a link"
        raise ReadError(
            f"{group.file.filename}: {name!r} {kind}, and links in files are not followed. Copy the data into the file "
            "(h5repack, or h5py's copy(..., expand_external=True, expand_soft=True))."
        )
    return group[name]


def dataset_at(file: Any, name: str) -> Any:
    for part in name.split("/"):
        file = inside(file, part)
    return file


def _is_group(file: Any, name: str) -> bool:
    return isinstance(inside(file, name), _optional.load("h5py").Group)


def _walk(file: Any, names: list[str]) -> Iterator[tuple[str, Any]]:
    h5py, seen, count = _optional.load("h5py"), set(), 0
    pending = [(name, inside(file, name), 1) for name in reversed(names)]
    while pending:
        name, item, depth = pending.pop()
        count += 1
        if depth > DEEPEST or count > MOST:
            raise ReadError(
                f"{file.filename} has more than {DEEPEST} levels or {MOST:,} objects: not a file of fields."
            )
        if isinstance(item, h5py.Dataset):
            yield name, item
        elif isinstance(item, h5py.Group):
            place = h5py.h5o.get_info(item.id).addr
            if place in seen:
                raise ReadError(f"{file.filename}: group {name!r} appears twice; a file of fields is a tree.")
            seen.add(place)
            pending += [(f"{name}/{inner}", inside(item, inner), depth + 1) for inner in reversed(list(item))]


def _add(found: Contents, name: str, dataset: Any, path: Path, limit: Limit, followed: bool) -> None:
    h5py, info, shape = _optional.load("h5py"), attributes(dataset, followed), dataset.shape
    if shape is None:
        return
    dtype, is_text = np.dtype(dataset.dtype), h5py.check_string_dtype(dataset.dtype) is not None
    if dtype.kind == "O" and not is_text:
        found.skipped[name] = "its entries are references or lists, expected numbers"
        return
    if dtype.kind == "O" and not heaps.check_dataset(dataset):
        found.skipped[name] = PACKED
        return
    check_plain(dataset, limit)
    found.add(Variable(name, shape, dtype, reader(path, limit, name, shape), _dims(dataset, info)))


def reader(path: Path, limit: Limit, name: str, shape: tuple[int, ...]) -> Fetch:
    def fetch(key: Key) -> np.ndarray:
        with opened(path) as file:
            dataset = dataset_at(file, name)
            if dataset.shape != shape:
                raise ReadError(f"{path}: {name!r} has shape {dataset.shape}; expected {shape}.")
            check_plain(dataset, limit)
            return dataset[key]

    return fetch


def series(path: Path, limit: Limit, names: tuple[str, ...], inner: str, shape: tuple[int, ...]) -> Fetch:
    """One dataset of every numbered group, as an array with these groups as its first axis."""

    def one(k: int, key: Key) -> np.ndarray:
        return reader(path, limit, f"{names[k]}/{inner}", shape)(key)

    def fetch(key: Key) -> np.ndarray:
        which = key[0]
        if isinstance(which, int):
            return one(which, key[1:])
        return np.stack([one(k, key[1:]) for k in range(which.start, which.stop, which.step)])

    return fetch


def as_samples(found: Contents, path: Path, limit: Limit) -> Contents:
    """Numbered groups as samples: what the first one holds, with a leading axis over all."""
    first, count, variables = found.series[0], len(found.series), {}
    for name, v in found.variables.items():
        inner = name.removeprefix(f"{first}/")
        if is_coordinate(v):
            variables[inner] = v
        else:
            dims = ("sample", *(v.dims or [f"axis {k}" for k in range(len(v.shape))]))
            fetch = series(path, limit, found.series, inner, v.shape)
            variables[inner] = Variable(inner, (count, *v.shape), v.dtype, fetch, dims)
    return replace(found, variables=variables)


def _dims(dataset: Any, info: dict[str, Any]) -> tuple[str, ...] | None:
    for name in DIMS:
        if name in info:
            value = info[name]
            parts = text(value).replace(" ", ",").split(",") if np.ndim(value) == 0 else map(text, value)
            dims = tuple(part.strip() for part in parts if part.strip())
            if len(dims) == dataset.ndim and len(set(dims)) == len(dims):
                return dims
    return None


def check_plain(dataset: Any, limit: Limit) -> None:
    """Its values lie in this file, behind known filters, and unpacking them takes no more than they are worth."""
    where = f"{dataset.file.filename}: dataset {dataset.name!r}"
    if dataset.is_virtual or dataset.external:
        raise ReadError(
            f"{where} takes its values from other files, which are not followed. Copy the data into the file."
        )
    plist = dataset.id.get_create_plist()
    filters = {plist.get_filter(k)[0] for k in range(plist.get_nfilters())}
    if not filters <= FILTERS:
        raise ReadError(f"{where} is packed with filters {sorted(filters - FILTERS)}; write it with gzip, lzf or none.")
    if dataset.chunks:
        limit.check(f"A chunk of dataset {dataset.name!r}", _chunk_bytes(dataset))
    stored = dataset.id.get_storage_size()
    if not filters and stored > Path(dataset.file.filename).stat().st_size:
        raise ReadError(f"{where} claims {stored:,} bytes, more than the file has: it is truncated or damaged.")
    if DEFLATE in filters and stored * INFLATION > limit.bytes:
        _check_inflation(dataset, where, limit)


def _chunk_bytes(dataset: Any) -> int:
    return int(np.prod(dataset.chunks, dtype=object)) * dataset.dtype.itemsize


def _check_inflation(dataset: Any, where: str, limit: Limit) -> None:
    """A packed chunk that unpacks to more than it says would be unpacked whole by the library: look before."""
    large = []
    dataset.id.chunk_iter(lambda chunk: large.append(chunk) if chunk.size * INFLATION > limit.bytes else None)
    for chunk in large:
        _, packed = dataset.id.read_direct_chunk(chunk.chunk_offset)
        if inflated_beyond(packed, _chunk_bytes(dataset) + SMALL, zlib.decompressobj()):
            raise ReadError(f"{where} unpacks to more than it says: it is damaged or made to fill memory.")


def inflated_beyond(packed: bytes, most: int, unpacker: Any) -> bool:
    """Whether packed bytes unpack to more than they may, found out in little memory."""
    total, left = 0, packed
    while left and not unpacker.eof:
        total += len(unpacker.decompress(left, 1 << 20))
        left = unpacker.unconsumed_tail
        if total > most:
            return True
    return False
