"""Accuracy against cost: every way of ranking beside every direct solve, on one population of inputs, in one run."""

import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import jax.numpy as jnp
import numpy as np
from cases import Input, Population
from ladder import RAW, TIE

import physrank as pr
from physrank import compute, geometry, tasks
from physrank.physics import capabilities
from physrank.tasks import Task

RANKINGS: dict[str, dict[str, Any]] = {
    "auto": {"effort": "auto"},
    "response": {"effort": "response"},
    "response + 1": {"effort": "response", "corrections": 2},
    "response + 2": {"effort": "response", "corrections": 3},
}


@dataclass(frozen=True, eq=False)
class Answer:
    """What a method says of one input."""

    scores: np.ndarray
    proxy: np.ndarray | None = None
    settled: np.ndarray | None = None  # N × N; None: the method does not say
    failed: str | None = None
    ended: str | None = None
    physics: float | None = None  # seconds spent in compiled programs


Method = Callable[[Input, Task], Answer]


def ranked(options: dict[str, Any]) -> Method:
    def method(given: Input, _: Task) -> Answer:
        found = pr.rank(given.problem, given.candidates, tolerance=TIE, allow_unresolved=True, **options)
        rung = found.rung
        return Answer(found.scores, found.proxy, found.settled_pairs, found.unresolved, rung.name, rung.seconds)

    return method


def raw(given: Input, task: Task) -> Answer:
    return Answer(RAW(given.problem, given.candidates, task=task).values)


def direct(level: int, options: dict[str, int]) -> Method:
    """Solve on that level, lift what the task looks at, score: nothing is done that is not needed."""

    def method(given: Input, task: Task) -> Answer:
        states = given.candidates.states
        output, solved = compute.run(outright, given.problem, task, states.shape[1:], level, options)
        outputs = task.outputs(states)
        scores = geometry.scores_of(task.space(outputs), outputs, output)
        return Answer(scores, output, failed=None if solved else "the solve did not converge")

    return method


def outright(problem: Any, task: Task, shape: tuple[int, ...], level: int, options: dict[str, int]) -> Any:
    coarse = problem.coarsen(**options) if options else capabilities.coarser(problem, level) if level else problem
    own = tuple(n or m for n, m in zip(coarse.state_shape, shape, strict=True))
    found = coarse.solve(jnp.zeros(own))
    if task.last:
        return capabilities.raised(problem, found.state[-1], shape[1:]), found.converged
    return task.map(capabilities.raised(problem, found.state, shape)), found.converged


def methods(population: Population, problem: Any) -> dict[str, Method]:
    """By name; the first direct solve is the one on the problem's own grid."""
    found: dict[str, Method] = {"raw residual": raw, **{name: ranked(how) for name, how in RANKINGS.items()}}
    level, coarse = 0, problem
    while coarse is not None:
        where = capabilities.grid(coarse)
        assert where is not None
        size = f"{where.shape[-1] - population.edges}{['', '²', '³'][len(where.shape) - 1]}"
        found[f"solve {size}{fewer_rows(problem, coarse)}"] = direct(level, {})
        level += 1
        coarse = capabilities.coarser(problem, level)
    return found | {f"solve {name}": direct(0, how) for name, how in population.shorter.items()}


def fewer_rows(problem: Any, coarse: Any) -> str:
    """How a level that leaves rows out says so: on as many points it is another solve than the problem's own."""
    times, left = (getattr(one, "times", ()) for one in (problem, coarse))
    return f", {len(left) - 1} steps" if len(left) < len(times) else ""


