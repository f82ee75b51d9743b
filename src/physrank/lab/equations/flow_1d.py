"""Shock tubes in the laboratory: HLLC data, three networks, and a Rusanov map that compares them.

Networks see log density, velocity and log pressure, so that whatever they predict is a physical state; and in conservative
variables the physical states are a convex set, so that a mean of candidates is one too. A correction may leave it.
"""

import numpy as np

from physrank.equations import CompressibleFlow
from physrank.equations.compressible_flow import conservative
from physrank.lab.equations.rollout import Budget, Frames, Network, Rollout
from physrank.lab.inputs import ShockTube
from physrank.lab.references import pdebench

GAMMA = 5 / 3
FINER = 2  # cells of the data's own grid in one of the grid that is compared


def start(population: str, index: int, cells: int) -> Frames:
    return ShockTube.sample(population, index).primitive(FINER * cells)


def solve(first: Frames, times: Frames) -> Frames:
    rows = pdebench.flow(first, times, "outflow", gamma=GAMMA)
    return np.stack([pdebench.averaged(row, FINER, GAMMA) for row in rows])


def logarithms(frames: Frames) -> Frames:
    """Of density and pressure, the first and the last channel."""
    return np.stack([np.log(frames[:, 0]), *frames[:, 1:-1].swapaxes(0, 1), np.log(frames[:, -1])], axis=1)


def exponentials(frames: Frames) -> Frames:
    """Within twenty-two thousand times one: a network that fails does so in finite numbers."""
    density, pressure = (np.exp(np.clip(frames[:, k], -10, 10)) for k in (0, -1))
    return np.stack([density, *frames[:, 1:-1].swapaxes(0, 1), pressure], axis=1)


def problem(first: Frames, times: Frames) -> CompressibleFlow:
    return CompressibleFlow(first, times, "outflow", gamma=GAMMA, substeps=SUBSTEPS * first.shape[-1] // 128)


SUBSTEPS = 24  # at 128 cells: stable for every tube that is drawn

FLOW_1D = Rollout(
    name="flow_1d",
    title="shock tubes",
    label="1-D",
    times=np.linspace(0, 0.2, 41),
    observed=10,
    channels=3,
    dimensions=1,
    periodic=False,
    start=start,
    solve=solve,
    networks=(
        Network("fno, 10 frames", "fno", history=10, graded=2),
        Network("fno, 1 frame", "fno", history=1, graded=2),
        Network("u-net", "unet", history=10, graded=2),
    ),
    change=(0.05, 0.05, 0.05),
    budgets={
        "smoke": Budget(
            32, training=4, validation=2, evaluation=3, windows=64, epochs=6, batch=4, features=4, width=4, modes=6
        ),
        "laptop": Budget(
            128,
            training=384,
            validation=16,
            evaluation=35,
            windows=3072,
            epochs=24,
            batch=16,
            features=16,
            width=32,
            modes=24,
        ),
        "paper": Budget(
            256,
            training=900,
            validation=32,
            evaluation=35,
            windows=27_900,
            epochs=100,
            batch=16,
            features=32,
            width=48,
            modes=32,
        ),
    },
    problem=problem,
    encoded=logarithms,
    decoded=exponentials,
    states=lambda frames: conservative(frames, GAMMA),
)
