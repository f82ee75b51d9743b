"""How much the certificate for data that jump decides, and what it costs: made libraries around a computed solution.

    python bench/jumps.py --out results/jumps.json [--libraries 3]

Eight candidates, 2 to 6 % off in a few smooth modes; −∇·(a∇u) + u/2 + 0.8 u³ = f with a = 1 but for a square or a layer in
the middle, whose lines lie on nodes of the grid (63 and 127 interior nodes per side) or between them (64 and 128). The width
is half that of an interval over the median gap, in the median over pairs; the cost, in processor time, is that of as many
responses, each of which ranks a library.
"""

import argparse
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import physrank as pr
from physrank._io import write_json
from physrank.lab.store.provenance import stamp

CANDIDATES, LINES = 8, (0.25, 0.75)
SHAPES: dict[str, Callable[[float], pr.certificates.Pieces]] = {
    "square": lambda c: pr.certificates.Pieces((LINES, LINES), ((1, 1, 1), (1, c, 1), (1, 1, 1))),
    "layer": lambda c: pr.certificates.Pieces((LINES, ()), ((1,), (c,), (1,))),
}


def forcing(x: Any, y: Any) -> Any:
    return 10 * np.sin(np.pi * x) * np.sin(np.pi * y) + 3 * x * y


def library(problem: Any, seed: int) -> dict[str, np.ndarray]:
    random = np.random.default_rng(seed)
    state, failed = pr.scorers.DirectSolve().solution(problem, problem.state_shape)
    assert failed is None
    x, y = np.meshgrid(*(np.linspace(0, np.pi, n) for n in state.shape), indexing="ij")
    found = {}
    for k in range(CANDIDATES):
        modes = [(random.standard_normal(), *random.integers(1, 6, 2)) for _ in range(4)]
        off = sum(size * np.sin(i * x) * np.sin(j * y) for size, i, j in modes)
        found[f"c{k}"] = state + off * random.uniform(0.02, 0.06) * np.linalg.norm(state) / np.linalg.norm(off)
    return found


def row(shape: str, contrast: float, points: int, libraries: int) -> dict[str, Any]:
    a = SHAPES[shape](contrast)
    problem = pr.equations.ReactionDiffusion(a, forcing, linear=0.5, cubic=0.8, points=points)
    by, decided, widths, costs, cells = pr.certificates.RoughReactionDiffusion(a, forcing), 0, [], [], []
    for seed in range(libraries):
        candidates = library(problem, seed)
        ranking = pr.rank(problem, candidates, effort="response")  # compiles
        seconds = []
        for _ in range(3):
            started = time.process_time()
            ranking = pr.rank(problem, candidates, effort="response")
            seconds.append(time.process_time() - started)
        started = time.process_time()
        certificate = pr.certify(problem, ranking, by=by)
        costs.append((time.process_time() - started) / min(seconds))
        assert not certificate.failed
        pairs = np.triu_indices(CANDIDATES, 1)
        width = (certificate.gaps.high - certificate.gaps.low)[pairs] / 2
        widths.append(float(np.median(width) / np.median(np.abs(ranking.gaps[pairs]))))
        decided += certificate.certified_pairs[0]
        cells.append(str(certificate.enclosure.assumptions[-2].measured).rpartition(" on ")[2])
    return {
        "shape": shape,
        "contrast": contrast,
        "points": points,
        "decided": decided,
        "pairs": libraries * CANDIDATES * (CANDIDATES - 1) // 2,
        "width": float(np.median(widths)),
        "responses": float(np.median(costs)),
        "most_responses": float(np.max(costs)),
        "meshes": cells,
    }


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("--out", type=Path, required=True)
    asked.add_argument("--libraries", type=int, default=3)
    given = asked.parse_args()
    rows = []
    for shape in SHAPES:
        for contrast in (10.0, 1000.0):
            for points in (63, 64, 127, 128):
                rows.append(row(shape, contrast, points, given.libraries))
                print(rows[-1], flush=True)
    write_json(given.out, stamp({"results": rows}))


if __name__ == "__main__":
    main()