@dataclass(eq=False)
class Row:
    """One method's counts, input by input."""

    seconds: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)  # of the process: what a busy machine hardly changes
    physics: list[float] = field(default_factory=list)
    right: int = 0
    right_finer: int = 0
    settled: int | None = None
    settled_wrong: int = 0
    errors: list[float] = field(default_factory=list)
    failed: int = 0
    ended: Counter[str] = field(default_factory=Counter)

    def count(self, answer: Answer, losses: np.ndarray, finer: np.ndarray, error: float | None) -> None:
        """Pairs beyond the tie that the answer orders as the losses do."""
        upper = np.triu_indices(len(losses), 1)
        said, true = (gaps(values)[upper] for values in (answer.scores, losses))
        beyond, right = np.abs(true) > TIE, np.sign(said) == np.sign(true)
        self.right += int(np.sum(beyond & right))
        truer = gaps(finer)[upper]
        self.right_finer += int(np.sum((np.abs(truer) > TIE) & (np.sign(said) == np.sign(truer))))
        if answer.settled is not None:
            sure = answer.settled[upper] & beyond
            self.settled = (self.settled or 0) + int(sure.sum())
            self.settled_wrong += int(np.sum(sure & ~right))
        self.failed += answer.failed is not None
        self.errors += [] if error is None or not np.isfinite(error) else [error]
        self.ended.update([answer.ended] if answer.ended else [])

    def to_dict(self) -> dict[str, Any]:
        return {
            "seconds": float(np.median(self.seconds)),
            "mean_seconds": float(np.mean(self.seconds)),
            "cpu_seconds": float(np.median(self.cpu)),
            "physics_share": float(np.sum(self.physics) / np.sum(self.seconds)) if self.physics else None,
            "right": self.right,
            "right_finer": self.right_finer,
            "settled": self.settled,
            "settled_wrong": self.settled_wrong if self.settled is not None else None,
            "proxy_error": float(np.median(self.errors)) if self.errors else None,
            "failed": self.failed,
            "ended_on": dict(self.ended),
        }


def gaps(values: np.ndarray) -> np.ndarray:
    """Positive where the row's candidate is better."""
    return values[None, :] - values[:, None]


def measure(population: Population, inputs: int, repeats: int) -> dict[str, Any]:
    """Every method once on every input, which compiles it and counts; then timed, all in turn, `repeats` times."""
    rows: dict[str, Row] = {}
    pairs = pairs_finer = done = 0
    for given in population.make(inputs):
        if done == inputs:
            break
        problem, task = given.problem, tasks.resolve(None, given.problem)
        tried = methods(population, problem)
        outputs = task.outputs(given.candidates.states)
        space = task.space(outputs)
        answers = {name: method(given, task) for name, method in tried.items()}
        truth = answers[own_grid(tried)]
        if truth.failed or truth.proxy is None:
            raise RuntimeError(f"The solve on the problem's own grid failed: {truth.failed}.")
        losses, finer = (geometry.scores_of(space, outputs, target) for target in (truth.proxy, given.finer))
        upper = np.triu_indices(len(losses), 1)
        pairs += int(np.sum(np.abs(gaps(losses)[upper]) > TIE))
        pairs_finer += int(np.sum(np.abs(gaps(finer)[upper]) > TIE))
        for name, answer in answers.items():
            off = None if answer.proxy is None else float(space.norm_squared(answer.proxy - truth.proxy))
            rows.setdefault(name, Row()).count(
                answer, losses, finer, None if off is None else float(np.sqrt(off / losses.min()))
            )
        calls = timed({n: partial(m, given, task) for n, m in tried.items()}, repeats)
        for name, (seconds, cpu, answer) in calls.items():
            rows[name].seconds.append(seconds)
            rows[name].cpu.append(cpu)
            rows[name].physics += [] if answer.physics is None else [answer.physics]
        done += 1
    return {
        "title": population.title,
        "candidates": population.candidates,
        "finer": population.finer,
        "inputs": done,
        "pairs": pairs,
        "pairs_finer": pairs_finer,
        "own_grid": own_grid(rows),
        "methods": {name: row.to_dict() for name, row in rows.items()},
    }


def own_grid(tried: dict[str, Any]) -> str:
    return next(name for name in tried if name.startswith("solve"))


def timed(functions: dict[str, Callable[[], Answer]], repeats: int) -> dict[str, tuple[float, float, Answer]]:
    """The call of median length, the least processor time of any, and its answer; all in turn, so that a slow moment of the
    machine hits them alike."""
    spent: dict[str, list[tuple[float, float, Answer]]] = {name: [] for name in functions}
    for _ in range(repeats):
        for name, function in functions.items():
            started, before = time.perf_counter(), time.process_time()
            answer = function()
            spent[name].append((time.perf_counter() - started, time.process_time() - before, answer))
    found = {}
    for name, calls in spent.items():
        seconds, _, answer = sorted(calls, key=lambda call: call[0])[len(calls) // 2]
        found[name] = seconds, min(cpu for _, cpu, _ in calls), answer
    return found
