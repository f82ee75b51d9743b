"""Where HDF5 keeps text of any length: a damaged table there sends the library round in circles, so it is looked at first."""

import mmap
from functools import lru_cache
from pathlib import Path

from physrank.readers.limits import ReadError

MAGIC, HEADER = b"GCOL\x01", 16  # of a collection, and of each object in it; numbers are little-endian
LONGEST = 1 << 30  # a larger file is not searched: that would be reading it


def check(path: Path) -> None:
    """Refuse a file with a collection in which an object takes no room, or more than there is."""
    stat = path.stat()
    if stat.st_size <= LONGEST and not _sound(path, stat.st_size, stat.st_mtime_ns):
        raise ReadError(f"{path} is not a readable HDF5 file: its table of texts is damaged. Get or write it anew.")


@lru_cache(maxsize=64)
def _sound(path: Path, size: int, _: int) -> bool:
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        start = content.find(MAGIC)
        while start >= 0:
            if not _ends(content, start, size):
                return False
            start = content.find(MAGIC, start + 1)
    return True


forget = _sound.cache_clear  # a file of the same size and time may be another one


def _ends(content: mmap.mmap, start: int, size: int) -> bool:
    """Whether going from object to object arrives exactly at the collection's end."""

    def number(at: int, width: int) -> int:
        return int.from_bytes(content[at : at + width], "little")

    end, at = start + number(start + 8, 8), start + HEADER
    if end > size:
        return False
    while at + HEADER <= end:
        index, length = number(at, 2), number(at + 8, 8)
        step = HEADER + (length + 7) // 8 * 8 if index else length  # what is free has the index 0 and counts its header
        if step < 1:
            return False
        at += step
    return at <= end
