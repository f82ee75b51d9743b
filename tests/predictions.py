"""Files of predictions for the command line: PDEBench's layout, small, with errors that grow after a shared frame."""

from pathlib import Path

import h5py
import numpy as np

CELLS, FRAMES, FIRST = 12, 15, 10  # prediction begins at frame 10
TIMES = 0.05 * np.arange(FRAMES)
ERRORS = {"fno": 0.01, "cno": 0.03, "unet": 0.1}
STATED = ("--equation", "diffusion-reaction", "--layout", "pdebench", "--from-frame", str(FIRST))


def smooth(rng):
    x = (np.arange(CELLS) + 0.5) / CELLS
    waves = [np.cos(np.pi * k * x) / (1 + k) for k in range(4)]
    return sum(rng.standard_normal() * np.outer(a, b) for a in waves for b in waves)


def store(path: Path, states: np.ndarray) -> Path:
    """(sample, time, channel, x, y) as PDEBench stores its diffusion–reaction."""
    x = -1 + 2 * (np.arange(CELLS) + 0.5) / CELLS
    with h5py.File(path, "w") as file:
        for k, state in enumerate(states):
            group = file.create_group(f"{k:04d}")
            group["data"] = np.moveaxis(state, 1, -1).astype(np.float32)
            for name, line in (("x", x), ("y", x), ("t", TIMES)):
                group[f"grid/{name}"] = line.astype(np.float32)
    return path
