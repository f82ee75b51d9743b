"""Compiled programs and how they are called: arrays go in by themselves, whatever else an argument holds says which program.

`equinox.filter_jit` does the same for half a millisecond a call, which is as long as a small march takes.
"""

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import jax
import numpy as np

from physrank import _compiling

PROGRAMS = 64  # compiled versions of one calculation that are kept: shapes, and functions of users
QUICK = {"xla_backend_optimization_level": 0, "xla_cpu_use_fusion_emitters": False}  # a quarter of the compile time

Arrays = (jax.Array, np.ndarray, np.generic)


def call(function: Callable[..., Any], quick: bool, *arguments: Any, taken: Callable[[Any], Any] | None = None) -> Any:
    """`function(*arguments)`, compiled once per shape and per whatever in the arguments is no array; of its arrays what
    `taken` makes of them."""
    program = compiled(function, quick)
    if program._cache_size() >= PROGRAMS:
        # A function that is defined anew for every call is compiled anew, a few megabytes each: of so many, none is kept.
        program.clear_cache()
    leaves, structure = jax.tree.flatten(arguments)
    arrays = [leaf for leaf in leaves if isinstance(leaf, Arrays)]
    fixed = tuple(HERE if isinstance(leaf, Arrays) else leaf for leaf in leaves)
    found, told = program((structure, fixed), arrays)
    _compiling.tell(False)
    return told.put_into(found if taken is None else [taken(array) for array in found])


@cache
def compiled(function: Callable[..., Any], quick: bool) -> Any:
    def program(fixed: tuple[Any, tuple[Any, ...]], arrays: Sequence[jax.Array]) -> Any:
        _compiling.tell(True)  # Python runs this only while it traces: compiling begins
        structure, leaves = fixed
        given = iter(arrays)
        whole = [next(given) if leaf is HERE else leaf for leaf in leaves]
        found, structure = jax.tree.flatten(function(*jax.tree.unflatten(structure, whole)))
        told = tuple(HERE if isinstance(leaf, Arrays) else leaf for leaf in found)
        return [leaf for leaf in found if isinstance(leaf, Arrays)], Told(structure, told)

    program.__name__ = getattr(function, "__name__", "program")  # what logs and profiles show
    return jax.jit(program, static_argnums=0, **options(quick))


class _Here:
    """The place of an array."""


HERE = _Here()


@jax.tree_util.register_pytree_node_class
class Told:
    """What a program returns that is no array, with its shape: put together once, around the arrays that are wanted."""

    def __init__(self, structure: Any, leaves: tuple[Any, ...]):
        self.structure, self.leaves = structure, leaves

    def put_into(self, arrays: Sequence[Any]) -> Any:
        given = iter(arrays)
        return jax.tree.unflatten(self.structure, [next(given) if leaf is HERE else leaf for leaf in self.leaves])

    def tree_flatten(self) -> tuple[tuple[()], Any]:
        return (), (self.structure, self.leaves)

    @classmethod
    def tree_unflatten(cls, fixed: Any, _: Any) -> "Told":
        return cls(*fixed)


@cache
def options(quick: bool) -> dict[str, Any]:
    """Those of QUICK that the installed compiler knows."""
    return {"compiler_options": {n: v for n, v in QUICK.items() if _knows(n, v)}} if quick else {}


def _knows(option: str, value: Any) -> bool:
    try:
        jax.jit(lambda x: x + 1, compiler_options={option: value})(0)
    except jax.errors.JaxRuntimeError:
        return False
    return True
