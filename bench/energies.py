"""How many pairs the energy certificates decide after one to four corrections, on inputs of the laboratory's laws.

    python bench/energies.py [--inputs 12] [--cells 128] [--only NAME …]

Candidates are the reference plus smooth errors of 2 to 20 %, and three more whose errors are as large as another one's to
1 %, 0.1 % and 0.01 %. A pair counts when its true gap, to the certificate's own target, exceeds 1e-6. Prints one line per
target and number of corrections.
"""

import argparse
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

import physrank as pr
from physrank.certificates._terminal import defects, from_initial
from physrank.certificates.diffusion_reaction import DiffusionReactionEnergy
from physrank.certificates.sine_gordon import SineGordonEnergy
from physrank.geometry import gaps_of
from physrank.geometry.space import Array
from physrank.lab.inputs import SineGordonInput, diffusion_reaction_cells, shifted_strata
from physrank.lab.references import pdebench, sine_gordon
from physrank.physics import Problem

SPREAD = np.geomspace(0.02, 0.2, 6)
SIZES = [*SPREAD, *SPREAD[3] * np.array([1.01, 1.001, 1.0001])]
CORRECTIONS, TIE = 4, 1e-6


@dataclass(frozen=True, eq=False)
class Case:
    problem: Problem
    reference: Array  # what the candidates deviate from
    errors: list[Array]  # one trajectory of errors per candidate, of size one at the end
    targets: dict[str, tuple[Any, Array | None]]  # certificate and terminal target; None: the same-grid solution

    @property
    def library(self) -> dict[str, Array]:
        size = np.linalg.norm(self.reference[-1])
        return {f"{s:.3%}": self.reference + s * size * e for s, e in zip(SIZES, self.errors, strict=True)}


def sine_gordon_cases(count: int, _: int) -> Iterator[Case]:
    times, points = np.linspace(0, 1, 49), 384
    for k, stratum in enumerate(shifted_strata(count)):
        case, random = SineGordonInput.sample("development", k, stratum), np.random.default_rng(k)
        problem = pr.equations.SineGordon(case.initial, case.velocity, times, case.speed, case.forcing, points=points)
        exact = sine_gordon.solve_adaptively(case, times, points, rtol=1e-12)
        modes = np.stack([f(m * problem.grid) / m for m in range(1, 9) for f in (np.cos, np.sin)])
        errors = [drifting(random, times, random.standard_normal((2, 2, 16)) @ modes) for _ in SIZES]
        targets = {"grid": (SineGordonEnergy(), None), "continuum": (SineGordonEnergy("continuum"), exact[-1])}
        yield Case(problem, exact, errors, targets)


def diffusion_reaction_cases(count: int, cells: int) -> Iterator[Case]:
    times, x = np.linspace(0, 5, 101), np.pi * (np.arange(cells) + 0.5) / cells
    pairs = [(a, b) for a in range(6) for b in range(6)]
    modes = np.stack([np.outer(np.cos(a * x), np.cos(b * x)) / np.sqrt(1 + a * a + b * b) for a, b in pairs])
    for k in range(count):
        random, start = np.random.default_rng(k), diffusion_reaction_cells("development", k, cells)
        frames = pdebench.diffusion_reaction(start, times, rtol=1e-6, atol=1e-9)[9:]
        shapes = [np.tensordot(random.standard_normal((2, 2, 36)), modes, 1) for _ in SIZES]
        errors = [drifting(random, times[9:] - times[9], shape) for shape in shapes]
        problem = pr.equations.DiffusionReaction(frames[0], times[9:])
        yield Case(problem, frames, errors, {"grid": (DiffusionReactionEnergy(), None)})


CASES = {"sine_gordon": sine_gordon_cases, "diffusion_reaction": diffusion_reaction_cases}


def drifting(random: np.random.Generator, times: Array, shapes: Array) -> Array:
    """√t (a cos ωt + b sin ωt): errors that start with the first predicted row and drift."""
    angle = random.uniform(0.5, 2) * times
    error = np.tensordot((np.sqrt(times) * np.stack([np.cos(angle), np.sin(angle)])).T, shapes, 1)
    return error / np.linalg.norm(error[-1])


def measure(case: Case) -> Iterator[tuple[tuple[str, int], tuple[float, ...]]]:
    """Per target and number of corrections: pairs, decided, wrong, radius, true distance, radius per defect, seconds."""
    problem, candidates = case.problem, case.library
    rankings = [pr.rank(problem, candidates)]
    for _ in range(CORRECTIONS):
        rankings.append(pr.rank(problem, candidates, anchor=rankings[-1].state))
    solution, upper = rankings[-1].state[-1], np.triu_indices(len(candidates), 1)
    for count, ranking in enumerate(rankings[:CORRECTIONS], start=1):
        rows = defects(problem, from_initial(problem, ranking.state))
        total = np.sqrt(ranking.space.norm_squared(rows)).sum()
        for target, (certificate, known) in case.targets.items():
            started = time.perf_counter()
            found = certificate(problem, ranking)
            seconds = time.perf_counter() - started
            end = solution if known is None else known
            gaps, signs = gaps_of(ranking.space, ranking.outputs, end)[upper], found.gaps.signs[upper]
            counts, wrong = np.abs(gaps) > TIE, np.sum((signs != 0) & (signs != np.sign(gaps)))
            distance = float(ranking.space.norm(ranking.proxy - end))
            values = (found.state_bound, distance, found.state_bound / total, seconds)
            yield (target, count), (counts.sum(), np.sum(signs[counts] != 0), wrong, *values)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--inputs", type=int, default=12)
    parser.add_argument("--cells", type=int, default=128, help="per side, of diffusion–reaction")
    parser.add_argument("--only", nargs="+", choices=list(CASES), default=list(CASES))
    given = parser.parse_args()
    for name in given.only:
        rows: dict[tuple[str, int], list[tuple[float, ...]]] = {}
        for case in CASES[name](given.inputs, given.cells):
            for key, values in measure(case):
                rows.setdefault(key, []).append(values)
        print(f"\n{name}: {given.inputs} inputs, {len(SIZES)} candidates; radius, ratios and seconds are medians")
        print("target    corrections  decided         wrong    radius  largest  over true  over defects  seconds")
        for (target, count), values in sorted(rows.items()):
            pairs, decided, wrong, radius, true, growth, seconds = np.array(values).T
            print(
                f"{target:<9} {count:>11}  {decided.sum():>4.0f} / {pairs.sum():<4.0f} {wrong.sum():>9.0f} "
                f"{np.median(radius):>9.1e} {radius.max():>8.1e} {np.median(radius / true):>10.1f} "
                f"{np.median(growth):>13.2g} {np.median(seconds):>8.2f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
