"""Adversarial trials of certificates: rankings made up for the purpose, and the truth in many digits to hold them against.

A trial is one certificate of one state and five outputs; several may share a problem, whose truth is the dear part.
`make trials` counts 10,000 of every certificate, the ordinary suite a few dozen.
"""

import warnings
from collections.abc import Callable
from dataclasses import astuple, dataclass, replace
from types import SimpleNamespace
from typing import Any

import mpmath
import numpy as np

import physrank as pr
from physrank.geometry import gaps_of

mp = mpmath.mpf


@dataclass(frozen=True)
class Verdict:
    """What trials came to. A draw without a problem or a truth is no trial."""

    trials: int = 0
    abstained: int = 0  # in which nothing at all was claimed
    pairs: int = 0
    decided: int = 0
    false: int = 0  # gaps outside of their intervals, states outside of their bounds

    def __add__(self, other: "Verdict") -> "Verdict":
        return Verdict(*(a + b for a, b in zip(astuple(self), astuple(other), strict=True)))

    def claiming(self, holds: bool) -> "Verdict":
        """With another claim, which holds or does not."""
        return self if holds else replace(self, false=self.false + 1)


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


def terminal(problem, state, outputs, metric=None):
    return Judged(problem, state, outputs, pr.tasks.terminal(metric or problem.metric()))


def uneven(random, shape):
    """Weights that differ by many orders of magnitude; now and then extreme ones; None: the usual metric."""
    if random.random() < 0.6:
        return None
    scale = 10.0 ** random.choice([0.0, 0.0, -100.0, 100.0])
    return pr.metrics.weights(scale * 10.0 ** random.uniform(-6, 6, shape))


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


def judged(certificate, outputs, truth, weights) -> Verdict:
    """One trial: every gap against its interval, losses in many digits."""
    losses = [
        mpmath.fsum(_exact(w) * (t - _exact(v)) ** 2 for w, t, v in zip(weights, truth, y, strict=True))
        for y in outputs
    ]
    low, high, signs = certificate.gaps.low, certificate.gaps.high, certificate.signs
    pairs = list(zip(*np.triu_indices(len(losses), 1), strict=True))
    wrong = sum(not low[i, j] <= losses[j] - losses[i] <= high[i, j] for i, j in pairs)
    said = any(np.isfinite(low[i, j]) or np.isfinite(high[i, j]) for i, j in pairs)
    return Verdict(1, int(not said), len(pairs), sum(bool(signs[i, j]) for i, j in pairs), wrong)


def distance(truth, state):
    """Euclidean, in many digits."""
    return mpmath.sqrt(mpmath.fsum((t - mp(float(s))) ** 2 for t, s in zip(truth, np.ravel(state), strict=True)))


def _exact(value):
    return value if isinstance(value, mpmath.mpf) else mp(float(value))


def lane(trial: Callable[[np.random.Generator], Verdict], trials: int, seed: int) -> Verdict:
    """At least as many trials; `trial` is a function of a random generator, with 60 digits, that may do several."""
    random, found = np.random.default_rng(seed), Verdict()
    with mpmath.workdps(60), np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # rough fields are meant
        while found.trials < trials:
            found = found + trial(random)
    return found
