"""One large solve over 1, 2, 4 and 8 virtual devices: what travels, what each of them holds, and how far results differ.

    python bench/devices.py [--out results/devices.json]

Virtual devices share one machine, so that no times are measured. Everything is compiled twice, to be run and to be looked at;
minutes.
"""

import argparse
import os
import tempfile
from pathlib import Path
from typing import Any

os.environ["XLA_FLAGS"] = f"{os.environ.get('XLA_FLAGS', '')} --xla_force_host_platform_device_count=8"
os.environ.setdefault("JAX_COMPILATION_CACHE_DIR", tempfile.mkdtemp(prefix="physrank-devices-"))

import numpy as np

import physrank as pr
from physrank import compute
from physrank._io import write_json
from physrank.lab.store.provenance import stamp
from physrank.physics import Correction, respond_and_look
from physrank.rungs.solve import solved
from physrank.scale.devices import footprint

COUNTS = (1, 2, 4, 8)
Case = tuple[Any, np.ndarray]


def wave(*axes: np.ndarray) -> np.ndarray:
    """Smooth, without symmetry."""
    shifted = [np.cos(2 * np.pi * (x - 0.1 * k)) for k, x in enumerate(np.meshgrid(*axes, indexing="ij"))]
    return np.prod(shifted, axis=0)


def centres(cells: int) -> np.ndarray:
    return (np.arange(cells) + 0.5) / cells


def reaction_diffusion(nodes: int, dims: int) -> Case:
    axes = [np.linspace(0, 1, nodes)] * dims
    inside = np.prod([np.sin(np.pi * x) for x in np.meshgrid(*axes, indexing="ij")], axis=0)
    return pr.equations.ReactionDiffusion(1 + 0.4 * wave(*axes), 10 * inside, 1.0, 0.5), 0.1 * inside


def diffusion_reaction(cells: int, rows: int) -> Case:
    field = wave(centres(cells), centres(cells))
    initial = np.stack([0.5 * field, 0.3 * field.T])
    return pr.equations.DiffusionReaction(initial, 0.05 * np.arange(rows)), growing(initial, rows)


def flow(cells: int, dims: int, rows: int, boundary: Any) -> Case:
    field = wave(*[centres(cells)] * dims)
    primitive = np.stack([1 + 0.2 * field, *[0.1 * field] * dims, 1 - 0.1 * field])
    initial, times = pr.equations.conservative(primitive, 5 / 3), np.arange(rows) / cells
    problem = pr.equations.CompressibleFlow(initial, times, boundary, shear=1e-3, bulk=1e-3, substeps="auto")
    return problem, growing(initial, rows)


def growing(initial: np.ndarray, rows: int) -> np.ndarray:
    return np.stack([initial * (1 + 0.01 * k) for k in range(rows)])


CASES = {
    "reaction–diffusion, 514²": lambda: reaction_diffusion(514, 2),
    "reaction–diffusion, 66³": lambda: reaction_diffusion(66, 3),
    "diffusion–reaction, 128² × 6 rows": lambda: diffusion_reaction(128, 6),
    "compressible flow, 250² × 4 rows, outflow": lambda: flow(250, 2, 4, "outflow"),
    "compressible flow, 4096 × 4 rows, periodic": lambda: flow(4096, 1, 4, "periodic"),
}


def off(found: Any, expected: Any) -> float:
    return float(np.max(np.abs(found.state - expected.state)) / np.max(np.abs(expected.state)))


def measured(problem: Any, state: np.ndarray) -> dict[str, Any]:
    programs = {"response": (respond_and_look, Correction()), "solve": (solved,)}
    rows: dict[str, Any] = {"state": state.nbytes}
    for what, (function, *fixed) in programs.items():
        expected, rows[what] = compute.run(function, problem, state, *fixed), []
        for count in COUNTS:
            with pr.sharded(count):
                found, taken = compute.run(function, problem, state, *fixed), footprint(problem, state, what)  # pyright: ignore[reportArgumentType]
            difference = off(*(pair[0] if what == "response" else pair for pair in (found, expected)))
            rows[what].append({"difference": difference, **vars(taken)})
    return rows


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path)
    out = parser.parse_args().out
    results = {}
    for name, case in CASES.items():
        results[name] = measured(*case())
        for row in results[name]["response"]:
            print(name, row, flush=True)
        if out is not None:
            write_json(out, stamp({"results": results}))
