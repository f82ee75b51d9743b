"""Burgers in the laboratory: 48 × 48 space–time grid, space last; compared at the end, on 384 points."""

from collections.abc import Sequence

import numpy as np

from physrank import equations
from physrank.lab.equations.constraint import InitialRow
from physrank.lab.equations.equation import Certified, Claimed, CoarseSolve, Equation, Misstated, NetworkSize, Single
from physrank.lab.inputs import BurgersInput
from physrank.lab.inputs.burgers import HORIZON, LENGTH
from physrank.lab.references import burgers
from physrank.lab.references.reference import Reference

ROWS, POINTS, COMPARED = 48, 48, 384
TIMES = np.linspace(0, HORIZON, ROWS)


def features(cases: Sequence[BurgersInput], points: int | None = None) -> Single:
    """u₀, f, ν, t."""
    n = points or POINTS
    x, t = np.arange(n) * LENGTH / n, TIMES[:, None]
    rows = [
        np.stack(
            [
                np.broadcast_to(case.initial(x), (len(t), n)),
                3 * case.forcing(t, x),
                np.full((len(t), n), 20 * case.viscosity - 1),
                np.broadcast_to(t / HORIZON, (len(t), n)),
            ]
        )
        for case in cases
    ]
    return np.stack(rows).astype(np.float32)


def labels(cases: Sequence[BurgersInput]) -> Single:
    """Training inputs are smooth (modes up to 4, ν ≥ 0.025): 192 points leave 1e-10."""
    return burgers.solve(list(cases), TIMES, 192, 6)[:, None, :, ::4].astype(np.float32)


def problem(case: BurgersInput, points: int | None = None) -> equations.Burgers:
    return equations.Burgers(case.initial, case.viscosity, TIMES, case.forcing, points=points or COMPARED)


def references(cases: Sequence[BurgersInput], level: str = "first") -> list[Reference]:
    """Terminal states."""
    found = burgers.pairs(list(cases), TIMES, COMPARED, level)
    return [Reference(pair.coarse[-1], pair.fine[-1]) for pair in found]


BURGERS = Equation(
    name="burgers",
    title="Burgers",
    label="B",
    input=BurgersInput,
    features=features,
    labels=labels,
    inputs=4,
    outputs=1,
    grid=(ROWS, POINTS),
    axes=("time", "x"),
    periodic=True,
    constraint=InitialRow(),
    sizes={
        "smoke": NetworkSize(fno_width=4, fno_modes=(4, 6), cno_multiplier=4),
        "laptop": NetworkSize(fno_width=16, fno_modes=(6, 12), cno_multiplier=8),
        "paper": NetworkSize(fno_width=24, fno_modes=(6, 12), cno_multiplier=37),
    },
    learning_rates={"fno": 2e-3, "cno": 2e-3},
    problem=problem,
    mistaken=Misstated("viscosity", 2.0),
    points=COMPARED,
    references=references,
    solver=burgers,
    coarse_solves=(CoarseSolve(192), CoarseSolve(96, substeps=2), CoarseSolve(48, substeps=1)),
    certified=Certified(corrections=3, target="continuum"),
    claimed=Claimed(pairs=0.985, top1=0.95),
    in_paper=True,
)
