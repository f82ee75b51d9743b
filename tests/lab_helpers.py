"""What several tests of the laboratory need."""

from dataclasses import replace
from pathlib import Path

import numpy as np
from safetensors.torch import load_file

import physrank
from physrank.lab.libraries import LIBRARIES, PROFILES
from physrank.lab.store import checkpoints, predictions, trajectories


class InThisProcess:
    """A process pool without processes: settings that a test has patched live in this one."""

    def __init__(self, **options):
        del options

    def __enter__(self):
        return self

    def __exit__(self, *_):
        return None

    def map(self, function, jobs):
        return map(function, jobs)


SOURCE = Path(physrank.__file__).parent
TINY = replace(
    PROFILES["smoke"], training=8, validation=2, epochs=4, batch=4, evaluation=3, panels=1, panel_size=3, deployment=3
)
BURGERS, SECOND = LIBRARIES["burgers-fno-e1"], LIBRARIES["burgers-cno-e1"]


def weights(store, library, epoch, run=0):
    return load_file(checkpoints.paths(checkpoints.folder(store, TINY, library, run), epoch)[0])


def noisy(cases, candidates, noise, seed=0):
    """Uniform losses and scores that add Gaussian noise to them."""
    random = np.random.default_rng(seed)
    losses = random.random((cases, candidates))
    return losses, losses + noise * random.standard_normal(losses.shape)


def rolled_store(folder, library):
    """What `physrank train` would leave of rolled-out networks: truth plus errors of known size that grow in time."""
    smoke, equation = PROFILES["smoke"], library.declared
    true = trajectories.trajectories(folder, library, smoke, "evaluation")[:, equation.observed - 1 :]
    x, random = (np.arange(true.shape[-1]) + 0.5) / true.shape[-1], np.random.default_rng(0)
    growing = np.linspace(0, 1, true.shape[1]).reshape(-1, *[1] * (equation.dimensions + 1))
    rough = [0.3 * random.standard_normal(true.shape[3:]) * (equation.dimensions == 2) for _ in range(library.runs)]
    errors = [(1 + k) * growing * (0.3 + np.sin(2 * np.pi * (k + 1) * x) + rough[k]) for k in range(library.runs)]
    states = np.stack([true + 0.05 * true.std() * error for error in errors], axis=1)
    losses, strata = [0.1] * library.runs, library.strata(len(true))
    predictions.write(folder, smoke, library, "evaluation", "native", states, strata, losses)
    return folder
