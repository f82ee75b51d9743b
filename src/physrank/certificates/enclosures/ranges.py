"""The values of a JAX function over a box: its program, operation by operation, in validated interval arithmetic.

Numbers given as arrays are taken as stored; constants of the program that are no whole numbers as within a few roundings of
what was meant (`running.CONSTANT`). What has no enclosure raises `Unenclosed`, which names it.
"""

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax.extend.core import ClosedJaxpr, Literal

from physrank import compute
from physrank.certificates.enclosures.operations import (
    COMPARISONS,
    MOVES,
    RULES,
    Unenclosed,
    Value,
    as_interval,
    bound,
    compared,
    each_end,
    moved,
    on_numbers,
)
from physrank.certificates.enclosures.programs import called, hides
from physrank.certificates.enclosures.rounding import Interval
from physrank.certificates.enclosures.running import CONSTANT

LONGEST_LOOP = 2000


def plain(program: ClosedJaxpr) -> Callable[..., list[Any]]:
    """The function that a program computes, with custom derivatives and `stop_gradient` taken out: what is differentiated
    is the function itself."""
    return lambda *given: _run(program, list(given), _plainly, lambda value: value)


def over(program: ClosedJaxpr, arguments: list[Value]) -> list[Value]:
    """Enclosures of its results for arguments in the given intervals."""
    with compute.double(), np.errstate(all="ignore"):
        return _run(program, [_as_value(a) for a in arguments], _operation, _constant)


def _run(program: ClosedJaxpr, arguments: list[Any], operation: Callable[..., list[Any]], constant: Any) -> list[Any]:
    known: dict[Any, Any] = dict(zip(program.jaxpr.invars, arguments, strict=True))
    known |= {var: constant(value) for var, value in zip(program.jaxpr.constvars, program.consts, strict=True)}

    def read(atom: Any) -> Any:
        return constant(atom.val) if isinstance(atom, Literal) else known[atom]

    for equation in program.jaxpr.eqns:
        found = operation(equation, [read(atom) for atom in equation.invars])
        known |= dict(zip(equation.outvars, found, strict=True))
    return [read(atom) for atom in program.jaxpr.outvars]


def _plainly(equation: Any, values: list[Any]) -> list[Any]:
    inner = called(equation)
    if inner is not None:
        return _run(inner, values, _plainly, lambda value: value)
    if equation.primitive.name == "stop_gradient":
        return values
    if equation.primitive.name in ("max", "min"):  # whose derivative compares results with operands, not operands
        larger, (a, b) = equation.primitive.name == "max", values
        return [jnp.where((a >= b) == larger, a, b)]
    if hides(equation.params):
        raise Unenclosed(f"a custom derivative inside {equation.primitive.name!r}")
    return bound(equation, values)


def _as_value(given: Any) -> Value:
    if isinstance(given, Interval):
        return given
    array = np.asarray(given)
    return Interval.of(_finite(array)) if array.dtype == np.float64 else array


def _finite(numbers: np.ndarray) -> np.ndarray:
    if not np.isfinite(numbers).all():
        raise Unenclosed("numbers that are not finite, in the data or the constants")
    return numbers


def _constant(value: Any) -> Value:
    numbers = np.asarray(value)
    if not np.issubdtype(numbers.dtype, np.floating):
        return numbers
    numbers = _finite(numbers.astype(np.float64))
    doubt = np.where(numbers == np.round(numbers), 0.0, CONSTANT * np.abs(numbers))
    return Interval.around(numbers, doubt) if doubt.any() else Interval.of(numbers)


def _operation(equation: Any, values: list[Value]) -> list[Value]:
    name, parameters = equation.primitive.name, equation.params
    inner = called(equation)
    if inner is not None:
        return _run(inner, values, _operation, _constant)
    if any(var.aval.dtype not in (jnp.float64, jnp.int64, jnp.int32, jnp.bool_) for var in equation.outvars):
        raise Unenclosed(f"{name!r} of {equation.outvars[0].aval.dtype} numbers")
    if "callback" in name:
        raise Unenclosed(f"{name!r}: Python may answer differently each time")
    if name == "scan":
        return _scan(parameters, values)
    if name == "cond":
        return _branch(parameters, values)
    whole = not any(jnp.issubdtype(var.aval.dtype, jnp.floating) for var in equation.outvars)
    if whole and not any(isinstance(value, Interval) for value in values):  # floats would be rounded
        return [np.asarray(x) for x in on_numbers(equation, values)]
    if name in MOVES:
        return moved(equation, values)
    if name in COMPARISONS:
        return [compared(COMPARISONS[name], *map(as_interval, values))]
    if name not in RULES:
        raise Unenclosed(f"the operation {name!r}")
    return [RULES[name](*values, **parameters)]


def _branch(parameters: dict[str, Any], values: list[Value]) -> list[Value]:
    """Of a condition that holds on the whole box, or of a number of a branch: anything else was refused where it was made."""
    which, branches = values[0], parameters["branches"]
    if isinstance(which, Interval):
        raise Unenclosed("a branch that is chosen by floats")
    return _run(branches[int(np.clip(which, 0, len(branches) - 1))], values[1:], _operation, _constant)


def _scan(parameters: dict[str, Any], values: list[Value]) -> list[Value]:
    if parameters["length"] > LONGEST_LOOP:
        raise Unenclosed(f"a loop of {parameters['length']} turns (at most {LONGEST_LOOP})")
    constants, carried = parameters["num_consts"], parameters["num_carry"]
    fixed, carry, rows = values[:constants], values[constants : constants + carried], values[constants + carried :]
    turns = range(parameters["length"])
    stacked: list[Any] = []
    for k in reversed(turns) if parameters["reverse"] else turns:
        found = _run(parameters["jaxpr"], [*fixed, *carry, *(row[k] for row in rows)], _operation, _constant)
        carry, out = found[:carried], found[carried:]
        stacked.append(out)
    stacked = stacked[::-1] if parameters["reverse"] else stacked
    return [*carry, *(each_end(lambda *ends: np.stack(ends), *column) for column in zip(*stacked, strict=True))]
