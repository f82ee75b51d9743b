"""Viscous compressible flow at Mach 0.1 in the laboratory: HLLC data, an FNO and a U-Net, a Rusanov map."""

import numpy as np

from physrank.equations import CompressibleFlow
from physrank.equations.compressible_flow import conservative
from physrank.lab.equations.flow_1d import GAMMA, exponentials, logarithms
from physrank.lab.equations.rollout import Budget, Frames, Network, Rollout
from physrank.lab.inputs import random_flow_2d
from physrank.lab.references import pdebench

SHEAR = BULK = 0.01
SUBSTEPS = 48  # at 64 cells: stable for every flow that is drawn


def solve(first: Frames, times: Frames) -> Frames:
    return pdebench.flow(first, times, "periodic", gamma=GAMMA, shear=SHEAR, bulk=BULK)


def problem(first: Frames, times: Frames, difference: float = 1e-4) -> CompressibleFlow:
    """As in the paper, Jacobian actions are finite differences."""
    substeps = max(8, SUBSTEPS * (first.shape[-1] // 16) ** 2 // 16)  # viscosity sets the step on fine grids
    return CompressibleFlow(
        first, times, "periodic", gamma=GAMMA, shear=SHEAR, bulk=BULK, substeps=substeps, difference=difference
    )


FLOW_2D = Rollout(
    name="flow_2d",
    title="compressible flow, Mach 0.1",
    label="2-D",
    times=np.linspace(0, 1, 21),
    observed=10,
    channels=4,
    dimensions=2,
    periodic=True,
    start=random_flow_2d,
    solve=solve,
    networks=(
        Network("fno", "fno", history=10),
        Network("u-net, push-forward", "unet", history=10, graded=2, silent=6),
    ),
    change=(0.01, 0.01, 0.01, 0.01),
    budgets={
        "smoke": Budget(
            16, training=4, validation=2, evaluation=2, windows=32, epochs=6, batch=4, features=4, width=4, modes=4
        ),
        "laptop": Budget(
            64,
            training=96,
            validation=8,
            evaluation=10,
            windows=1024,
            epochs=30,
            batch=8,
            features=16,
            width=20,
            modes=12,
        ),
        "paper": Budget(
            64,
            training=900,
            validation=16,
            evaluation=10,
            windows=9900,
            epochs=100,
            batch=8,
            features=32,
            width=20,
            modes=12,
        ),
    },
    problem=problem,
    encoded=logarithms,
    decoded=exponentials,
    states=lambda frames: conservative(frames, GAMMA),
)
