"""Stored references: the hidden solutions of a population, coarse and fine, made once."""

from concurrent.futures import ProcessPoolExecutor
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


def references(store: Path, equation: str, name: str, count: int, level: str = "first") -> list[Reference]:
    """Read from the store, or computed on all cores and stored."""
    target = path(store, equation, name, count, level)
    if not target.exists():
        jobs = [(equation, name, count, level, first) for first in range(0, count, CHUNK)]
        with ProcessPoolExecutor(mp_context=get_context("spawn")) as pool:
            parts = list(pool.map(_chunk, jobs))
        coarse, fine = (np.concatenate([part[k] for part in parts]) for k in range(2))
        write_arrays(target, {"coarse": coarse, "fine": fine})
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


def _chunk(job: tuple[str, str, int, str, int]) -> tuple[np.ndarray, np.ndarray]:
    equation, name, count, level, first = job
    cases = EQUATIONS[equation].population(name, count)[first : first + CHUNK]
    found = EQUATIONS[equation].references(cases, level)
    return np.stack([r.coarse for r in found]), np.stack([r.fine for r in found])
