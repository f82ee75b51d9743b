"""Sine–Gordon and diffusion–reaction cases with made candidates, and what their energy certificates decide.

Networks play no part here. Candidates are the reference plus smooth errors that grow and drift, of 2
to 20 % at the end, and three more whose errors are as large as another one's to 1 %, 0.1 % and 0.01 %.
"""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from physrank import equations, ranking
from physrank.certificates import DiffusionReactionEnergy, SineGordonEnergy
from physrank.geometry import gaps_of
from physrank.geometry.space import Array
from physrank.lab.equations.diffusion_reaction import DIFFUSION_REACTION
from physrank.lab.equations.sine_gordon import SINE_GORDON
from physrank.lab.inputs import SineGordonInput, diffusion_reaction_cells, shifted_strata
from physrank.lab.references import pdebench, sine_gordon
from physrank.lab.studies._kit.cases import Context
from physrank.physics import Problem

SPREAD = np.geomspace(0.02, 0.2, 6)
ERRORS = [*SPREAD, *SPREAD[3] * np.array([1.01, 1.001, 1.0001])]
CORRECTIONS, TIE = 4, 1e-6
ARITHMETIC = 2  # of the certificates: raised when what they compute changes
COLUMNS = ("non_ties", "non_ties_certified", "wrong", "radius", "distance", "seconds")


@dataclass(frozen=True, eq=False)
class Case:
    problem: Problem
    reference: Array  # what the candidates deviate from
    errors: list[Array]  # one trajectory of errors per candidate, of size one at the end
    targets: dict[str, tuple[Any, Array | None]]  # certificate and terminal target; None: the same-grid solution

    @property
    def library(self) -> dict[str, Array]:
        size = np.linalg.norm(self.reference[-1])
        return {f"{s:.3%}": self.reference + s * size * e for s, e in zip(ERRORS, self.errors, strict=True)}


def sine_gordon_cases(count: int, small: bool) -> Iterator[Case]:
    times, points = np.linspace(0, 1, 49), 96 if small else 384
    for k, stratum in enumerate(shifted_strata(count)):
        case, random = SineGordonInput.sample("development", k, stratum), np.random.default_rng(k)
        problem = equations.SineGordon(case.initial, case.velocity, times, case.speed, case.forcing, points=points)
        exact = sine_gordon.solve_adaptively(case, times, points, rtol=1e-12)
        modes = np.stack([f(m * problem.grid.axes[0]) / m for m in range(1, 9) for f in (np.cos, np.sin)])
        errors = [_drifting(random, times, random.standard_normal((2, 2, 16)) @ modes) for _ in ERRORS]
        targets = {"same grid": (SineGordonEnergy(), None), "continuum": (SineGordonEnergy("continuum"), exact[-1])}
        yield Case(problem, exact, errors, targets)


def diffusion_reaction_cases(count: int, small: bool) -> Iterator[Case]:
    cells, times = 24 if small else 128, np.linspace(0, 5, 101)
    x = np.pi * (np.arange(cells) + 0.5) / cells
    pairs = [(a, b) for a in range(6) for b in range(6)]
    modes = np.stack([np.outer(np.cos(a * x), np.cos(b * x)) / np.sqrt(1 + a * a + b * b) for a, b in pairs])
    for k in range(count):
        random, start = np.random.default_rng(k), diffusion_reaction_cells("development", k, cells)
        frames = pdebench.diffusion_reaction(start, times, rtol=1e-6, atol=1e-9)[9:]
        shapes = [np.tensordot(random.standard_normal((2, 2, 36)), modes, 1) for _ in ERRORS]
        errors = [_drifting(random, times[9:] - times[9], shape) for shape in shapes]
        problem = equations.DiffusionReaction(frames[0], times[9:])
        yield Case(problem, frames, errors, {"same grid": (DiffusionReactionEnergy(), None)})


CASES: dict[str, Callable[[int, bool], Iterator[Case]]] = {
    SINE_GORDON.name: sine_gordon_cases,
    DIFFUSION_REACTION.name: diffusion_reaction_cases,
}


def _drifting(random: np.random.Generator, times: Array, shapes: Array) -> Array:
    """√t (a cos ωt + b sin ωt): errors that start with the first predicted row and drift."""
    angle = random.uniform(0.5, 2) * times
    error = np.tensordot((np.sqrt(times) * np.stack([np.cos(angle), np.sin(angle)])).T, shapes, 1)
    return error / np.linalg.norm(error[-1])


def coverage(context: Context) -> dict[str, list[dict[str, Any]]]:
    """`equation, target` → what is decided after 1 … 4 corrections."""
    small = context.profile.evaluation < 48
    count = 2 if small else 12
    found: dict[str, list[dict[str, Any]]] = {}
    for name, cases in CASES.items():

        def make(name: str = name, cases: Any = cases) -> dict[str, Array]:
            rows: dict[str, list[Array]] = {}
            given = ((case,) for case in cases(count, small))
            for measured in context.each(f"{name} certificates", _measure, given, count):
                for target, table in measured.items():
                    rows.setdefault(target, []).append(table)
            return {target: np.stack(tables) for target, tables in rows.items()}

        key = {
            "equation": name,
            "count": count,
            "small": small,
            "corrections": CORRECTIONS,
            "errors": list(ERRORS),
            "arithmetic": ARITHMETIC,
        }
        for target, tables in context.cached("energies", key, make).items():
            found[f"{name}, {target}"] = [_row(tables[:, k], k + 1) for k in range(CORRECTIONS)]
    return found


def _measure(case: Case) -> dict[str, Array]:
    """Per target, a row for each number of corrections, with the columns named above."""
    rankings = [ranking.rank(case.problem, case.library, anchor="mean")]
    for _ in range(CORRECTIONS):
        rankings.append(rankings[-1].corrected())
    solution, upper = rankings[-1].state[-1], np.triu_indices(len(ERRORS), 1)
    tables: dict[str, list[tuple[float, ...]]] = {target: [] for target in case.targets}
    for current in rankings[:CORRECTIONS]:
        for target, (certificate, known) in case.targets.items():
            started = time.perf_counter()
            proof = certificate(case.problem, current)
            seconds = time.perf_counter() - started
            end = solution if known is None else known
            gaps, signs = gaps_of(current.space, current.outputs, end)[upper], proof.gaps.signs[upper]
            real = np.abs(gaps) > TIE
            wrong = np.sum((signs != 0) & (signs != np.sign(gaps)))
            distance = float(current.space.norm(current.proxy - end))
            tables[target].append((real.sum(), np.sum(signs[real] != 0), wrong, proof.state_bound, distance, seconds))
    return {target: np.array(rows, float) for target, rows in tables.items()}


def _row(table: Array, corrections: int) -> dict[str, Any]:
    column = dict(zip(COLUMNS, table.T, strict=True))
    return {
        "corrections": corrections,
        "cases": len(table),
        **{name: int(column[name].sum()) for name in COLUMNS[:3]},
        "median_radius": float(np.median(column["radius"])),
        "largest_radius": float(column["radius"].max()),
        "median_distance": float(np.median(column["distance"])),
        "median_seconds": float(np.median(column["seconds"])),
    }
