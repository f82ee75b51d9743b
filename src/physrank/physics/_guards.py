"""Checks on what users pass: a function that can be called, a real state, a step that keeps its shape."""

import inspect
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from physrank._precision import double


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


def real_state(initial: Any) -> Array:
    if not isinstance(initial, jax.Array):
        initial = np.asarray(initial)
    if initial.dtype.kind == "c":
        raise ValueError("initial is complex; expected a real state. Stack real and imaginary parts as channels.")
    with double():
        return jnp.asarray(initial, float)


def same_shape(result: Array, state: Array) -> Array:
    if result.shape != state.shape:
        raise ValueError(
            f"The step returned shape {result.shape} for a state of shape {state.shape}; expected the same."
        )
    return result
