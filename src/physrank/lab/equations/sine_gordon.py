"""Sine–Gordon in the laboratory: displacement and velocity on 48 × 48 space–time points; compared at the end, on 384."""

from collections.abc import Sequence

import numpy as np

from physrank import equations
from physrank.lab.equations.constraint import InitialRow
from physrank.lab.equations.equation import CoarseSolve, Equation, Misstated, Proofs, Single, channels
from physrank.lab.equations.space_time import COMPARED, LEARNING_RATES, POINTS, ROWS, SIZES
from physrank.lab.inputs import SineGordonInput
from physrank.lab.inputs.sine_gordon import HORIZON, LENGTH
from physrank.lab.references import sine_gordon
from physrank.lab.references.reference import Reference

TIMES = np.linspace(0, HORIZON, ROWS)


def features(cases: Sequence[SineGordonInput], points: int | None = None) -> Single:
    """u₀, v₀, f, c, t."""
    n = points or POINTS
    x, t = np.arange(n) * LENGTH / n, TIMES[:, None]
    return channels(
        cases,
        (ROWS, n),
        lambda c: (c.initial(x), c.velocity(x), 3 * c.forcing(t, x), 2.5 * (c.speed - 1), t / HORIZON),
    )


def labels(cases: Sequence[SineGordonInput]) -> Single:
    """Training inputs are smooth (modes up to 4): 192 points and sixteen steps a row leave 1e-5."""
    rows = sine_gordon.solve(list(cases), TIMES, 192, 16 * (ROWS - 1))[..., ::4]
    return np.moveaxis(rows, 2, 1).astype(np.float32)


def problem(case: SineGordonInput, points: int | None = None) -> equations.SineGordon:
    n = points or COMPARED
    return equations.SineGordon(case.initial, case.velocity, TIMES, case.speed, case.forcing, points=n)


def references(cases: Sequence[SineGordonInput], level: str = "first") -> list[Reference]:
    """Terminal displacement and velocity."""
    return [found.at_end() for found in sine_gordon.references(list(cases), TIMES, COMPARED, level)]


SINE_GORDON = Equation(
    name="sine_gordon",
    title="Sine–Gordon",
    label="SG",
    input=SineGordonInput,
    features=features,
    labels=labels,
    inputs=5,
    outputs=2,
    grid=(ROWS, POINTS),
    axes=("time", "channel", "x"),
    periodic=True,
    constraint=InitialRow(channels=(0, 1)),
    sizes=SIZES,
    learning_rates=LEARNING_RATES,
    problem=problem,
    mistaken=Misstated("speed", 0.5),
    points=COMPARED,
    references=references,
    solver=sine_gordon,
    coarse_solves=(CoarseSolve(192), CoarseSolve(96), CoarseSolve(48)),
    certified=Proofs(corrections=4, target="same grid"),
)
