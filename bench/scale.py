"""Panels on a cluster: what an input, a candidate and an unknown cost, what scheduling adds, and what more would take.

    python bench/scale.py [--out results/scale.json] [--only PART …] [--small]

Parts: `model`, `wire`, `tasks`, `processes`, `stream:<inputs>`, `memory:<inputs>`, `candidates`, `kills`, `simulation`.
Written after every part; an interrupted run goes on with what is missing, and `--only` measures its parts anew. `model`,
`tasks` and `processes` are times and need an idle machine of two cores; the others count bytes, reads and results. Half an
hour in all.
`--small` tries everything on little; what it stores says so, part by part, and counts as missing in a whole run.
"""

import argparse
import json
import os
import re
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NPROC"):
    os.environ[name] = "1"  # before any library starts its threads

import distributed  # noqa: E402
import h5py  # noqa: E402
import numpy as np  # noqa: E402
import psutil  # noqa: E402
from loads import Load, Predicted, Stated, panel, stream  # noqa: E402
from scipy.optimize import nnls  # noqa: E402
from simulation import Cluster, simulated  # noqa: E402

import physrank as pr  # noqa: E402
from physrank import scale  # noqa: E402
from physrank._io import write_json  # noqa: E402
from physrank.lab.store.provenance import stamp  # noqa: E402
from physrank.ranking.panel import scoring  # noqa: E402
from physrank.scale import cluster as engine  # noqa: E402
from physrank.scale import pickling  # noqa: E402

ROOT = Path(__file__).parent.parent
BLOCK = 16
FAR = {"inputs": 10_000_000, "workers": 100}


COSTS = ("per_input", "per_candidate", "per_unknown", "per_unknown_and_candidate")


def fitted(rows: list[dict[str, Any]], what: str) -> dict[str, float]:
    """y = a + b · candidates + c · unknowns + d · unknowns · candidates, none negative; relative errors count alike."""
    unknowns, candidates, found = (np.array([row[key] for row in rows]) for key in ("unknowns", "candidates", what))
    matrix = np.stack([np.ones(len(rows)), candidates, unknowns, unknowns * candidates], axis=1) / found[:, None]
    costs, _ = nnls(matrix, np.ones(len(rows)))
    return dict(zip(COSTS, map(float, costs), strict=True)) | {"worst": float(np.abs(matrix @ costs - 1).max())}


def model(small: bool) -> dict[str, Any]:
    """Seconds per input on one thread, over points and candidates. A block is sixteen inputs, a twentieth of a second: the
    median of a dozen. Whatever they took beside it is compilation, of programs for full and for nearly empty blocks."""
    rows, blocks = [], 3 if small else 12
    for points in (48, 96) if small else (48, 96, 192, 384):
        for candidates in (2, 8) if small else (2, 8, 32):
            load = Load(points=points, candidates=candidates)
            times = []
            for _ in range(1 + blocks):
                started = time.perf_counter()
                list(panel(load, BLOCK).records(scoring))
                times.append(time.perf_counter() - started)
            seconds = statistics.median(times)
            rows.append(
                {
                    "points": points,
                    "candidates": candidates,
                    "unknowns": points * load.rows,
                    "seconds": seconds / BLOCK,
                    "compile": sum(times) - len(times) * seconds,
                }
            )
    return {"rows": rows, **fitted(rows, "seconds")}


def wire(small: bool) -> dict[str, Any]:
    """Bytes of an input on its way out, as arrays and as functions, and of its scores on their way back."""
    load, count = Load(), BLOCK if small else 8 * BLOCK
    lazy = [(k, Stated(load, k), Predicted(load, k)) for k in range(count)]
    back = list(panel(load, count).records(scoring))
    found = {name: len(pickling.dumps(one)) / count for name, one in (("functions", lazy), ("scores", back))}
    rows = [
        _sent(Load(points=points, candidates=n), count) for points in (48, load.points) for n in (2, load.candidates)
    ]
    return found | {"rows": rows, **rows[-1], **fitted(rows, "arrays")}


