"""Texts of any length in HDF5: the library takes as much memory as one claims, and goes round in circles in a damaged table
of texts. So what it would follow is looked at first, in the bytes of the file."""

import mmap
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

from physrank.readers.limits import ReadError

MAGIC, HEADER = b"GCOL\x01", 16  # of a collection of texts, and of each object in it; numbers are little-endian
ELEMENT = 16  # bytes of a reference: length 4, address of its collection 8, place in it 4
LONGEST_TEXT = 1 << 20  # no settings and no list of names are longer
LONGEST_FILE, NEAR = 1 << 30, 1 << 20  # a larger file is searched only near the header: all of it would be reading it
TEXT, SHARED = 9, 1  # class of a datatype of variable length; flag of one that is stored elsewhere


def check_attribute(thing: Any, name: str, header: int) -> None:
    """Refuse a file with an attribute of this name whose texts claim too much, or lie in a damaged table.

    Every message in the file that could be it is looked at, whichever object it belongs to. `header` is the object's address.
    """
    path, base = Path(thing.file.filename), thing.file.userblock_size
    stat = path.stat()
    start = header + base if stat.st_size > LONGEST_FILE else 0
    if not _sound_attributes(path, stat.st_size, stat.st_mtime_ns, name.encode() + b"\0", base, start):
        raise _damaged(path)


def check_dataset(dataset: Any) -> bool:
    """The same for a dataset of texts; False where its references do not lie in the file as they are."""
    path, base, stored = Path(dataset.file.filename), dataset.file.userblock_size, dataset.id
    if not dataset.chunks:
        places = [(stored.get_offset(), dataset.size)]
    elif base or stored.get_create_plist().get_nfilters():
        return False
    else:
        chunks = [stored.get_chunk_info(k) for k in range(stored.get_num_chunks())]
        places = [(chunk.byte_offset, chunk.size // ELEMENT) for chunk in chunks]
    if any(at is None for at, _ in places):
        return stored.get_storage_size() == 0  # nothing was written: there is nothing to follow
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        if not all(_sound(content, at, count, base) for at, count in places):
            raise _damaged(path)
    return True


def _damaged(path: Path) -> ReadError:
    return ReadError(
        f"{path} is not a readable HDF5 file: its table of texts is damaged, or a text claims more than "
        f"{LONGEST_TEXT:,} bytes. Get or write it anew."
    )


@lru_cache(maxsize=256)
def _sound_attributes(path: Path, size: int, _: int, name: bytes, base: int, start: int) -> bool:
    """At least one message of that name, and all of them sound."""
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        found = list(_messages(content, name, start, min(size, start + NEAR) if start else size))
        return bool(found) and all(_sound(content, at, count, base) for at, count in found)


forget = _sound_attributes.cache_clear  # a file of the same size and time may be another one


def _messages(content: mmap.mmap, name: bytes, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Where the values of attributes of this name begin, and how many there are."""
    place = content.find(name, start, end)
    while place >= 0:
        for version, length in ((1, 8), (2, 8), (3, 9)):
            head = content[max(place - length, 0) : place]
            if len(head) == length and head[0] == version and int.from_bytes(head[2:4], "little") >= len(name):
                parts = [int.from_bytes(head[at : at + 2], "little") for at in (2, 4, 6)]
                sizes = [-(-part // 8) * 8 if version == 1 else part for part in parts]
                datatype, dataspace = place + sizes[0], place + sizes[0] + sizes[1]
                text = content[datatype : datatype + 1][:1]
                if (text and text[0] & 15 == TEXT) or (version > 1 and head[1] & SHARED):
                    yield dataspace + sizes[2], _count(content[dataspace : dataspace + sizes[2]])
        place = content.find(name, place + 1, end)


def _count(dataspace: bytes) -> int:
    """How many values a dataspace says there are; one where it does not say."""
    rank, first = (dataspace[1], 8 if dataspace[0] == 1 else 4) if len(dataspace) > 4 else (0, 0)
    count = 1
    for k in range(rank):
        count *= int.from_bytes(dataspace[first + 8 * k : first + 8 * k + 8], "little")
    return count


def _sound(content: mmap.mmap, at: int, count: int, base: int) -> bool:
    """Whether texts claim little, together, and the collections that they lie in end where they should."""
    if at + ELEMENT * count > len(content):
        return False
    claimed, collections = 0, set()
    for place in range(at, at + ELEMENT * count, ELEMENT):
        claimed += int.from_bytes(content[place : place + 4], "little")
        collections.add(base + int.from_bytes(content[place + 4 : place + 12], "little"))
    return claimed <= LONGEST_TEXT and all(_ends(content, start) for start in collections)


def _ends(content: mmap.mmap, start: int) -> bool:
    """Whether going from object to object arrives exactly at a collection's end; what is none, the library refuses."""

    def number(at: int, width: int) -> int:
        return int.from_bytes(content[at : at + width], "little")

    if content[start : start + len(MAGIC)] != MAGIC:
        return True
    end, at = start + number(start + 8, 8), start + HEADER
    if end > len(content):
        return False
    while at + HEADER <= end:
        index, length = number(at, 2), number(at + 8, 8)
        step = HEADER + (length + 7) // 8 * 8 if index else length  # what is free has the index 0 and counts its header
        if step < 1:
            return False
        at += step
    return at <= end
