"""Burgers in the laboratory: 48 × 48 space–time grid, space last; compared at the end, on 384 points."""

from collections.abc import Sequence

import numpy as np

from physrank import equations
from physrank.certificates import ValidatedBurgers
from physrank.geometry.space import Array
from physrank.lab.equations.constraint import InitialRow
from physrank.lab.equations.equation import (
    Claimed,
    CoarseSolve,
    Equation,
    Misstated,
    Proofs,
    Single,
    Transition,
    channels,
)
from physrank.lab.equations.space_time import COMPARED, LEARNING_RATES, POINTS, ROWS, SIZES
from physrank.lab.inputs import BurgersInput
from physrank.lab.inputs.burgers import HORIZON, LENGTH
from physrank.lab.references import burgers
from physrank.lab.references.reference import Reference

TIMES = np.linspace(0, HORIZON, ROWS)


def features(cases: Sequence[BurgersInput], points: int | None = None) -> Single:
    """u₀, f, ν, t."""
    n = points or POINTS
    x, t = np.arange(n) * LENGTH / n, TIMES[:, None]
    return channels(cases, (ROWS, n), lambda c: (c.initial(x), 3 * c.forcing(t, x), 20 * c.viscosity - 1, t / HORIZON))


def labels(cases: Sequence[BurgersInput]) -> Single:
    """Training inputs are smooth (modes up to 4, ν ≥ 0.025): 192 points leave 1e-10."""
    return burgers.solve(list(cases), TIMES, 192, 6)[:, None, :, ::4].astype(np.float32)


def problem(case: BurgersInput, points: int | None = None) -> equations.Burgers:
    return equations.Burgers(case.initial, case.viscosity, TIMES, case.forcing, points=points or COMPARED)


def references(cases: Sequence[BurgersInput], level: str = "first") -> list[Reference]:
    """Terminal states."""
    return [found.at_end() for found in burgers.references(list(cases), TIMES, COMPARED, level)]


def second_method(case: BurgersInput) -> Array:
    """The terminal state by an adaptive method of order eight, in divergence form."""
    return burgers.solve_adaptively(case, TIMES[[0, -1]], 2 * COMPARED)[-1, ::2]


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
    sizes=SIZES,
    learning_rates=LEARNING_RATES,
    problem=problem,
    mistaken=Misstated("viscosity", 2.0),
    points=COMPARED,
    references=references,
    solver=burgers,
    coarse_solves=(CoarseSolve(192), CoarseSolve(96, substeps=2), CoarseSolve(48, substeps=1)),
    certified=Proofs(corrections=3, target="continuum", validated=ValidatedBurgers),
    claimed=Claimed(pairs=0.985, top1=0.95),
    transitions=(Transition(192, 384),),
    phase_grids=(96, 192, 384),
    reinferred=(ROWS, COMPARED),
    second_method=second_method,
    in_paper=True,
)
