"""Files damaged at random, by seed: bits, bytes, lengths, cuts, pieces of themselves, and numbers that claim too much."""

import shutil
from pathlib import Path

import numpy as np

import physrank as pr

HUGE = [n.to_bytes(8, "little") for n in (2**31, 2**40, 2**63 - 1, 2**64 - 1, 0)] + [b"\xff\xff", b"\x00\x00\x00\x80"]
MOST = 1 << 26  # bytes that a read may take


def damaged(content: bytes, random: np.random.Generator) -> bytes:
    """One to four wounds."""
    wounded = bytearray(content)
    for _ in range(int(random.integers(1, 5))):
        if not wounded:
            break
        # Headers are where a reader decides: half of the wounds go to the first or the last kilobyte.
        reach = int(random.choice([len(wounded), min(len(wounded), 1024)]))
        at = int(random.integers(reach))
        at = len(wounded) - 1 - at if random.random() < 0.3 else at
        match int(random.integers(7)):
            case 0:
                wounded[at] ^= 1 << int(random.integers(8))
            case 1:
                wounded[at] = int(random.integers(256))
            case 2:
                del wounded[at:]
            case 3:
                value = HUGE[int(random.integers(len(HUGE)))]
                wounded[at : at + len(value)] = value[: len(wounded) - at]
            case 4:
                del wounded[at : at + int(random.integers(1, 64))]
            case 5:
                other = int(random.integers(len(wounded)))
                wounded[at:at] = wounded[other : other + int(random.integers(1, 64))]
            case _:
                wounded[at : at + 8] = random.bytes(min(8, len(wounded) - at))
    return bytes(wounded)


def everything(path: Path, **options):
    """The first states of a file, of all its candidates, after every field and coordinate has been read."""
    file = pr.read(path, **options)
    for field in file.fields.values():
        np.asarray(field)
    assert file.coordinates is not None  # read when first asked for
    return [state for sample in range(min(file.samples, 5)) for state in file.candidates(sample).values()]


def attempt(path: Path) -> bool:
    """Read all there is; True when it could be read. Whatever is not one sentence in a ValueError or OSError escapes."""
    try:
        file = pr.read(path, max_bytes=MOST)
        str(file), file.coordinates, file.grid()
        for field in file.fields.values():
            np.asarray(field)
        file.candidates()
    except (ValueError, OSError) as error:
        text = str(error)
        assert text and "\n" not in text and len(text) < 1000, text
        return False
    return True


def run(original: Path, seed: int, count: int) -> int:
    """How many of `count` damaged copies of a file, or of the files in a folder, could still be read."""
    random, target = np.random.default_rng(seed), original.with_name(f"damaged-{original.name}")
    parts = sorted(p for p in original.rglob("*") if p.is_file()) if original.is_dir() else [original]
    contents = [part.read_bytes() for part in parts]
    if original.is_dir():
        shutil.copytree(original, target)
    read = 0
    for _ in range(count):
        which = int(random.integers(len(parts)))
        place = target / parts[which].relative_to(original) if original.is_dir() else target
        place.write_bytes(damaged(contents[which], random))
        read += attempt(target)
        place.write_bytes(contents[which])
    return read
