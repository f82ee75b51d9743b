"""Benchmarks of the ladder: whole calls of `rank` against solving the same equation on the same grid, in one run."""

import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np

import physrank as pr
from physrank import compute
from physrank.lab.demo import DemoData
from physrank.lab.equations import EQUATIONS
from physrank.lab.inputs import SineGordonInput, diffusion_reaction_cells
from physrank.lab.references import pdebench
from physrank.ranking.candidates import Candidates
from physrank.rungs.solve import solved as solved_on_grid

TIE = 1e-6  # excess of squared loss that would not matter, as in the studies
RAW, PLAIN = pr.scorers.RawResidual(), pr.scorers.SharedResponse()
COLD = "import physrank as pr, numpy as np, time; from physrank.lab.demo import DemoData; d = DemoData.load(); "


def solved(problem: pr.Problem, shape: tuple[int, ...]) -> Any:
    return compute.run(solved_on_grid, problem, np.zeros(shape))


def library(
    truth: np.ndarray, number: int = 8, seed: int = 0, window: np.ndarray | float = 1.0
) -> dict[str, np.ndarray]:
    """Predictions 2 to 6 % off in even steps, most where `window` is one; initial rows are the truth's. Smooth and
    rough parts are mixed in another proportion for each, as in networks: else any residual would order them."""
    random, found = np.random.default_rng(seed), {}
    if truth.shape[0] != truth.shape[-1]:
        window = window * np.linspace(0, 1, truth.shape[0]).reshape(-1, *[1] * (truth.ndim - 1))
    for k in range(number):
        size, rough = 0.02 + 0.005 * k, random.uniform(0, 0.2)
        noise = random.standard_normal(truth.shape)
        for axis in range(truth.ndim):
            for _ in range(4):
                noise = (noise + np.roll(noise, 1, axis) + np.roll(noise, -1, axis)) / 3
        noise = noise / np.sqrt(np.mean(noise**2)) + rough * random.standard_normal(truth.shape)
        found[f"m{k}"] = truth + size * np.sqrt(np.mean(truth**2)) * noise * window
    return found


def field(points: int) -> pr.equations.ReactionDiffusion:
    def force(x: np.ndarray, y: np.ndarray) -> np.ndarray:
        return 40 * np.sin(np.pi * x) * np.sin(2 * np.pi * y) + 20 * np.sin(3 * np.pi * x) * np.sin(np.pi * y)

    return pr.equations.ReactionDiffusion(
        lambda x, y: np.exp(0.6 * np.sin(2 * np.pi * x) * np.cos(np.pi * y)), force, 1.0, 0.8, points=points
    )


def pendulum() -> pr.equations.SineGordon:
    return EQUATIONS["sine_gordon"].problem(SineGordonInput.sample("development", 0, "combined"))  # pyright: ignore[reportReturnType]


def cells() -> pr.equations.DiffusionReaction:
    frames = pdebench.diffusion_reaction(diffusion_reaction_cells("development", 0), np.linspace(0, 5, 101))
    return pr.equations.DiffusionReaction(frames[9], np.linspace(0.45, 5, 92))


Given = list[tuple[Any, Candidates]]


def trained(equation: str, library_name: str) -> Given:
    """The shipped inputs with their trained networks."""
    data = DemoData.load()
    problems = [data.problem(equation, k) for k in range(len(data.inputs[equation]))]
    return [(p, Candidates.of(data.candidates(library_name, k), p)) for k, p in enumerate(problems)]


def made(problem: Any) -> Given:
    truth = solved(problem, problem.state_shape).state
    return [(problem, Candidates.of(library(truth), problem))]


CASES: dict[str, tuple[str, Callable[[], Given], str, int]] = {
    "rd": (
        "reaction–diffusion 128², trained networks",
        lambda: trained("reaction_diffusion", "reaction_diffusion-fno-e1"),
        "≤ 0.25",
        9,
    ),
    "rd_512": ("reaction–diffusion 512²", lambda: made(field(512)), "≤ 0.083", 5),
    "burgers": ("Burgers 384 × 47 × 4, trained networks", lambda: trained("burgers", "burgers-fno-e1"), "≤ 0.33", 9),
    "sine_gordon": ("Sine–Gordon 384 × 47 × 4", lambda: made(pendulum()), "≤ 0.33", 25),
    "diffusion_reaction": ("diffusion–reaction 128², 91 steps", lambda: made(cells()), "≤ 0.2", 3),
}


