"""Levels of a problem: coarser statements of it, made without its constructor, so that a compiled program can make them."""

import inspect
from collections.abc import Callable
from dataclasses import fields
from typing import Any, TypeVar

import numpy as np

from physrank import compute
from physrank.geometry.lifts import kept_rows
from physrank.physics._guards import check_call
from physrank.physics.problem import Problem

T = TypeVar("T")

LEAST = 8  # points per side: a grid with fewer says too little to be a level
_HINT = {
    False: "it is called inside a compiled program: take what varies from problem.data with jax.numpy, and return None "
    "where there is no such level",
    True: "it returns None where there is no such level",
}


def halved(points: int, level: int) -> int | None:
    """Points per side so many halvings down; None where that is no grid any more."""
    return points >> level if points >> level >= LEAST else None


def altered(module: T, **changes: Any) -> T:
    """A copy of an equinox module with some fields replaced, static ones too: no constructor runs, so nothing is checked."""
    copy = object.__new__(type(module))
    for field in fields(module):  # pyright: ignore[reportArgumentType]
        value = changes.pop(field.name) if field.name in changes else getattr(module, field.name)
        object.__setattr__(copy, field.name, value)  # as equinox itself puts a module together
    if changes:
        raise ValueError(f"{type(module).__name__} has no {', '.join(changes)}.")
    return copy


def size(name: str, value: Any, least: int, most: int | None) -> int:
    if isinstance(value, bool) or not isinstance(value, int | np.integer):
        raise ValueError(f"{name} must be a whole number; got {value!r:.60} of type {type(value).__name__}.")
    if value < least or (most is not None and value > most):
        expected = f"at least {least}" if most is None else f"{least} to {most}"
        raise ValueError(f"{name} must be {expected} to coarsen this problem; got {value}.")
    return int(value)


def check_level(level: Any) -> int:
    return size("level", level, 0, None)


def every(rows: int, total: int) -> np.ndarray:
    """About every so manieth of `total` rows: never fewer than asked for, first and last among them."""
    return kept_rows(total, -(-(total - 1) // rows) + 1)


def check_coarsening(function: Any) -> None:
    if function is not None and not _of_level_alone(function):
        check_call("coarsen", function, ("level", "problem"), "It may also be a function of the level alone.")


def own_level(problem: Problem, function: Callable[..., Any] | None, level: int) -> Problem | None:
    """What a user's `coarsen(level)` or `coarsen(level, problem)` gives, checked."""
    if check_level(level) == 0 or function is None:
        return problem if level == 0 else None
    memory = getattr(problem, "memory", None)
    if memory is None:
        return _stated(problem, function, level)
    if level not in memory.levels:
        memory.levels[level] = _stated(problem, function, level)
    return memory.levels[level]


def _stated(problem: Problem, function: Callable[..., Any], level: int) -> Problem | None:
    try:
        coarse = function(level) if _of_level_alone(function) else function(level, problem)
    except Exception as error:
        raise ValueError(
            f"coarsen({level}) failed: {type(error).__name__}: {error} ({_HINT[compute.on_host(problem)]})"
        ) from error
    if coarse is None:
        return None
    if isinstance(coarse, Problem):
        if compute.on_host(coarse) and not compute.on_host(problem):
            raise ValueError(f"coarsen({level}) returned a problem on the host; expected one that JAX can compile.")
        own, fine = coarse.state_shape, problem.state_shape
        if own is not None and fine is not None and len(own) != len(fine):
            raise ValueError(f"coarsen({level}) returned a problem with states {own}; expected as many axes as {fine}.")
        return coarse
    raise ValueError(
        f"coarsen({level}) returned {coarse!r:.60} ({type(coarse).__name__}); expected the problem on a coarser grid, or "
        "None where there is none."
    )


def _of_level_alone(function: Any) -> bool:
    try:
        inspect.signature(function).bind("level")
    except (TypeError, ValueError):
        return False
    return True
