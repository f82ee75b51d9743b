"""npy and npz: headers are parsed, sizes compared with the file and with memory, pickled objects never loaded."""

import zipfile
from pathlib import Path
from typing import IO, Any

import numpy as np

from physrank.readers.contents import Contents
from physrank.readers.field import Fetch, Key, Variable
from physrank.readers.limits import INFLATION, SMALL, Limit, ReadError, damage

MAGIC = b"\x93NUMPY"
MOST = 10_000  # arrays in an archive
OBJECTS = (
    "it holds pickled Python objects, which can run code when loaded. Write numbers: "
    "np.savez(path, name=np.asarray(values, float))"
)


def read_npy(path: Path, limit: Limit) -> Contents:
    with damage(path, "npy"), path.open("rb") as file:
        shape, fortran, dtype = _header(file)
        start, size = file.tell(), path.stat().st_size
    variable = Variable(path.stem, shape, dtype, _mapped(path, shape, fortran, dtype, start))
    if dtype.hasobject:
        raise ReadError(f"{path}: {OBJECTS}.")
    if start + variable.size * dtype.itemsize > size:
        raise ReadError(
            f"{path} claims an array {shape} of {dtype}, but has only {size:,} bytes: truncated or damaged."
        )
    found = Contents("npy", {})
    found.add(variable)
    return found


def read_npz(path: Path, limit: Limit) -> Contents:
    found = Contents("npz", {})
    with damage(path, "npz"), zipfile.ZipFile(path) as archive:
        members = [info for info in archive.infolist() if info.filename.endswith(".npy")]
        names = [info.filename.removesuffix(".npy") for info in members]
        if len(set(names)) < len(names) or len(names) > MOST:
            raise ReadError(
                f"{path} holds a name twice or more than {MOST:,} arrays; expected differently named arrays."
            )
        for name, info in zip(names, members, strict=True):
            check_member(path, info)
            with archive.open(info) as file:
                shape, _, dtype = _header(file)
                start = file.tell()
            variable = Variable(name, shape, dtype, _unpacked(path, limit, info.filename))
            if dtype.hasobject:
                found.skipped[name] = OBJECTS
            elif start + variable.size * dtype.itemsize != info.file_size:
                raise ReadError(f"{path}: {name!r} claims an array {shape} of {dtype}, which its size contradicts.")
            else:
                found.add(variable)
    return found


def check_member(path: Path, info: zipfile.ZipInfo) -> None:
    """What a zip archive claims of a member can be true."""
    packed = info.compress_type != zipfile.ZIP_STORED
    most = info.compress_size * INFLATION + SMALL if packed else info.compress_size
    if info.file_size > most or info.compress_size > path.stat().st_size:
        raise ReadError(
            f"{path}: {info.filename!r} claims {info.file_size:,} bytes packed in {info.compress_size:,}, which is not "
            "possible: it is damaged or made to fill memory."
        )


def _header(file: IO[bytes]) -> tuple[tuple[int, ...], bool, np.dtype]:
    version = np.lib.format.read_magic(file)
    read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    shape, fortran, dtype = read(file)
    if any(isinstance(n, bool) or n < 0 for n in shape):
        raise ReadError(f"its header claims the shape {shape}.")
    return tuple(int(n) for n in shape), fortran, dtype


def _mapped(path: Path, shape: tuple[int, ...], fortran: bool, dtype: np.dtype, start: int) -> Fetch:
    def fetch(key: Key) -> np.ndarray:
        with damage(path, "npy"):
            stored = np.memmap(path, dtype, "r", start, shape, "F" if fortran else "C")
            return np.array(stored[key])

    return fetch


def _unpacked(path: Path, limit: Limit, member: str) -> Fetch:
    def fetch(key: Key) -> np.ndarray:
        with damage(path, "npz"), zipfile.ZipFile(path) as archive:
            info = archive.getinfo(member)
            check_member(path, info)
            limit.check(f"{member!r} (an archive's arrays are unpacked whole)", info.file_size)
            with archive.open(info) as file:
                shape, fortran, dtype = _header(file)
                values = _exactly(file, int(np.prod(shape, dtype=object)) * dtype.itemsize, info)
        return np.frombuffer(values, dtype).reshape(shape, order="F" if fortran else "C")[key].copy()

    return fetch


def _exactly(file: IO[bytes], wanted: int, info: Any) -> bytearray:
    if wanted > info.file_size:
        raise ReadError(f"its header claims {wanted:,} bytes, the archive {info.file_size:,}.")
    values = bytearray(wanted)
    view, at = memoryview(values), 0
    while at < wanted:
        part = file.read(min(1 << 20, wanted - at))
        if not part:
            raise ReadError(f"{info.filename!r} ends after {at:,} of {wanted:,} bytes.")
        view[at : at + len(part)] = part
        at += len(part)
    return values