def measure_ladder(results: dict[str, Any], record: Callable[..., None], median_seconds: Callable[..., Any]) -> None:
    for key, (what, make, asked, repeats) in CASES.items():
        given = make()
        functions: dict[str, Callable[[], Any]] = {
            "auto": lambda given=given: [pr.rank(p, c, tolerance=TIE).scores for p, c in given],
            "solve": lambda given=given: [solved(p, c.states.shape[1:]).state for p, c in given],
            "raw residual": lambda given=given: [RAW(p, c).values for p, c in given],
            "response": lambda given=given: [pr.rank(p, c, effort="response").scores for p, c in given],
            "response, no doubt": lambda given=given: [PLAIN(p, c, anchor="auto").values for p, c in given],
        }
        times = {name: seconds / len(given) for name, seconds in median_seconds(functions, repeats).items()}
        record(f"ladder_{key}", f"{what}: rank ÷ a solve on the same grid", times, "auto", "solve", asked)
        record(
            f"doubt_{key}",
            f"{what}: a response with its doubt ÷ without",
            times,
            "response",
            "response, no doubt",
            "≤ 1.5",
        )
        if key == "rd":
            record("ladder_raw", f"{what}: rank ÷ raw residuals of eight", times, "auto", "raw residual", "≤ 1")
        rankings = [pr.rank(p, c, tolerance=TIE) for p, c in given]
        wholes = [pr.rank(p, c, effort="solve", tolerance=TIE) for p, c in given]
        found = {
            "ended on": dict(Counter(ranking.rung.name for ranking in rankings)),
            "settled": sum(ranking.settled for ranking in rankings),
            "same order": sum(a.order == b.order for a, b in zip(rankings, wholes, strict=True)),
            "inputs": len(given),
        }
        results[f"ladder_{key}"] |= found
        print(f"   {found}", flush=True)
    _growth(results)
    _many(record, median_seconds)
    _cold(results)


def _growth(results: dict[str, Any]) -> None:
    """How the time of a whole call grows with the number of unknowns."""
    sizes, seconds = (64, 128, 256, 512), []
    for points in sizes:
        problem = field(points)
        given = Candidates.of(library(solved(problem, problem.state_shape).state), problem)
        pr.rank(problem, given, tolerance=TIE)
        spent = []
        for _ in range(7):
            started = time.perf_counter()
            pr.rank(problem, given, tolerance=TIE)
            spent.append(time.perf_counter() - started)
        seconds.append(float(np.median(spent)))
    exponent = float(np.polyfit(np.log(np.square(sizes)), np.log(seconds), 1)[0])
    results["ladder_growth"] = {
        "what": "reaction–diffusion 64² to 512²: exponent of the time of rank in the number of unknowns",
        "ratio": exponent,
        "asked": "≤ 1.1",
        "seconds": dict(zip(map(str, sizes), seconds, strict=True)),
    }
    print(f"{results['ladder_growth']['what']}: {exponent:.2f} (asked ≤ 1.1)", flush=True)


def _many(record: Callable[..., None], median_seconds: Callable[..., Any]) -> None:
    problem = field(128)
    truth = solved(problem, problem.state_shape).state
    random = np.random.default_rng(0)
    states = truth + 0.02 * random.standard_normal((1000, 1, 1)) * random.standard_normal((1000, *truth.shape))
    given = Candidates(tuple(map(str, range(1000))), states)
    functions = {
        "rank": lambda: pr.rank(problem, given, decide="best", tolerance=TIE).scores,
        "reading": lambda: np.abs(states).max(axis=(1, 2)),
    }
    times = median_seconds(functions, 5)
    record("ladder_many", "1,000 candidates of 128²: rank ÷ reading them once", times, "rank", "reading", "")


def _cold(results: dict[str, Any]) -> None:
    """From a fresh process to the first verdict, compilation and all."""
    found = {}
    for effort in ("auto", "response"):
        rank = f"pr.rank(p, c, effort='{effort}')"
        body = (
            "p, c = d.problem('burgers', 0), d.candidates('burgers-fno-e1', 0); t = time.time(); "
            f"{rank}; print(time.time() - t)"
        )
        done = subprocess.run([sys.executable, "-c", COLD + body], capture_output=True, text=True, check=True)
        found[effort] = float(done.stdout.split()[-1])
    results["ladder_cold"] = {
        "what": "Burgers, first ranking of a process, compilation included: ladder ÷ response",
        "ratio": found["auto"] / found["response"],
        "asked": "",
        "seconds": found,
    }
    print(f"{results['ladder_cold']['what']}: {found['auto'] / found['response']:.2f} — {found}", flush=True)
