"""How the time of a whole `rank` grows, how much memory it takes, and what the first one of a process costs.

    python bench/growth.py size DIMS POINTS REPEATS     one large case alone in its process; prints JSON
    python bench/growth.py start EQUATION EFFORT        the first rankings of a process; prints JSON

The yardstick runs these two as children: a peak of memory, and a cold start, belong to a process.
"""

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from ladder import TIE, library, solved

import physrank as pr
from physrank.lab.demo import DemoData
from physrank.lab.equations import EQUATIONS
from physrank.ranking.candidates import Candidates

LIBRARY = {"burgers": "burgers-fno-e1", "reaction_diffusion": "reaction_diffusion-fno-e1"}
CACHED = {"JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0", "JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES": "0"}


def exponent(sizes: Sequence[float], seconds: Sequence[float]) -> float:
    """Least squares in logarithms."""
    return float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0])


def curve(what: str, sizes: Sequence[int], seconds: Sequence[float]) -> dict[str, Any]:
    """The exponent over all sizes, and that between the last two, where what does not grow matters least."""
    found = {"what": what, "sizes": list(sizes), "seconds": list(seconds), "exponent": exponent(sizes, seconds)}
    return found | {"last_exponent": exponent(sizes[-2:], seconds[-2:])}


def median(function: Callable[[], Any], repeats: int) -> float:
    """Of so many calls, after one that compiles."""
    function()
    spent = []
    for _ in range(repeats):
        started = time.perf_counter()
        function()
        spent.append(time.perf_counter() - started)
    return float(np.median(spent))


# -- one large case -------------------------------------------------------------------------------------------------


def large(dims: int, points: int) -> tuple[Any, Candidates]:
    """Reaction–diffusion and eight predictions around a coarser solution: the grid itself is never solved on here."""

    def stated(n: int) -> pr.equations.ReactionDiffusion:
        return pr.equations.ReactionDiffusion(
            lambda *x: np.exp(0.6 * np.sin(2 * np.pi * x[0]) * np.cos(np.pi * x[1])),
            lambda *x: 40 * np.prod(np.sin(np.pi * np.stack(x)), axis=0) * (1 + x[0]),
            1.0,
            0.8,
            points=n,
            dims=dims,
        )

    problem, coarse = stated(points), stated(min(points, 128 if dims == 2 else 32))
    truth = pr.lifts.lift(solved(coarse, coarse.state_shape).state, problem.state_shape, "sine")
    edge = np.sin(np.pi * np.linspace(0, 1, points + 2)).clip(0) ** 0.25
    window = edge
    for _ in range(dims - 1):
        window = window[..., None] * edge
    return problem, Candidates.of(library(truth, window=window), problem)


def size(dims: int, points: int, repeats: int) -> dict[str, Any]:
    problem, given = large(dims, points)
    before = peak_bytes()
    spent = median(lambda: pr.rank(problem, given, tolerance=TIE), repeats)
    last = pr.rank(problem, given, tolerance=TIE)
    return {
        "unknowns": points**dims,
        "seconds": spent,
        "peak_bytes": peak_bytes(),
        "peak_bytes_before": before,
        "candidate_bytes": given.states.nbytes,
        "settled": last.settled,
        "ended_on": last.rung.name,
    }


def peak_bytes() -> int:
    """The largest resident memory of this program. Not `ru_maxrss` where Linux tells: that one survives `exec`, so that a
    small child of a large process would seem large."""
    status = Path("/proc/self/status")
    if status.exists():
        line = next(line for line in status.read_text(encoding="utf-8").splitlines() if line.startswith("VmHWM"))
        return 1024 * int(line.split()[1])
    return 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


# -- growth in everything else --------------------------------------------------------------------------------------


