"""Benchmarks: ratios against named alternatives, measured in one run on one core.

    python bench/run.py [--out results/bench.json]

Every line compares two things timed alternately in this process; the median of each is used. Timers start when the
candidates are on the grid. Compilation is not counted.
"""

import argparse
import os
import resource
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

if hasattr(os, "sched_setaffinity"):
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})  # one core, before any library starts its threads
for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = "1"

import equinox as eqx  # noqa: E402
import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402
import scipy  # noqa: E402
import scipy.sparse as sparse  # noqa: E402
import scipy.sparse.linalg  # noqa: E402
from ladder import measure_ladder  # noqa: E402
from products import measure_products  # noqa: E402

import physrank as pr  # noqa: E402
from physrank._io import write_json  # noqa: E402
from physrank.lab.demo import DemoData  # noqa: E402
from physrank.lab.inputs import SineGordonInput, diffusion_reaction_cells, random_flow_2d  # noqa: E402
from physrank.lab.references import pdebench  # noqa: E402
from physrank.lab.store.provenance import stamp  # noqa: E402
from physrank.physics import Correction, respond  # noqa: E402

compiled_response = eqx.filter_jit(respond)
compiled_solve = eqx.filter_jit(lambda problem, guess: problem.solve(guess).state)


def median_seconds(functions: dict[str, Callable[[], Any]], repeats: int) -> dict[str, float]:
    """Each function once to warm up, then all in turn, so that a slow moment of the machine hits them alike."""
    for function in functions.values():
        jax.block_until_ready(function())
    times: dict[str, list[float]] = {name: [] for name in functions}
    for _ in range(repeats):
        for name, function in functions.items():
            started = time.perf_counter()
            jax.block_until_ready(function())
            times[name].append(time.perf_counter() - started)
    return {name: float(np.median(values)) for name, values in times.items()}


def burgers_case(index: int) -> tuple[pr.equations.Burgers, np.ndarray]:
    """A shifted Burgers input (48 rows, 384 points, 4 substeps) and 16 smooth predictions on 48 points."""
    random = np.random.default_rng(index)
    k = np.arange(1, 11)
    scale = np.where(k <= 4, 0.55 * k**-1.5, 0.30 * k**-0.5)
    a, b = scale * random.standard_normal((2, 10))
    initial = lambda x: np.cos(np.outer(x, k)) @ a + np.sin(np.outer(x, k)) @ b  # noqa: E731
    times = np.linspace(0, 0.2, 48)
    problem = pr.equations.Burgers(
        initial, random.uniform(0.008, 0.018), times, lambda t, x: 0.1 * np.sin(x) * (1 + 0.3 * np.sin(30 * t))
    )
    x = np.arange(48) * 2 * np.pi / 48
    drift = 0.05 * np.stack([np.sin(x * (1 + j % 4) + j) for j in range(16)])
    base = initial(x)[None, None] * np.exp(-times)[None, :, None]
    return problem, base + drift[:, None, :] * times[None, :, None] / 0.2


def reaction_diffusion_case() -> tuple[pr.equations.ReactionDiffusion, np.ndarray]:
    data = DemoData.load()
    lifted = pr.lifts.lift(data.predictions["reaction_diffusion-fno-e1"][2], (130, 130), "sine")
    problem = data.problem("reaction_diffusion", 2)
    assert isinstance(problem, pr.equations.ReactionDiffusion)
    return problem, np.concatenate([lifted, 0.9 * lifted])


def sparse_solve(problem: pr.equations.ReactionDiffusion, at: np.ndarray, rhs: np.ndarray) -> np.ndarray:
    """The same interior system, assembled and factored by SciPy."""
    h2 = problem.spacing**2
    faces_x, faces_y = (np.asarray(face) / h2 for face in problem.operator.faces)
    m = at.shape[0] - 2
    diagonal = faces_x[1:] + faces_x[:-1] + faces_y[:, 1:] + faces_y[:, :-1]
    diagonal = diagonal + float(problem.linear) + 3 * float(problem.cubic) * at[1:-1, 1:-1] ** 2
    along_y = np.zeros((m, m))
    along_y[:, :-1] = -faces_y[:, 1:-1]
    along_x = -faces_x[1:-1].ravel()
    bands = [diagonal.ravel(), along_y.ravel()[:-1], along_y.ravel()[:-1], along_x, along_x]
    matrix = sparse.diags_array(bands, offsets=[0, 1, -1, m, -m], format="csc")
    return scipy.sparse.linalg.splu(matrix).solve(rhs.ravel())


