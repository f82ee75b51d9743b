"""What several tests of the laboratory need."""

from dataclasses import replace
from pathlib import Path

import numpy as np
from safetensors.torch import load_file

import physrank
from physrank.lab.libraries import LIBRARIES, PROFILES
from physrank.lab.store import checkpoints


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
