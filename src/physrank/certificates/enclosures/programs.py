"""Programs of JAX functions: what a function says when it is read now, and whether it says so each time.

A function may close over arrays that change, ask Python for numbers, or hide its derivative. Whoever proves something about
it must know.
"""

import hashlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from enum import Enum
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.extend.core import ClosedJaxpr, Literal

from physrank import compute

CALLS = {
    "jit", "pjit", "closed_call", "core_call", "checkpoint", "remat", "remat2", "custom_jvp_call", "custom_vjp_call",
    "custom_vjp_call_jaxpr",
}  # fmt: skip
SETTINGS = int | float | str | tuple | Enum | np.dtype | None


def called(equation: Any) -> ClosedJaxpr | None:
    """The program of a call; None for operations that do something else with a program, a loop or `jax.lax.reduce`."""
    if equation.primitive.name not in CALLS:
        return None
    found = next((equation.params[key] for key in ("jaxpr", "call_jaxpr", "fun_jaxpr") if key in equation.params), None)
    return found if found is None or isinstance(found, ClosedJaxpr) else ClosedJaxpr(found, ())


def program_of(function: Callable[..., Any], *arguments: Any) -> tuple[ClosedJaxpr, Any]:
    """The program of a function of arrays, and the structure of its result."""
    with compute.double():
        shape: list[Any] = []

        def flat(*given: Any) -> list[Any]:
            found, there = jax.tree.flatten(function(*given))
            shape.append(there)
            return [jnp.asarray(x) for x in found]

        return jax.make_jaxpr(flat)(*arguments), shape[0]


def digest(program: ClosedJaxpr) -> str:
    """What a program says, its constants included: two that agree in it are the same function.

    A function may close over arrays that are changed later: whoever keeps something made of its program keeps it by this.
    """
    found = hashlib.sha256()
    _say(program, found.update)
    return found.hexdigest()


def _say(program: Any, tell: Callable[[bytes], Any]) -> None:
    """Its operations in turn, with their operands by number: several times quicker than JAX prints it."""
    inside = getattr(program, "jaxpr", program)
    known = {var: place for place, var in enumerate((*inside.constvars, *inside.invars))}

    def operand(atom: Any) -> str:
        if not isinstance(atom, Literal):
            return str(known[atom])
        numbers(atom.val)
        return "literal"

    def numbers(value: Any) -> None:
        array = np.asarray(value)
        tell(f"{array.shape} {array.dtype}".encode() + np.ascontiguousarray(array).tobytes())

    for value in getattr(program, "consts", ()):
        numbers(value)
    tell(" ".join(str(var.aval) for var in inside.invars).encode())
    for equation in inside.eqns:
        inner = _inside(equation.params)
        kept = (lambda x: isinstance(x, SETTINGS) and not _inside({"": x})) if inner else lambda x: not callable(x)
        plain = {key: value for key, value in equation.params.items() if kept(value)}
        operands = " ".join(operand(atom) for atom in equation.invars)
        tell(f"{equation.primitive.name} {operands} {plain}".encode())
        for each in inner:
            _say(each, tell)
        known |= {var: len(known) + k for k, var in enumerate(equation.outvars)}
    tell(" ".join(operand(atom) for atom in inside.outvars).encode())


_said: ContextVar[str | None] = ContextVar("said", default=None)


@contextmanager
def said_to_be(digests: str) -> Iterator[None]:
    """Context in which functions have been read already, and need not be read for every program that is made of them."""
    token = _said.set(digests)
    try:
        yield
    finally:
        _said.reset(token)


def reading(function: Callable[..., Any], *arguments: Any) -> str:
    """What a function of problems and arrays says now: compiled programs are kept with what it said then."""
    known = _said.get()
    return read(function, *arguments) if known is None else known


def read(function: Callable[..., Any], *arguments: Any) -> str:
    """The digest of a function, read anew; arrays in its arguments are arguments of the program, not constants."""
    arrays, rest = eqx.partition(arguments, eqx.is_array)
    leaves, tree = jax.tree.flatten(arrays)
    program, _ = program_of(lambda *given: function(*eqx.combine(jax.tree.unflatten(tree, given), rest)), *leaves)
    return digest(program)


def honest(function: Callable[..., Any], *arguments: Any) -> bool:
    """Whether what JAX differentiates is the function itself: no custom derivative, no `stop_gradient`."""
    return not hides({"program": program_of(function, *arguments)[0]})


LINEAR = {
    "reshape", "broadcast_in_dim", "transpose", "squeeze", "slice", "rev", "concatenate", "pad", "copy", "copy_p", "stack",
    "expand_dims", "neg", "split", "add", "sub", "add_any", "reduce_sum", "cumsum",
}  # fmt: skip
IN_ONE = {
    "mul": 2,
    "dot_general": 2,
    "div": 1,
    "gather": 1,
    "dynamic_slice": 1,
}  # in one of so many operands, others fixed


def affine(function: Callable[..., Any], *arguments: Any) -> bool:
    """Whether its program shows that a function of arrays is affine: every operation on what depends on them is linear."""
    with compute.double():
        return _affine(program_of(function, *arguments)[0], None) is not None


def _affine(program: Any, given: list[bool] | None) -> list[bool] | None:
    """Which results depend on the arguments that do; None: some not linearly."""
    inside = getattr(program, "jaxpr", program)
    moving = {var for var, moves in zip(inside.invars, given or [True] * len(inside.invars), strict=True) if moves}
    for equation in inside.eqns:
        depends = [not isinstance(atom, Literal) and atom in moving for atom in equation.invars]
        if not any(depends):
            continue
        name, inner = equation.primitive.name, _inside(equation.params)
        if name in ("pjit", "jit", "closed_call") and len(inner) == 1:
            found = _affine(inner[0], depends)
        elif name in LINEAR or (name in IN_ONE and sum(depends) == 1 and any(depends[: IN_ONE[name]])):
            found = [True] * len(equation.outvars)
        else:
            found = None
        if found is None:
            return None
        moving |= {var for var, moves in zip(equation.outvars, found, strict=True) if moves}
    return [not isinstance(atom, Literal) and atom in moving for atom in inside.outvars]


def hides(parameters: dict[str, Any]) -> bool:
    """Whether a custom derivative is somewhere inside."""
    equations = [e for p in _inside(parameters) for e in getattr(p, "jaxpr", p).eqns]
    return any(e.primitive.name.startswith(("custom_", "stop_grad")) or hides(e.params) for e in equations)


def _inside(parameters: dict[str, Any]) -> list[Any]:
    """The programs among the parameters of an operation."""
    given = [p for value in parameters.values() for p in (value if isinstance(value, tuple | list) else [value])]
    return [p for p in given if hasattr(getattr(p, "jaxpr", p), "eqns")]