def _sent(load: Load, count: int) -> dict[str, Any]:
    eager = [(k, load.problem(k), load.library(k)) for k in range(count)]
    size = len(pickling.dumps(eager)) / count
    return {"unknowns": load.points * load.rows, "candidates": load.candidates, "arrays": size}


@contextmanager
def workers(number: int) -> Iterator[Any]:
    with (
        distributed.LocalCluster(
            n_workers=number, threads_per_worker=1, env=scale.PINNED, dashboard_address=":0", silence_logs=50
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


def watched(client: Any, load: Load, inputs: int) -> tuple[float, Any]:
    """Seconds of a panel, and the run behind it."""
    runs: list[Any] = []

    def ordered(*arguments: Any) -> Iterator[Any]:
        client, function, blocks, count = arguments
        source = ((k, pickling.dumps(list(block))) for k, block in enumerate(blocks))
        runs.append(run := engine._Run(client, function, source, count))
        yield from run.results()
        run.close()

    kept, scale.ordered = scale.ordered, ordered
    try:
        started = time.perf_counter()
        done = sum(1 for _ in panel(load, inputs, client=client).records(scoring))
        seconds = time.perf_counter() - started
    finally:
        scale.ordered = kept
    assert done == inputs
    return seconds, runs[0]


class Elsewhere:
    """The share of the machine that others took meanwhile: beside them, two processes get more of it than one."""

    def __enter__(self) -> "Elsewhere":
        self.started, self.before = time.perf_counter(), self._others()
        return self

    def __exit__(self, *_: Any) -> None:
        self.share = max(0.0, (self._others() - self.before) / (time.perf_counter() - self.started)) / (
            os.cpu_count() or 1
        )

    def _others(self) -> float:
        every = psutil.cpu_times()
        ours = 0.0
        for process in (me := psutil.Process(), *me.children(recursive=True)):
            used = process.cpu_times()
            ours += used.user + used.system
        return sum(every) - every.idle - getattr(every, "iowait", 0.0) - ours


def _nothing(block: list[Any]) -> list[Any]:
    return block


def tasks(small: bool) -> dict[str, Any]:
    """What a task costs that does nothing, and what share of one worker's time is not work at the size chosen by itself: over
    some forty tasks of a second, so that the first ones, which are short, count for little."""
    inputs, empty = (640, 200) if small else (9600, 2000)
    with workers(1) as client:
        list(scale.ordered(client, _nothing, ([k] for k in range(20))))
        seconds, kept = engine.SECONDS, engine._Run._blocks
        engine._Run._blocks = lambda run: 1
        started = time.perf_counter()
        list(scale.ordered(client, _nothing, ([k] for k in range(empty))))
        each = (time.perf_counter() - started) / empty
        engine._Run._blocks = kept
        watched(client, Load(), 10 * BLOCK)  # compiles
        with Elsewhere() as others:
            wall, run = watched(client, Load(), inputs)
    return {
        "empty_task_seconds": each,
        "asked_seconds": seconds,
        "inputs": inputs,
        "tasks": run.tasks,
        "task_seconds": run.busy / run.tasks,
        "wall_seconds": wall,
        "overhead": 1 - run.busy / wall,
        "elsewhere": others.share,
    }


def processes(small: bool) -> dict[str, Any]:
    """Throughput of two processes against one, by turns in one run: each is twenty tasks of a second or more per worker, so
    that a last one for which the other worker waits is a few hundredths; the median of three turns."""
    inputs, turns = (640, 2) if small else (9600, 3)
    with workers(1) as one, workers(2) as two:
        for client in (one, two):
            watched(client, Load(), 20 * BLOCK)
        with Elsewhere() as others:
            pairs = [(watched(one, Load(), inputs)[0], watched(two, Load(), inputs)[0]) for _ in range(turns)]
    ratios = [alone / together for alone, together in pairs]
    return {
        "inputs": inputs,
        "one": [inputs / a for a, _ in pairs],
        "two": [inputs / b for _, b in pairs],
        "ratio": statistics.median(ratios),
        "cores": os.cpu_count(),
        "elsewhere": others.share,
    }


def streamed(inputs: int) -> dict[str, Any]:
    """In a process of its own: so many inputs through `select`, and the most memory that was taken."""
    started = time.perf_counter()
    choice = pr.select(stream(Load(candidates=4), inputs), failing="report")
    assert choice.inputs + len(choice.failed) == inputs
    seconds = time.perf_counter() - started
    return {"inputs": inputs, "unresolved": len(choice.failed), "seconds": seconds, "peak_bytes": _peak()}


def memory(inputs: int) -> dict[str, Any]:
    """In a process of its own: so many inputs through one worker, whole rankings coming back, and who took how much. Tasks
    are as large as their bytes allow: those of a second would be smaller on a busy machine."""
    started, engine.SECONDS = time.perf_counter(), 60.0
    with workers(1) as client:
        done = sum(1 for _ in stream(Load(candidates=4), inputs, client=client))
        (worker,) = client.run(_peak).values()
    assert done == inputs
    seconds = time.perf_counter() - started
    return {"inputs": inputs, "seconds": seconds, "client_bytes": _peak(), "worker_bytes": worker}


class Counted:
    """Candidates in a file, and how often each was read."""

    def __init__(self, field: Any):
        self.field, self.shape, self.reads = field, field.shape, Counter()

    def __getitem__(self, k: int) -> Any:
        self.reads[k] += 1
        return self.field[k]


def candidates(number: int, points: int) -> dict[str, Any]:
    """In a process of its own: candidates in a file, larger than what may be in memory of them."""
    random = np.random.default_rng(0)
    problem = pr.equations.ReactionDiffusion(diffusion=1.0, forcing=np.ones((points, points)), linear=1.0, cubic=1.0)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "candidates.h5"
        bump = np.sin(np.linspace(0, np.pi, points))
        with h5py.File(path, "w") as file:
            stored = file.create_dataset("candidates", (number, points, points), np.float64)
            for k in range(number):
                stored[k] = 0.05 * (1 + 0.1 * random.standard_normal()) * np.outer(bump, bump)
            whole = stored.nbytes
        field = Counted(pr.read(path, dims="candidate,x,y").fields["candidates"])
        before, started = _peak(), time.perf_counter()
        found = pr.rank_streamed(problem, field)
    assert np.isfinite(found.values).all() and len(field.reads) == number
    return {
        "candidates": number,
        "points": points,
        "bytes": whole,
        "before_bytes": before,
        "peak_bytes": _peak(),
        "seconds": time.perf_counter() - started,
        "reads": sum(field.reads.values()),
        "most_reads": max(field.reads.values()),
    }


def kills(number: int) -> dict[str, Any]:
    """The slow test that kills workers at random moments: it fails if a result is lost, doubled or another one."""
    test = "tests/scale/test_cluster.py::test_killed_workers_lose_nothing_and_count_nothing_twice"
    command = [sys.executable, "-m", "pytest", "-s", "-m", "slow", test]
    started = time.perf_counter()
    done = subprocess.run(
        command, cwd=ROOT, env=os.environ | {"PHYSRANK_KILLS": str(number)}, capture_output=True, text=True
    )
    said = re.search(r"(\d+) workers killed in the middle of (\d+) inputs", done.stdout)
    if done.returncode or said is None:
        raise RuntimeError(f"{test} ended with {done.returncode}: {(done.stdout.splitlines() or ['silence'])[-1]}")
    killed, inputs = map(int, said.groups())
    return {"kills": killed, "inputs": inputs, "seconds": time.perf_counter() - started}


def _peak() -> int:
    """Of this program: `getrusage` would count the parent, from whose memory it was forked."""
    status = Path("/proc/self/status")
    if not status.exists():
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    return int(next(line.split()[1] for line in status.read_text().splitlines() if line.startswith("VmHWM"))) * 1024


def simulation(stored: dict[str, Any]) -> dict[str, Any]:
    """The model against events, at 10⁵ tasks with stragglers and deaths; then what it says of far more."""
    measured, cost = stored["tasks"], stored["model"]
    start = 10.0 + max(row["compile"] for row in cost["rows"])
    known = {"task": measured["task_seconds"], "client": measured["empty_task_seconds"], "start": start}
    rows = []
    for number, life in ((2, 3600.0), (16, 3600.0), (100, 3600.0), (100, 300.0)):
        cluster = Cluster(workers=number, life=life, **known)
        found, said = simulated(cluster, 100_000), cluster.predicted(100_000)
        rows.append({"workers": number, "life": life, "predicted": said, **found, "off": said / found["seconds"] - 1})
    per_task = measured["inputs"] / measured["tasks"]
    far = Cluster(workers=FAR["workers"], **known)
    count = int(FAR["inputs"] / per_task)
    hours = {"hours": far.predicted(count) / 3600, "simulated_hours": simulated(far, count)["seconds"] / 3600}
    return {"tasks": 100_000, **known, "rows": rows, "far": FAR | {"tasks": count} | hours, "real": _real(stored)}


def _real(stored: dict[str, Any]) -> list[dict[str, float]]:
    """The model against what one and two workers did: inputs per second."""
    cost, done, load = stored["model"], stored["processes"], Load()
    unknowns = load.points * load.rows
    per_unknown = cost["per_unknown"] + load.candidates * cost["per_unknown_and_candidate"]
    each = cost["per_input"] + load.candidates * cost["per_candidate"] + unknowns * per_unknown
    return [
        {"workers": n, "predicted": n / each, "measured": statistics.median(done[name])}
        for n, name in ((1, "one"), (2, "two"))
    ]


def child(*arguments: Any) -> dict[str, Any]:
    done = subprocess.run([sys.executable, __file__, "child", *map(str, arguments)], capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{arguments} ended with {done.returncode}: {(done.stderr.splitlines() or ['killed'])[-1]}")
    return json.loads(done.stdout.splitlines()[-1])


def parts(small: bool, stored: dict[str, Any]) -> dict[str, Callable[[], dict[str, Any]]]:
    few, many, size = (64, 640, (40, 130)) if small else (1_000, 100_000, (1_000, 512))
    return {
        "model": partial(model, small),
        "wire": partial(wire, small),
        "tasks": partial(tasks, small),
        "processes": partial(processes, small),
        f"stream:{few}": partial(child, "stream", few),
        f"stream:{10 * few}": partial(child, "stream", 10 * few),
        f"stream:{many}": partial(child, "stream", many),
        f"memory:{few}": partial(child, "memory", few),
        f"memory:{10 * few}": partial(child, "memory", 10 * few),
        "candidates": partial(child, "candidates", *size),
        "kills": partial(kills, 3 if small else 200),
        "simulation": partial(simulation, stored),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path("results/scale.json"))
    parser.add_argument("--only", nargs="+", metavar="PART")
    parser.add_argument("--small", action="store_true")
    given = parser.parse_args()
    stored: dict[str, Any] = {}
    if given.out.exists():
        stored = json.loads(given.out.read_text(encoding="utf-8"))["parts"]
    runs = parts(given.small, stored)
    missing = [name for name in runs if not _stands(stored.get(name), given.small)]
    for name in runs if given.only is None else given.only:
        if given.only is None and name not in missing:
            continue
        print(f"{name} …", flush=True)
        try:
            found = runs[name]()
        except RuntimeError as error:  # kept and shown; the next run tries again
            found = {"failed": str(error)}
        print(f"   {json.dumps(found)}", flush=True)
        stored[name] = found | {"small": given.small, "commit": stamp({})["provenance"]["commit"]}
        ordered = {key: stored[key] for key in [*runs, *stored] if key in stored}
        write_json(given.out, stamp({"parts": ordered}))


def _stands(found: dict[str, Any] | None, small: bool) -> bool:
    """Whether it need not be measured again."""
    return found is not None and "failed" not in found and (small or not found["small"])


if __name__ == "__main__":
    if sys.argv[1:2] == ["child"]:
        what, *numbers = sys.argv[2:]
        print(json.dumps({"stream": streamed, "memory": memory, "candidates": candidates}[what](*map(int, numbers))))
    else:
        main()
