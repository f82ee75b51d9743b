"""Adversarial trials of certificates: rankings made up for the purpose, and the truth in many digits to hold them against.

`make test-slow` runs 10,000 per certificate (PHYSRANK_TRIALS says otherwise), the ordinary suite a few dozen.
"""

import os
import warnings
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import mpmath
import numpy as np

import physrank as pr
from physrank.geometry import gaps_of

SHARDS = 4  # of a slow lane: they run side by side, and an interrupted lane has said something
mp = mpmath.mpf


def slow_trials() -> int:
    return int(os.environ.get("PHYSRANK_TRIALS", "10000")) // SHARDS


@dataclass
class Judged:
    """What a certificate reads of a ranking, with any state and any outputs: nothing is computed to get here."""

    problem: Any
    state: np.ndarray
    outputs: np.ndarray
    task: Any
    base: np.ndarray | None = None
    unresolved: Any = None
    data_uncertainty: Any = None
    data_half_widths: Any = None

    def __post_init__(self):
        self.state, self.outputs = np.asarray(self.state, float), np.asarray(self.outputs, float)
        count = len(self.outputs)
        valid, states = np.ones(count, bool), np.stack([self.state] * count)
        self.candidates = SimpleNamespace(states=states, excluded={}, valid=valid)
        self.names = tuple(f"c{k}" for k in range(count))
        self.space = self.task.space(self.outputs)
        self.proxy = self.task.outputs(self.state[None])[0]
        self.gaps = gaps_of(self.space, self.outputs, self.proxy)
        base = self.state if self.base is None else self.base
        self.response = SimpleNamespace(base=base, state=self.state, anchor=base)


def terminal(problem, state, outputs):
    return Judged(problem, state, outputs, pr.tasks.terminal(problem.metric()))


def rivals(random, truth, state):
    """Outputs around the truth: near ties along the error of the state, near ties elsewhere, and ordinary ones."""
    exact, seen = np.array([float(t) for t in truth]), np.ravel(state)
    scale = np.abs(exact).max() + np.abs(seen).max() + 1e-300
    found = []
    for error in (seen - exact, random.standard_normal(exact.size)):
        length = np.abs(error).max()
        direction = error / length if length > 0 else random.standard_normal(exact.size)
        d = direction * scale * 10.0 ** random.uniform(-8, 0)
        middle = exact + random.choice([0.0, 0.5, 1.0]) * (seen - exact)  # between the truth and where the state is
        found += [middle + d, middle - d * (1 + random.choice([-1, 1]) * 10.0 ** random.uniform(-16, -3))]
    return np.stack([*found, exact + scale * random.standard_normal(exact.size)])


def false_claims(certificate, outputs, truth, weights):
    """(pairs decided, gaps outside of their intervals), losses in many digits."""
    losses = [
        mpmath.fsum(_exact(w) * (t - _exact(v)) ** 2 for w, t, v in zip(weights, truth, y, strict=True))
        for y in outputs
    ]
    low, high, signs = certificate.gaps.low, certificate.gaps.high, certificate.signs
    decided = wrong = 0
    for i, j in zip(*np.triu_indices(len(losses), 1), strict=True):
        gap = losses[j] - losses[i]
        wrong += not low[i, j] <= gap <= high[i, j]
        decided += bool(signs[i, j])
    return decided, wrong


def _exact(value):
    return value if isinstance(value, mpmath.mpf) else mp(float(value))


def lane(trial, trials, seed):
    """(pairs decided, false claims) of as many trials; a trial is a function of a random generator, with 60 digits."""
    random, decided, wrong = np.random.default_rng(seed), 0, 0
    with mpmath.workdps(60), np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # rough fields are meant
        for _ in range(trials):
            found = trial(random)
            decided, wrong = decided + found[0], wrong + found[1]
    print(f"{trials} trials, {decided} pairs decided, {wrong} false")
    return decided, wrong