def measure() -> dict[str, dict[str, Any]]:
    results: dict[str, dict[str, Any]] = {}

    def record(key: str, text: str, times: dict[str, float], over: str, under: str, bound: str) -> None:
        ratio = times[over] / times[under]
        results[key] = {"what": text, "ratio": ratio, "asked": bound, "seconds": times}
        milliseconds = ", ".join(f"{name} {1e3 * value:.2f} ms" for name, value in times.items())
        print(f"{text}: {ratio:.2f} (asked {bound or 'nothing'}) — {milliseconds}", flush=True)

    with pr.double():
        field, field_states = reaction_diffusion_case()
        wave, wave_native = burgers_case(0)
        wave_states = pr.lifts.lift(wave_native, (384,), "fourier")

        anchor = field_states[:8].mean(axis=0)
        defect = np.asarray(field.defect(jnp.asarray(anchor)))
        ours = np.asarray(compiled_response(field, jnp.asarray(anchor), Correction()).correction)[1:-1, 1:-1]
        theirs = sparse_solve(field, anchor, -defect[1:-1, 1:-1]).reshape(ours.shape)
        assert np.abs(ours - theirs).max() <= 1e-8 * np.abs(theirs).max(), "the two solve different systems"
        times = median_seconds(
            {
                "response": lambda: compiled_response(field, jnp.asarray(anchor), Correction()),
                "splu": lambda: sparse_solve(field, anchor, -defect[1:-1, 1:-1]),
            },
            15,
        )
        record(
            "rd_splu", "reaction–diffusion 128²: scipy assembly + splu ÷ response", times, "splu", "response", "≥ 10"
        )

        wave_anchor = jnp.asarray(wave_states.mean(axis=0))
        times = median_seconds(
            {
                "response": lambda: compiled_response(wave, wave_anchor, Correction()),
                "direct solve": lambda: compiled_solve(wave, wave_anchor),
            },
            25,
        )
        record(
            "burgers_direct",
            "Burgers 384 × 47 × 4: response ÷ direct nonlinear solve, same grid and steps",
            times,
            "response",
            "direct solve",
            "≤ 2.5",
        )

        for key, label, problem, states in (
            ("burgers", "Burgers", wave, wave_states),
            ("rd", "reaction–diffusion", field, field_states),
        ):

            def shared(n: int, problem: pr.Problem = problem, states: np.ndarray = states) -> Any:
                return compiled_response(problem, jnp.asarray(states[:n].mean(axis=0)), Correction())

            def candidate_wise(problem: pr.Problem = problem, states: np.ndarray = states) -> Any:
                return [jax.block_until_ready(compiled_response(problem, jnp.asarray(v), Correction())) for v in states]

            times = median_seconds(
                {
                    "shared, N=2": lambda: shared(2),
                    "shared, N=16": lambda: shared(16),
                    "candidate-wise, N=16": candidate_wise,
                },
                11,
            )
            record(
                f"{key}_candidate_wise",
                f"{label}: candidate-wise ÷ shared at N = 16",
                times,
                "candidate-wise, N=16",
                "shared, N=16",
                "≥ 14",
            )
            record(
                f"{key}_flat_in_n",
                f"{label}: shared at N = 16 ÷ at N = 2",
                times,
                "shared, N=16",
                "shared, N=2",
                "≤ 1.3",
            )

    measure_diffusion_reaction(record)
    measure_response_memory(results)
    measure_certificate(record)
    measure_panel(results, record)
    measure_ladder(results, record, median_seconds)
    both = {"Burgers": (wave, wave_states[:8]), "reaction–diffusion 128²": (field, field_states[:8])}
    measure_products(both, record, median_seconds)
    return results


def measure_response_memory(results: dict[str, dict[str, Any]]) -> None:
    """Working memory of a compiled response, as the compiler allots it, for a trajectory and one four times as long."""

    def working(problem: pr.Problem, rows: int) -> int:
        anchor = jnp.zeros((rows, *(problem.state_shape or ())[1:]))
        compiled = compiled_response.lower(problem, anchor, Correction()).compile().compiled
        return compiled.memory_analysis().temp_size_in_bytes

    cells = diffusion_reaction_cells("development", 0, 64)
    flow = pr.equations.conservative(random_flow_2d("development", 0, 64), 5 / 3)
    wave = SineGordonInput.sample("development", 0, "training")
    x = np.arange(384) * 2 * np.pi / 384
    makers: dict[str, Callable[[Any], pr.Problem]] = {
        "Burgers": lambda t: pr.equations.Burgers(np.sin(x), 0.01, t, lambda t, x: 0.1 * np.sin(x)),
        "Sine–Gordon": lambda t: pr.equations.SineGordon(wave.initial, wave.velocity, t, points=384),
        "diffusion–reaction": lambda t: pr.equations.DiffusionReaction(cells, t),
        "compressible flow": lambda t: pr.equations.CompressibleFlow(flow, t, "periodic"),
    }
    with pr.double():
        for name, make in makers.items():
            short, long = (working(make(np.linspace(0, 2e-3 * n, n + 1)), n + 1) for n in (40, 160))
            key = f"memory of a response, {name}: 160 steps ÷ 40 steps"
            results[key] = {"what": key, "ratio": long / short, "asked": "≤ 4.2", "bytes": {"40": short, "160": long}}
            print(f"{key}: {long / short:.2f} (asked ≤ 4.2) — {short / 1e6:.1f} and {long / 1e6:.1f} MB", flush=True)


