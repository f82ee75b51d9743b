"""Who computes: one door through which a function of problems and arrays runs, in float64, and returns NumPy.

Functions are compiled once per shape; problems that live on the host (`problem.host`) are handed to the same function as
it is. Nobody's global JAX settings change.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from physrank import _division, _programs

TOGETHER = 16  # inputs that move through one compiled sweep; beyond that they only crowd the cache
NUMBERS_TOGETHER = 4096  # for iterations, which end with the slowest: dense products already fill the machine

_once: ContextVar[bool] = ContextVar("once", default=False)


@contextmanager
def once(quick: bool = True) -> Iterator[None]:
    """Context for a small program that runs once: optimising it would take longer than it saves."""
    token = _once.set(quick)
    try:
        yield
    finally:
        _once.reset(token)


def quickly() -> bool:
    """Whether this is such a context: whoever computes elsewhere must know, to compute the same."""
    return _once.get()


def double() -> Any:
    """Context in which JAX computes in float64; the caller's setting returns on exit.

    Build `exponax` steppers and other JAX objects inside it to have them in double precision.

    ```python
    with pr.double():
        stepper = exponax.stepper.Burgers(1, 6.28, 64, 0.01)
    ```
    """
    return jax.enable_x64(True)


def run(function: Callable[..., Any], *arguments: Any) -> Any:
    """`function(*arguments)`; arrays in the arguments may be NumPy, and all arrays of the result are.

    `function` must be a lasting one (defined at module level): it is compiled once per shape, and compiled code is kept.
    """
    with double():
        if on_host(*arguments):
            with np.errstate(all="ignore"):  # numbers that are not finite are noticed where they matter, as in JAX
                return _in_numpy(function(*arguments))
        with _explained():
            if (layout := _division.of(*arguments)) is not None:
                return _divided_run(function, arguments, layout)
            return _programs.call(function, _once.get(), *arguments, taken=np.asarray)


def compiled(function: Callable[..., Any], *arguments: Any) -> Any:
    """`function(*arguments)` compiled, JAX arrays in and out, in their own precision: for networks, which bring theirs."""
    return _programs.call(function, _once.get(), *arguments)


def run_batch(function: Callable[..., Any], problems: Sequence[Any], arrays: Any, *fixed: Any) -> Any:
    """`function(problem, array, *fixed)` for many inputs, in one compiled program; results have a leading axis.

    `problems` are of one kind; `arrays` is a sequence with one array (or tuple of arrays) for each.
    """
    if on_host(*problems) or _division.of(problems[0]) is not None:
        rows = [run(function, problem, array, *fixed) for problem, array in zip(problems, arrays, strict=True)]
        return jax.tree.map(lambda *leaves: np.stack(leaves), *rows)
    with double():
        rows = jax.tree.map(lambda *leaves: np.stack(leaves), *arrays)
        width = min(len(problems), _width(problems[0], sum(np.size(leaf) for leaf in jax.tree.leaves(arrays[0]))))
        with _explained():
            return _in_numpy(compiled(_mapped(function), stack(problems), rows, fixed, width))


def each(function: Callable[..., Any], rows: Any, problem: Any, batch: int | None = None) -> Any:
    """`function(row)` for every row of a pytree of arrays: vectorised (`batch` at a time), or one by one on the host."""
    if not on_host(problem):
        return jax.vmap(function)(rows) if batch is None else jax.lax.map(function, rows, batch_size=batch)
    number = len(jax.tree.leaves(rows)[0])
    found = [function(jax.tree.map(lambda leaf, k=k: leaf[k], rows)) for k in range(number)]
    return jax.tree.map(lambda *leaves: np.stack(leaves), *found)


def _in_numpy(tree: Any) -> Any:
    """JAX arrays of a pytree as NumPy arrays; the rest as it is."""
    return jax.tree.map(lambda leaf: np.asarray(leaf) if isinstance(leaf, jax.Array) else leaf, tree)


def stack(problems: Sequence[Any]) -> Any:
    """Problems of one kind as one problem with a leading batch axis on every array."""
    arrays, fixed = zip(*(eqx.partition(problem, eqx.is_array) for problem in problems), strict=True)
    expected = [jnp.shape(leaf) for leaf in jax.tree.leaves(arrays[0])]
    for k, (problem, rest) in enumerate(zip(problems, fixed, strict=True)):
        shapes = [jnp.shape(leaf) for leaf in jax.tree.leaves(arrays[k])]
        if not eqx.tree_equal(rest, fixed[0]) or shapes != expected:
            detail = (
                f"arrays {shapes} against {expected}" if shapes != expected else "another function or fixed setting"
            )
            raise ValueError(
                f"Problem {k} of this chunk ({type(problem).__name__}) differs in kind from problem 0 "
                f"({type(problems[0]).__name__}): {detail}. Give all inputs the same functions and shapes, with what "
                "changes in data (a function defined anew for each input is another function), or rank separate panels."
            )
    return eqx.combine(jax.tree.map(lambda *leaves: np.stack(leaves), *arrays), fixed[0])


def _width(problem: Any, numbers: int) -> int:
    """How many inputs of a panel are worth moving together."""
    return TOGETHER if getattr(problem, "cheap_to_solve", False) else max(1, NUMBERS_TOGETHER // max(numbers, 1))


def on_host(*arguments: Any) -> bool:
    """Whether one of them is a problem whose functions take NumPy arrays."""
    return any(getattr(argument, "host", False) for argument in arguments)


INSTEAD = (
    "Write it with jax.numpy, or let it have NumPy arrays: physrank.Stationary(…, host=True) and physrank.Marching(…, "
    "host=True) for any function, physrank.Linear(matrix, rhs) and physrank.Assembled(residual, jacobian) for matrices."
)


@contextmanager
def _explained() -> Iterator[None]:
    """What JAX says when a function needs numbers where it is given none, in a sentence that says what to write instead."""
    try:
        yield
    except (jax.errors.TracerArrayConversionError, jax.errors.ConcretizationTypeError) as error:
        said = str(error).splitlines()[0]
        raise TypeError(
            f"A function of yours needs the numbers of an array while JAX traces it ({said}): NumPy, SciPy, float() and if "
            f"do. {INSTEAD}"
        ) from error
    except jax.errors.JaxRuntimeError as error:
        # XLA's threads know the program's setting, not this room's: what they hand to a callback is rounded.
        if "allback" in str(error) and re.search("dtype.*Expected: (float64|complex128)", str(error)):
            raise TypeError(
                'A callback of yours was called in single precision: put jax.config.update("jax_enable_x64", True) at the '
                f"top of your program. {INSTEAD}"
            ) from error
        raise
    except (ValueError, NotImplementedError, TypeError) as error:
        said = str(error)
        if "allback" in said and ("JVP" in said or "vmap" in said):
            raise TypeError(
                f"A callback of yours has no derivative, or cannot be batched ({said.splitlines()[0]}): give it a "
                f'jax.custom_jvp and vmap_method="sequential". {INSTEAD}'
            ) from error
        if "in-place item assignment" in said:
            raise TypeError(
                f"A function of yours assigns to entries of an array, which JAX does not. {INSTEAD}"
            ) from error
        raise


def _divided_run(function: Callable[..., Any], arguments: tuple[Any, ...], layout: _division.Layout) -> Any:
    with _division.used(layout):
        program = divided(function, layout, _once.get())
        return _in_numpy(_division.collected(program(*_division.placed(arguments, layout))))


@cache
def divided(function: Callable[..., Any], layout: _division.Layout, quick: bool = False) -> Any:
    """The program of a function for several devices."""

    def on_devices(*arguments: Any) -> Any:
        return _division.closed(function(*_division.opened(arguments, layout)), layout)

    return eqx.filter_jit(on_devices, **_programs.options(quick))


@cache
def _mapped(function: Callable[..., Any]) -> Callable[..., Any]:
    def over(problems: Any, arrays: jax.Array, fixed: tuple[Any, ...], width: int) -> Any:
        varying, constant = eqx.partition(problems, eqx.is_array)

        def one(case: tuple[Any, jax.Array]) -> Any:
            return function(eqx.combine(case[0], constant), case[1], *fixed)

        return jax.lax.map(one, (varying, arrays), batch_size=width)

    return over
