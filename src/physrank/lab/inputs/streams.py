"""Seed streams: every (equation, population, index) has its own, so populations cannot overlap."""

import numpy as np

ROOT_SEED = 20260101
EQUATIONS = ("burgers", "reaction_diffusion")
POPULATIONS = ("training", "validation", "development", "evaluation", "panel", "deployment", "demo")
STRATA = ("training", "frequency", "parameter", "combined")


def stream(equation: str, population: str, index: int) -> np.random.Generator:
    """The random generator of one input."""
    key = (EQUATIONS.index(equation), POPULATIONS.index(population), index)
    return np.random.default_rng(np.random.SeedSequence(ROOT_SEED, spawn_key=key))


def shifted_strata(count: int) -> list[str]:
    """`count` inputs balanced over the three shifts, in a fixed rotation."""
    return [STRATA[1 + k % 3] for k in range(count)]
