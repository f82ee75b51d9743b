"""Stored trajectories of equations whose networks are rolled out: what a data set would hold, made once, a few at a time."""

from concurrent.futures import ProcessPoolExecutor
from multiprocessing import current_process, get_context
from pathlib import Path

import numpy as np

from physrank.lab.equations import ROLLOUTS
from physrank.lab.libraries import Profile, RolloutLibrary
from physrank.lab.store.files import StoreError, read_arrays, write_arrays

CHUNK = 8


def path(store: Path, equation: str, population: str, cells: int, first: int) -> Path:
    law = ROLLOUTS[equation].input_fingerprint
    return store / "trajectories" / f"{equation}-{population}-{cells}-{law}" / f"{first}.npz"


def trajectories(store: Path, library: RolloutLibrary, profile: Profile, population: str) -> np.ndarray:
    """`(inputs, times, channels, *space)`, read from the store, or computed on all cores and stored."""
    equation = library.declared
    budget = equation.budget(profile.name)
    starts = {"training": library.first_training_input(0), "validation": library.number * 256}
    begin, count = starts.get(population, 0), getattr(budget, population)
    targets = {
        first: path(store, library.equation, population, budget.cells, first)
        for first in range(begin, begin + count, CHUNK)
    }
    jobs = [
        (store, library.equation, population, budget.cells, k) for k, target in targets.items() if not target.exists()
    ]
    if len(jobs) > 1 and not current_process().daemon:  # processes that train may start no others
        with ProcessPoolExecutor(mp_context=get_context("spawn")) as pool:
            list(pool.map(_chunk, jobs))
    else:
        list(map(_chunk, jobs))
    shape = (len(equation.times), equation.channels, *(budget.cells,) * equation.dimensions)
    return np.concatenate([_read(target, shape) for target in targets.values()])[:count]


def _read(target: Path, shape: tuple[int, ...]) -> np.ndarray:
    found = read_arrays(target).get("frames", np.empty(0))
    if found.shape != (CHUNK, *shape) or not np.isfinite(found).all():
        raise StoreError(f"{target} holds {found.shape}; expected {CHUNK} finite trajectories {shape}. Delete it.")
    return found


def _chunk(job: tuple[Path, str, str, int, int]) -> None:
    store, equation, population, cells, first = job
    made = [ROLLOUTS[equation].trajectory(population, first + k, cells) for k in range(CHUNK)]
    write_arrays(path(store, equation, population, cells, first), {"frames": np.stack(made)})
