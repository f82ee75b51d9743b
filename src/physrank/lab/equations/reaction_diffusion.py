"""Reaction–diffusion in the laboratory: 34 × 34 nodes, boundary included; compared on 128² interior nodes."""

from collections.abc import Sequence

import numpy as np

from physrank import equations
from physrank.certificates import ContinuumReactionDiffusion
from physrank.geometry.space import Array
from physrank.lab.equations.constraint import ZeroEdges
from physrank.lab.equations.equation import (
    Claimed,
    CoarseSolve,
    Equation,
    Misstated,
    NetworkSize,
    Proofs,
    Single,
    Transition,
    channels,
)
from physrank.lab.inputs import ReactionDiffusionInput
from physrank.lab.references import chebyshev, reaction_diffusion
from physrank.lab.references.reference import Reference

NODES, COMPARED = 34, 128
SPECTRAL = 40  # Chebyshev nodes of the second method


def features(cases: Sequence[ReactionDiffusionInput], points: int | None = None) -> Single:
    """a, f, λ, γ."""
    x = np.linspace(0, 1, points or NODES)
    grid = np.meshgrid(x, x, indexing="ij")
    return channels(
        cases, (len(x), len(x)), lambda c: (c.diffusion(*grid) - 1.25, c.forcing(*grid), c.linear - 1.1, c.cubic - 0.65)
    )


def labels(cases: Sequence[ReactionDiffusionInput]) -> Single:
    x = np.linspace(0, 1, NODES)
    fields = [chebyshev.evaluate(chebyshev.solve(case, 20, rtol=1e-9), x) for case in cases]
    return np.stack(fields)[:, None].astype(np.float32)


def problem(case: ReactionDiffusionInput, points: int | None = None) -> equations.ReactionDiffusion:
    n = points or COMPARED
    return equations.ReactionDiffusion(case.diffusion, case.forcing, case.linear, case.cubic, points=n)


def references(cases: Sequence[ReactionDiffusionInput], level: str = "first") -> list[Reference]:
    return [reaction_diffusion.reference(case, COMPARED, level) for case in cases]


def against_equation(case: ReactionDiffusionInput) -> ContinuumReactionDiffusion:
    return ContinuumReactionDiffusion(case.diffusion, case.forcing)


def second_method(case: ReactionDiffusionInput) -> Array:
    """The field by Chebyshev collocation."""
    return chebyshev.evaluate(chebyshev.solve(case, SPECTRAL), np.linspace(0, 1, COMPARED + 2))


REACTION_DIFFUSION = Equation(
    name="reaction_diffusion",
    title="reaction–diffusion",
    label="RD",
    input=ReactionDiffusionInput,
    features=features,
    labels=labels,
    inputs=4,
    outputs=1,
    grid=(NODES, NODES),
    axes=("x", "y"),
    periodic=False,
    constraint=ZeroEdges(size=0.1),
    sizes={
        "smoke": NetworkSize(fno_width=4, fno_modes=(6, 6), cno_multiplier=4, unet_features=2),
        "laptop": NetworkSize(fno_width=16, fno_modes=(12, 12), cno_multiplier=12, unet_features=8),
        "paper": NetworkSize(fno_width=32, fno_modes=(12, 12), cno_multiplier=40, unet_features=32),
    },
    learning_rates={"fno": 2e-3, "cno": 1e-3, "unet": 1e-3},
    problem=problem,
    mistaken=Misstated("diffusion", 2.0),
    points=COMPARED,
    references=references,
    solver=reaction_diffusion,
    coarse_solves=(CoarseSolve(64), CoarseSolve(32), CoarseSolve(16)),
    certified=Proofs(corrections=2, target="same grid", against_equation=against_equation),
    claimed=Claimed(pairs=1.0, top1=1.0),
    transitions=(Transition(64, 128), Transition(128, 256, share=2), Transition(256, 512, "deployment", share=8)),
    phase_grids=(32, 64, 128, 256),
    reinferred=(COMPARED + 2, COMPARED + 2),
    second_method=second_method,
    in_paper=True,
)
