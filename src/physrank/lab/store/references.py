"""Stored references: the hidden solutions of a population, coarse and fine, made once."""

from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

from physrank.lab.equations import EQUATIONS
from physrank.lab.references.reference import Reference
from physrank.lab.store.files import StoreError, read_arrays, write_arrays

CHUNK = 12


def path(store: Path, equation: str, name: str, count: int, level: str) -> Path:
    return store / "references" / f"{equation}-{name}-{count}-{level}-{EQUATIONS[equation].input_fingerprint}.npz"


def settings(equation: str, level: str) -> list[Any]:
    """What the references of a level are made with."""
    return [level, EQUATIONS[equation].levels[level]]


def references(
    store: Path,
    equation: str,
    name: str,
    count: int,
    level: str = "first",
    progress: Callable[[str, int, int], None] = lambda what, done, total: None,
) -> list[Reference]:
    """Read from the store, or computed on all cores and stored, some at a time: an interrupted run goes on."""
    target = path(store, equation, name, count, level)
    if not target.exists():
        _make(target, equation, name, count, level, progress)
    stored = read_arrays(target)
    if not {"coarse", "fine"} <= set(stored):
        raise StoreError(f"{target} holds {sorted(stored)}; expected coarse and fine. Delete it to make it again.")
    coarse, fine = stored["coarse"], stored["fine"]
    if (
        len(coarse) != count
        or coarse.shape != fine.shape
        or not (np.isfinite(coarse).all() and np.isfinite(fine).all())
    ):
        raise StoreError(
            f"{target} holds {coarse.shape} and {fine.shape}; expected {count} finite solutions. Delete it."
        )
    return [Reference(*both) for both in zip(coarse, fine, strict=True)]


def _make(
    target: Path, equation: str, name: str, count: int, level: str, progress: Callable[[str, int, int], None]
) -> None:
    parts = [target.with_suffix(".parts") / f"{first}.npz" for first in range(0, count, CHUNK)]
    jobs = [(part, equation, name, count, level) for part in parts if not part.exists()]
    what = f"{EQUATIONS[equation].title}: references, {name}"
    with ProcessPoolExecutor(mp_context=get_context("spawn")) as pool:
        for done, _ in enumerate(pool.map(_chunk, jobs), len(parts) - len(jobs) + 1):
            progress(what, min(done * CHUNK, count), count)
    found = [read_arrays(part) for part in parts]
    write_arrays(target, {kind: np.concatenate([part[kind] for part in found]) for kind in ("coarse", "fine")})
    for part in parts:
        part.unlink(missing_ok=True)
    with suppress(OSError):  # somebody else makes the same
        parts[0].parent.rmdir()


def _chunk(job: tuple[Path, str, str, int, str]) -> None:
    part, equation, name, count, level = job
    first = int(part.stem)
    cases = EQUATIONS[equation].population(name, count)[first : first + CHUNK]
    found = EQUATIONS[equation].references(cases, level)
    write_arrays(part, {"coarse": np.stack([r.coarse for r in found]), "fine": np.stack([r.fine for r in found])})
