"""Two-field diffusion–reaction in the laboratory, as PDEBench has it: three U-Nets that differ in how they were trained."""

import numpy as np

from physrank import equations
from physrank.lab.equations.rollout import Budget, Frames, Network, Rollout
from physrank.lab.inputs import diffusion_reaction_cells
from physrank.lab.references import pdebench

DIFFUSION_REACTION = Rollout(
    name="diffusion_reaction",
    title="diffusion–reaction",
    label="DR",
    times=np.linspace(0, 5, 101),
    observed=10,
    channels=2,
    dimensions=2,
    periodic=False,
    start=diffusion_reaction_cells,
    solve=pdebench.diffusion_reaction,
    networks=(
        Network("one-step", "unet", history=10),
        Network("autoregressive", "unet", history=10, graded=8),
        Network("push-forward", "unet", history=10, graded=4, silent=12),
    ),
    change=(0.01, 0.01),
    budgets={
        "smoke": Budget(32, training=4, validation=2, evaluation=3, windows=128, epochs=6, batch=4, features=4),
        "laptop": Budget(64, training=192, validation=8, evaluation=99, windows=2048, epochs=24, batch=8, features=16),
        "paper": Budget(
            128, training=900, validation=16, evaluation=99, windows=81_900, epochs=50, batch=8, features=32
        ),
    },
    problem=equations.DiffusionReaction,
)


def tight(trajectory: Frames) -> Frames:
    """The same first frame solved a thousand times more accurately: how far data made at PDEBench's tolerances are off."""
    start = np.asarray(trajectory[0], np.float64)
    return pdebench.diffusion_reaction(start, DIFFUSION_REACTION.times, rtol=1e-6, atol=1e-9)
