"""Float64 for physrank's own computations, without touching anybody's global JAX state."""

import functools
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

import jax
import jax.numpy as jnp
import numpy as np

P = ParamSpec("P")
R = TypeVar("R")


def double() -> Any:
    """Context in which JAX computes in float64; the caller's setting returns on exit.

    Build `exponax` steppers and other JAX objects inside it to have them in double precision.
    """
    return jax.enable_x64(True)


def in_double(function: Callable[P, R]) -> Callable[P, R]:
    """Run `function` inside `double()`."""

    @functools.wraps(function)
    def wrapped(*args: P.args, **kwargs: P.kwargs) -> R:
        with double():
            return function(*args, **kwargs)

    return wrapped


def as_double(tree: Any) -> Any:
    """Floats and complex numbers of a pytree as double-precision JAX arrays; everything else as it is.

    Python floats become arrays too: they are data, and a new value must not cause a recompilation.
    """

    def convert(leaf: Any) -> Any:
        if hasattr(leaf, "detach"):  # torch, without importing it
            leaf = leaf.detach().cpu().numpy()
        if isinstance(leaf, float | complex):
            leaf = np.asarray(leaf)
        if isinstance(leaf, np.ndarray | np.generic | jax.Array):
            kind = leaf.dtype.kind
            return jnp.asarray(leaf, {"f": np.float64, "c": np.complex128}.get(kind))
        return leaf

    with double():
        return jax.tree.map(convert, tree)
