"""Seed streams: every (equation, population, index) has its own, so populations cannot overlap."""

import numpy as np

ROOT_SEED = 20260101
# New names are appended: an index is part of every seed.
STREAMS = ("burgers", "reaction_diffusion", "sine_gordon", "diffusion_reaction", "flow_1d", "flow_2d")
POPULATIONS = (
    "training",
    "validation",
    "development",
    "evaluation",
    "panel",
    "deployment",
    "demo",
    "additional",
    "stress",
    "selection",
    "service",
)
STRATA = ("training", "frequency", "parameter", "combined")


def stream(equation: str, population: str, index: int) -> np.random.Generator:
    """The random generator of one input."""
    for name, value, known in (("equation", equation, STREAMS), ("population", population, POPULATIONS)):
        if value not in known:
            raise ValueError(f"There is no {name} {value!r}; expected one of {', '.join(known)}.")
    key = (STREAMS.index(equation), POPULATIONS.index(population), index)
    return np.random.default_rng(np.random.SeedSequence(ROOT_SEED, spawn_key=key))


def shifts(stratum: str) -> tuple[bool, bool]:
    """Whether a stratum adds modes, and whether it moves parameters."""
    if stratum not in STRATA:
        raise ValueError(f"There is no stratum {stratum!r}; expected one of {', '.join(STRATA)}.")
    return stratum in ("frequency", "combined"), stratum in ("parameter", "combined")


def shifted_strata(count: int) -> list[str]:
    """`count` inputs balanced over the three shifts, in a fixed rotation."""
    return [STRATA[1 + k % 3] for k in range(count)]


def union(random: np.random.Generator, intervals: tuple[tuple[float, float], ...]) -> float:
    """Uniform on a union of intervals, each weighted by its length."""
    lengths = np.array([high - low for low, high in intervals])
    low, high = intervals[random.choice(len(intervals), p=lengths / lengths.sum())]
    return float(random.uniform(low, high))
