"""Small problems of every kind over virtual devices, in a process of its own; prints what was found as JSON."""

import json
import sys
from dataclasses import asdict

import jax
import numpy as np

import physrank as pr
from physrank import _division, compute
from physrank.physics import Correction, respond
from physrank.rungs.solve import solved
from physrank.scale.devices import footprint


def waves(*points, nodes=False):
    """Coordinates in [0, 1], and a smooth field with no symmetry."""
    axes = [np.linspace(0, 1, n) if nodes else (np.arange(n) + 0.5) / n for n in points]
    x = np.meshgrid(*axes, indexing="ij")
    return x, np.prod([np.cos(2 * np.pi * (c - 0.1 * k)) for k, c in enumerate(x)], axis=0)


def reaction_diffusion(*points):
    x, wave = waves(*points, nodes=True)
    problem = pr.equations.ReactionDiffusion(1 + 0.4 * wave, 10 * x[0], 1.0, 0.5)
    return problem, 0.1 * np.prod([np.sin(np.pi * c) for c in x], axis=0)


def diffusion_reaction(cells, rows):
    _, wave = waves(cells, cells)
    initial = np.stack([0.5 * wave, 0.3 * wave.T])
    return pr.equations.DiffusionReaction(initial, 0.05 * np.arange(rows)), trajectory(initial, rows)


def flow(boundary, rows, *cells):
    _, wave = waves(*cells)
    fields = [1 + 0.2 * wave, *[0.1 * wave * (k + 1) for k in range(len(cells))], 1 - 0.1 * wave]
    initial = pr.equations.conservative(np.stack(fields), 5 / 3)
    times = 0.01 * np.arange(rows)
    problem = pr.equations.CompressibleFlow(initial, times, boundary, shear=1e-3, bulk=1e-3, substeps="auto")
    return problem, trajectory(initial, rows)


def trajectory(initial, rows):
    return np.stack([initial * (1 + 0.01 * k) for k in range(rows)])


CASES = {
    "reaction–diffusion": lambda: reaction_diffusion(35, 35),  # 33 interior nodes: divided evenly by nobody
    "diffusion–reaction": lambda: diffusion_reaction(34, 3),
    "flow": lambda: flow("outflow", 2, 36, 36),
    "flow on a line": lambda: flow("periodic", 2, 64),
}

FEW = ("reaction–diffusion", "flow on a line")  # an iteration with transforms, and an explicit march
MEASURED = ("reaction–diffusion",)  # on two devices, too


def off(found, expected):
    return float(np.max(np.abs(found - expected)) / np.max(np.abs(expected)))


def tried(problem, state, devices):
    """A response and a solve on one device and on several: how far they differ, and what travels."""
    alone, alone_solved = compute.run(respond, problem, state, Correction()), compute.run(solved, problem, state)
    rows = {}
    for count in devices:
        with pr.sharded(count):
            response, solution = compute.run(respond, problem, state, Correction()), compute.run(solved, problem, state)
            taken = footprint(problem, state, "solve")
        rows[count] = {
            "response": off(response.state, alone.state),
            "iterations": [int(response.iterations), int(alone.iterations)],
            "solved": bool(response.solved),
            "solve": off(solution.state, alone_solved.state),
            "share": state.nbytes / count,
            "taken": asdict(taken),
        }
    return rows


def sabotaged(problem, state):
    """Transforms as the compiler divides them."""
    _division.transformed, kept = lambda along, x, dims, back=False: along(1, along(0, x)), _division.transformed
    with pr.sharded(8):
        compute.divided.cache_clear()
        taken = footprint(problem, state, "solve")
    _division.transformed = kept
    return {"share": state.nbytes / 8, "taken": asdict(taken)}


def climbed():
    """`rank` as it comes climbs the ladder, on one device and on eight; its lower rungs are too small to be divided."""
    problem, state = CASES["reaction–diffusion"]()
    candidates = {"a": state, "b": 1.4 * state, "c": 0.6 * state}
    alone = pr.rank(problem, candidates)
    with pr.sharded(8):
        many = pr.rank(problem, candidates)
    rungs = [[spent.rung for spent in ranking.effort] for ranking in (alone, many)]
    settled = bool(np.array_equal(many.settled_pairs, alone.settled_pairs))
    return {"off": off(many.scores, alone.scores), "rungs": rungs, "settled": settled}


def as_one_of_two(process, port):
    """A whole ranking in one of two processes that have two devices each; sets JAX up, so it is called first."""
    jax.distributed.initialize(f"localhost:{port}", num_processes=2, process_id=process)
    problem, state = CASES["reaction–diffusion"]()
    candidates = {"a": state, "b": 1.01 * state, "c": 0.97 * state}
    alone = pr.rank(problem, candidates, effort="response")
    with pr.sharded():
        ranking = pr.rank(problem, candidates, effort="response")
    return {"devices": len(jax.devices()), "local": len(jax.local_devices()), "off": off(ranking.scores, alone.scores)}


if __name__ == "__main__":
    if sys.argv[1:] == ["ladder"]:
        print(json.dumps(climbed()))
        sys.exit()
    if sys.argv[1:] == ["others"]:
        print(json.dumps({name: tried(*case(), (8,)) for name, case in CASES.items() if name not in FEW}))
        sys.exit()
    if len(sys.argv) > 1:
        print(json.dumps(as_one_of_two(int(sys.argv[1]), int(sys.argv[2]))))
        sys.exit()
    found = {name: tried(*CASES[name](), (2, 8) if name in MEASURED else (8,)) for name in FEW}
    found["sabotaged"] = sabotaged(*CASES["reaction–diffusion"]())
    json.dump(found, sys.stdout)