def measure_diffusion_reaction(record: Callable[..., None]) -> None:
    """The PDEBench system at 128², 91 steps from the tenth frame: response against implicit Newton, step by step."""
    frames = pdebench.diffusion_reaction(diffusion_reaction_cells("development", 0), np.linspace(0, 5, 101))[9:]
    problem = pr.equations.DiffusionReaction(frames[0], np.linspace(0.45, 5, 92))
    drift = 0.05 * np.linspace(0, 1, 92)[:, None, None, None] * np.cos(np.arange(128) / 10)
    with pr.double():
        anchor = jnp.asarray(frames + drift)
        noisy = anchor + 0.02 * np.random.default_rng(0).standard_normal(anchor.shape)
        times = median_seconds(
            {
                "response": lambda: compiled_response(problem, anchor, Correction()),
                "response, noisy anchor": lambda: compiled_response(problem, noisy, Correction()),
                "implicit Newton": lambda: compiled_solve(problem, anchor),
            },
            5,
        )
    record(
        "diffusion_reaction_newton",
        "diffusion–reaction 128², 91 steps: response ÷ implicit Newton solve, same grid and steps",
        times,
        "response",
        "implicit Newton",
        "≤ 0.5",
    )
    record(
        "diffusion_reaction_noisy",
        "the same with an anchor whose frames carry independent noise of 0.02, which leaves nothing to extrapolate",
        times,
        "response, noisy anchor",
        "implicit Newton",
        "",
    )


def measure_certificate(record: Callable[..., None]) -> None:
    """What a proof costs: 8 candidates, 128², against one response, and with every number enclosed."""
    problem, states = reaction_diffusion_case()
    ranking = pr.rank(problem, states[:8], effort="response")
    with pr.double():
        anchor = jnp.asarray(ranking.response.anchor)

    def response() -> Any:
        with pr.double():
            return jax.block_until_ready(compiled_response(problem, anchor, Correction()).state)

    functions = {
        "response": response,
        "validated": lambda: pr.certify(problem, ranking).seconds,
        "double": lambda: pr.certify(problem, ranking, by=pr.certificates.StronglyMonotone()).seconds,
    }
    times = median_seconds(functions, 15)
    what = "reaction–diffusion 128², 8 candidates: validated certificate ÷ "
    record("certificate", what + "one response", times, "validated", "response", "≤ 12")
    record("certificate_rounding", what + "the same in double precision", times, "validated", "double", "≤ 5")


def measure_panel(results: dict[str, dict[str, Any]], record: Callable[..., None]) -> None:
    """240 Burgers inputs through the public functions, and how memory grows with the length of a panel."""
    cases = [burgers_case(k) for k in range(240)]
    libraries = [dict(zip("abcdefgh", states[:8], strict=True)) for _, states in cases]
    problems = [problem for problem, _ in cases]
    pr.rank(problems[0], libraries[0], effort="response")
    list(pr.rank_panel(problems[:16], libraries[:16], effort="response"))
    alone, together, blocks = [], [], []
    for first in range(0, 240, 48):  # in turn, block by block, for the same reason as above
        some, theirs = problems[first : first + 48], libraries[first : first + 48]
        started = time.perf_counter()
        alone += [pr.rank(p, library, effort="response").scores for p, library in zip(some, theirs, strict=True)]
        middle = time.perf_counter()
        together += [ranking.scores for ranking in pr.rank_panel(some, theirs, effort="response")]
        blocks.append((middle - started, time.perf_counter() - middle))
    np.testing.assert_allclose(alone, together, rtol=1e-8)
    times = dict(zip(("one by one", "batched"), map(float, np.median(blocks, axis=0) / 48), strict=True))
    record(
        "burgers_batch", "Burgers, 240 inputs: one by one ÷ batched, per input", times, "one by one", "batched", "≥ 2"
    )

    pr.select(pr.rank_panel(problems, libraries, effort="response", allow_unresolved=True))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    endless = (problems[k % 240] for k in range(1200))
    again = (libraries[k % 240] for k in range(1200))
    pr.select(pr.rank_panel(endless, again, effort="response", allow_unresolved=True))
    growth = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    results["panel_memory"] = {
        "what": "peak memory added by a panel of 1,200 inputs after one of 240, MB",
        "megabytes": growth,
    }
    print(f"{results['panel_memory']['what']}: {growth:.0f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path)
    out = parser.parse_args().out
    results = {
        "scipy": scipy.__version__,
        "threads": 1,
        "results": measure(),
    }
    if out:
        write_json(out, stamp(results))


if __name__ == "__main__":
    main()
