"""Checks on what users pass: a function that can be called, a step that keeps its shape."""

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
from jaxtyping import Array

from physrank._renamed import refuse_keywords

FORMERLY = {
    "lift": "grid=physrank.Grid.periodic(shape, lengths), Grid.nodes(…) or Grid.cells(…)",
    "lift_axes": "the number of axes of grid=physrank.Grid…",
    "weights": "residual_weights=",
}


def check_keywords(problem: Any, unknown: dict[str, Any]) -> None:
    """Old and misspelt keyword arguments are errors that say the right one."""
    if not unknown:
        return
    known = tuple(inspect.signature(type(problem).__init__).parameters)[1:-1]
    refuse_keywords(type(problem).__name__, unknown, known, FORMERLY)


def check_call(what: str, function: Any, arguments: tuple[str, ...], hint: str) -> None:
    """Raise a ValueError that shows the call, if `function` cannot take that many arguments."""
    call = f"{what}({', '.join(arguments)})"
    if not isinstance(function, Callable):
        raise ValueError(f"{what} must be a function, called as {call}; got {function!r:.60}.")
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):  # built-ins without a signature
        return
    try:
        signature.bind(*arguments)
    except TypeError:
        raise ValueError(f"{what} will be called as {call}, but its signature is {signature}. {hint}") from None


def same_shape(result: Array, state: Array) -> Array:
    if result.shape != state.shape:
        raise ValueError(
            f"The step returned shape {result.shape} for a state of shape {state.shape}; expected the same."
        )
    return result


def own_values(what: str, values: Any, state: Any) -> Any:
    """What a user's function returned, as an array like the state."""
    found = np.asarray(values)
    if found.size != state.size:
        raise ValueError(
            f"{what} returned shape {found.shape} for a state of shape {state.shape}; it must return one number for every "
            "unknown, boundary rows included."
        )
    return found.reshape(state.shape).astype(np.result_type(state.dtype, found.dtype, np.float64))
