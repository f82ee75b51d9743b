"""How long the references of all 240 evaluation inputs take, per equation, at the first resolution pair, on two cores.

    python bench/references.py [--only NAME …] [--out results/references.json]

Results are written after every equation; an interrupted run goes on with those that are missing.
"""

import argparse
import json
import os
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = "1"

import numpy as np  # noqa: E402

from physrank._io import write_json  # noqa: E402
from physrank.lab.inputs import (  # noqa: E402
    BurgersInput,
    ReactionDiffusionInput,
    ShockTube,
    SineGordonInput,
    diffusion_reaction_cells,
    random_flow_2d,
    shifted_strata,
)
from physrank.lab.references import burgers, pdebench, reaction_diffusion, sine_gordon  # noqa: E402
from physrank.lab.store.provenance import stamp  # noqa: E402

COUNT, CHUNK, CORES = 240, 24, 2
STRATA = shifted_strata(COUNT)


def burgers_chunk(first: int) -> list[float]:
    cases = [BurgersInput.sample("evaluation", k, STRATA[k]) for k in range(first, first + CHUNK)]
    return [r.difference for r in burgers.references(cases, np.linspace(0, 0.2, 48), 384)]


def sine_gordon_chunk(first: int) -> list[float]:
    cases = [SineGordonInput.sample("evaluation", k, STRATA[k]) for k in range(first, first + CHUNK)]
    return [r.difference for r in sine_gordon.references(cases, np.linspace(0, 1, 49), 384)]


def reaction_diffusion_chunk(first: int) -> list[float]:
    cases = [ReactionDiffusionInput.sample("evaluation", k, STRATA[k]) for k in range(first, first + CHUNK)]
    return [reaction_diffusion.reference(case, 128).difference for case in cases]


def diffusion_reaction_chunk(first: int) -> list[float]:
    cells = [diffusion_reaction_cells("evaluation", k) for k in range(first, first + CHUNK)]
    return [pdebench.diffusion_reaction_reference(c, np.linspace(0, 5, 101)).difference for c in cells]


def shock_tube_chunk(first: int) -> list[float]:
    tubes = [ShockTube.sample("evaluation", k) for k in range(first, first + CHUNK)]
    times = np.linspace(0, 0.1, 11)
    return [pdebench.flow_reference(t.primitive(512), times, 128, "outflow", gamma=1.4).difference for t in tubes]


def flow_2d_chunk(first: int) -> list[float]:
    starts = [random_flow_2d("evaluation", k, 64) for k in range(first, first + CHUNK)]
    times = np.linspace(0, 0.05, 6)
    return [
        pdebench.flow_reference(s, times, 16, "periodic", gamma=5 / 3, shear=0.01, bulk=0.01).difference for s in starts
    ]


RUNS: dict[str, Callable[[int], list[float]]] = {
    "burgers": burgers_chunk,
    "sine_gordon": sine_gordon_chunk,
    "reaction_diffusion": reaction_diffusion_chunk,
    "diffusion_reaction": diffusion_reaction_chunk,
    "shock_tubes": shock_tube_chunk,
    "flow_2d": flow_2d_chunk,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="+", choices=list(RUNS))
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    found = json.loads(given.out.read_text(encoding="utf-8"))["results"] if given.out and given.out.exists() else {}
    for name in given.only or [name for name in RUNS if name not in found]:
        started = time.perf_counter()
        with ProcessPoolExecutor(CORES) as pool:
            bars = [bar for chunk in pool.map(RUNS[name], range(0, COUNT, CHUNK)) for bar in chunk]
        minutes = (time.perf_counter() - started) / 60
        found[name] = {
            "inputs": COUNT,
            "minutes": minutes,
            "median": float(np.median(bars)),
            "largest": max(bars),
            "commit": stamp({})["provenance"]["commit"],  # rows of a resumed run may come from different commits
        }
        print(
            f"{name}: {COUNT} references in {minutes:.1f} minutes (asked < 15); coarse to fine, largest point change: "
            f"median {np.median(bars):.1e}, worst {max(bars):.1e}",
            flush=True,
        )
        if given.out:
            write_json(given.out, stamp({"cores": CORES, "results": found}))


if __name__ == "__main__":
    main()
