"""The numbers that a problem states: its float fields, and the float leaves of its data, by name."""

from collections.abc import Iterator
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from physrank.physics import capabilities
from physrank.physics.problem import Problem


def is_float(leaf: Any) -> bool:
    return eqx.is_array(leaf) and jnp.issubdtype(leaf.dtype, jnp.inexact)


def leaves(problem: Problem) -> Iterator[tuple[str, Any]]:
    """(name, number or array): "viscosity", "data[0]", "data['k']"."""
    for name, value in vars(problem).items():
        if isinstance(value, float):
            yield name, value
        elif not callable(value):
            for path, leaf in jax.tree_util.tree_flatten_with_path(eqx.filter(value, is_float))[0]:
                yield name + jax.tree_util.keystr(path), leaf


def in_words(problem: Problem, most: int | None = None) -> str:
    """viscosity 0.05, times 0 to 0.5, initial −1 to 1.2; at `most` so many of them."""
    said: list[str] = []
    for name, leaf in leaves(problem):
        values = _as_given(problem, np.asarray(leaf))
        if values.size == 1:
            said.append(f"{name} {float(values.ravel()[0]):.4g}")
        elif values.size:
            said.append(f"{name} from {float(values.min()):.4g} to {float(values.max()):.4g}")
    left = 0 if most is None else len(said) - most
    return ", ".join(said[:most]) + (f" and {left} more" if left > 0 else "")


def _as_given(problem: Problem, values: np.ndarray) -> np.ndarray:
    """A field that is kept as its half spectrum, on the grid again; of other complex numbers the sizes."""
    grid = capabilities.grid(problem)
    if not np.iscomplexobj(values):
        return values
    if grid is not None and len(grid.shape) == 1 and values.shape[-1:] == (grid.shape[0] // 2 + 1,):
        return np.fft.irfft(values, n=grid.shape[0])
    return np.abs(values)