def candidates(numbers: Sequence[int], repeats: int, points: int = 128) -> dict[str, Any]:
    problem, given = large(2, points)
    random, truth = np.random.default_rng(0), given.states.mean(axis=0)
    sizes = random.uniform(0.5, 1.5, (max(numbers), 1, 1))
    states = truth + sizes * given.states.std(axis=0) * random.standard_normal((max(numbers), *truth.shape))
    reading, seconds = [], []
    for n in numbers:
        some = Candidates(tuple(map(str, range(n))), states[:n])
        seconds.append(median(lambda some=some: pr.rank(problem, some, decide="best", tolerance=TIE).scores, repeats))
        reading.append(median(lambda some=some: np.abs(some.states).max(axis=(1, 2)), repeats))
    return curve(f"reaction–diffusion {points}²: candidates", numbers, seconds) | {"reading_seconds": reading}


def waves(count: int, rows: int = 48) -> tuple[list[Any], list[Candidates]]:
    """Burgers inputs with made predictions."""
    problems, libraries = [], []
    for k, case in enumerate(EQUATIONS["burgers"].population("development", count)):
        times = np.linspace(0, 0.2 * (rows - 1) / 47, rows)
        problem = pr.equations.Burgers(case.initial, case.viscosity, times, case.forcing)
        problems.append(problem)
        libraries.append(Candidates.of(library(solved(problem, problem.state_shape).state, seed=k), problem))
    return problems, libraries


def steps(numbers: Sequence[int], repeats: int) -> dict[str, Any]:
    """Longer and longer: so many steps of the same length."""
    seconds = []
    for n in numbers:
        (problem,), (given,) = waves(1, n + 1)
        seconds.append(median(lambda p=problem, g=given: pr.rank(p, g, tolerance=TIE), repeats))
    return curve("Burgers, 384 points: steps", numbers, seconds)


def inputs(numbers: Sequence[int], repeats: int) -> dict[str, Any]:
    problems, libraries = waves(max(numbers))
    seconds = [
        median(lambda n=n: list(pr.rank_panel(problems[:n], libraries[:n], tolerance=TIE)), repeats) for n in numbers
    ]
    return curve("Burgers, 384 × 47 steps: inputs of a panel", numbers, seconds)


# -- the first ranking of a process ---------------------------------------------------------------------------------


def start(equation: str, effort: str) -> dict[str, float]:
    data, name = DemoData.load(), LIBRARY[equation]
    spent = []
    for k in (0, 1, 1, 1, 1):
        problem, given = data.problem(equation, k), data.candidates(name, k)
        started = time.perf_counter()
        pr.rank(problem, given, effort=effort, tolerance=TIE)
        spent.append(time.perf_counter() - started)
    return {"first": spent[0], "second": spent[1], "later": float(np.median(spent[2:]))}


def starts(equation: str) -> dict[str, Any]:
    """Fresh processes; the cache's first fills it, the second finds it filled. `process` is from launch to end."""
    found: dict[str, Any] = {"what": f"{EQUATIONS[equation].title}: the first ranking of a process"}
    for effort in ("auto", "response"):
        with tempfile.TemporaryDirectory() as folder:
            cached = {"JAX_COMPILATION_CACHE_DIR": folder, **CACHED}
            for name, more in {"no cache": {}, "filling the cache": cached, "cache filled": cached}.items():
                started = time.perf_counter()
                row = child("start", equation, effort, environment=more)
                found.setdefault(effort, {})[name] = row | {"process": time.perf_counter() - started}
    return found


def child(*arguments: Any, environment: dict[str, str] | None = None) -> dict[str, Any]:
    command = [sys.executable, __file__, *map(str, arguments)]
    kept = {key: value for key, value in os.environ.items() if key != "JAX_COMPILATION_CACHE_DIR"}
    done = subprocess.run(command, capture_output=True, text=True, env=kept | (environment or {}))
    if done.returncode:
        said = (done.stderr.strip().splitlines() or ["it was killed, most likely for want of memory"])[-1]
        raise RuntimeError(f"{' '.join(map(str, arguments))} ended with {done.returncode}: {said}")
    return json.loads(done.stdout.splitlines()[-1])


if __name__ == "__main__":
    what, *given = sys.argv[1:]
    print(json.dumps(size(*map(int, given)) if what == "size" else start(*given)))
