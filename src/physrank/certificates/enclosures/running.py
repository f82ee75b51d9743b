"""A bound of the round-off in the value of a JAX function, entry by entry: running error analysis of its program.

Every number x̂ of the program carries e ≥ |x̂ − x|, x the value in exact arithmetic of the same program for the same stored
arguments, whatever its constants were before they were rounded. One operation on numbers with errors gives, for instance,

    sum       e_a + e_b + w (|â| + |b̂|),              product   |â| e_b + |b̂| e_a + e_a e_b + w |â b̂|,
    Σ of k    Σ e + k w Σ |x̂|,                        quotient  (e_a + |â/b̂| e_b) / (|b̂| − e_b) + w |â/b̂|,

with w = 4u (8u for sums of k): compilers may contract a product with a sum, turn a quotient by a constant into a product and
join constants, each at the price of another rounding of numbers of the same size. Compiled programs take numbers below 2⁻¹⁰²²
for zero: operands and results may each be off by 2⁻¹⁰⁰⁰ more. Every e is enlarged by 2⁻⁴⁵, for the rounding of e itself.

What has no rule here (a transform, a loop with a condition, an eigenvalue) has no bound: `bounded` then returns None.
"""

from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer
from jax.extend.core import ClosedJaxpr, Literal

from physrank import compute
from physrank.certificates.enclosures.programs import called, reading
from physrank.certificates.enclosures.rounding import UNIT
from physrank.geometry.space import Array

W = 4 * UNIT
CONSTANT = 32 * UNIT  # of a constant of the program that is no whole number: a few roundings may have led to it
FUNCTION = 16 * UNIT  # of an elementary function: an absolute error where its size is at most one, else relative
TINY = 2.0**-1000
ENLARGED = 1 + 2.0**-45

Pair = tuple[Any, Any]  # a value and its error; None: exact


class NoRule(Exception):
    """An operation without a bound."""


def bounded(function: Callable[..., Any], *arguments: Any) -> tuple[Any, Any] | None:
    """`(value, error)` of a function defined at module level, as `compute.run` would evaluate it; None: no bound is known."""
    if any(getattr(argument, "host", False) for argument in arguments):
        return None
    try:
        value, error = compute.run(_with_errors, function, reading(function, *arguments), *arguments)
    except NoRule:
        return None
    return value, jax.tree.map(lambda e: np.where(np.isnan(e), np.inf, e), error)


def evaluated(function: Callable[..., Any], *arguments: Any) -> tuple[tuple[Any, Any], bool]:
    """`(value, error)`, and whether the error is a bound: where there is none, it is taken for zero."""
    found = bounded(function, *arguments)
    if found is not None:
        return found, True
    value = compute.run(function, *arguments)
    return (value, jax.tree.map(np.zeros_like, value)), False


def _with_errors(function: Callable[..., Any], said: str, *arguments: Any) -> tuple[Any, Any]:
    arrays, rest = eqx.partition(arguments, eqx.is_array)
    leaves, tree = jax.tree.flatten(arrays)
    shape: list[Any] = []

    def flat(*given: Any) -> list[Any]:
        found, there = jax.tree.flatten(function(*eqx.combine(jax.tree.unflatten(tree, given), rest)))
        shape.append(there)
        return [jnp.asarray(x) for x in found]

    pairs = _evaluate(jax.make_jaxpr(flat)(*leaves), [(leaf, None) for leaf in leaves])
    values, errors = zip(*((x, _given(e, x)) for x, e in pairs), strict=True)
    return jax.tree.unflatten(shape[0], values), jax.tree.unflatten(shape[0], errors)


def _evaluate(program: ClosedJaxpr, arguments: list[Pair]) -> list[Pair]:
    known: dict[Any, Pair] = dict(zip(program.jaxpr.invars, arguments, strict=True))
    known |= {var: _constant(value) for var, value in zip(program.jaxpr.constvars, program.consts, strict=True)}

    def read(atom: Any) -> Pair:
        return _constant(atom.val) if isinstance(atom, Literal) else known[atom]

    for equation in program.jaxpr.eqns:
        found = _operation(equation, [read(atom) for atom in equation.invars])
        known |= dict(zip(equation.outvars, found, strict=True))
    return [read(atom) for atom in program.jaxpr.outvars]


def _operation(equation: Any, pairs: list[Pair]) -> list[Pair]:
    name, parameters = equation.primitive.name, equation.params
    if name == "scan":
        return _scan(parameters, pairs)
    if (inner := called(equation)) is not None:
        return _evaluate(inner, pairs)
    exact = all(error is None for _, error in pairs)
    floats = [jnp.issubdtype(var.aval.dtype, jnp.inexact) for var in equation.outvars]
    if any(var.aval.dtype not in (jnp.float64, jnp.int64, jnp.int32, jnp.bool_) for var in equation.outvars):
        raise NoRule(name)
    apply = lambda *values: equation.primitive.bind(*values, **parameters)  # noqa: E731
    if not any(floats) or (exact and name in MOVES):
        if not exact:
            raise NoRule(name)  # a comparison of numbers that are not known to the last bit
        found = apply(*(value for value, _ in pairs))
        if any(floats) and name == "convert_element_type" and pairs[0][0].dtype == jnp.int64:
            return [
                (found, jnp.where(jnp.abs(found) < 2.0**53, 0.0, W * jnp.abs(found)))
            ]  # whole numbers above are rounded
        return [(x, None) for x in (found if equation.primitive.multiple_results else [found])]
    values = [value for value, _ in pairs]
    if name in MOVES:
        return _moved(name, apply, pairs, equation)
    if name not in RULES:
        raise NoRule(name)
    result = jax.lax.optimization_barrier(apply(*values))  # (x/a)/b is not x/(ab) where ab overflows
    errors = [_given(error, value) + TINY for value, error in pairs]
    return [(result, ENLARGED * RULES[name](result, values, errors, parameters) + TINY)]


def _constant(value: Any) -> Pair:
    """1/h² is a number that the program did not compute: only whole numbers are what they seem."""
    if isinstance(value, Tracer) or not jnp.issubdtype(jnp.result_type(value), jnp.floating):
        return value, None
    numbers = np.asarray(value, np.float64)
    whole = numbers == np.round(numbers)
    return value, None if whole.all() else jnp.asarray(np.where(whole, 0.0, CONSTANT * np.abs(numbers)))


def _given(error: Any, value: Any) -> Any:
    return jnp.zeros(jnp.shape(value)) if error is None else error


# Operations that only move numbers, or choose between them; where indices or conditions come first, they are exact.
MOVES = {
    "reshape", "broadcast_in_dim", "transpose", "squeeze", "slice", "rev", "concatenate", "pad", "copy", "copy_p",
    "stack", "expand_dims", "stop_gradient", "convert_element_type", "neg", "split", "gather", "dynamic_slice", "select_n",
    "dynamic_update_slice",
}  # fmt: skip
INDEXED = {
    "gather": slice(1, None),
    "dynamic_slice": slice(1, None),
    "select_n": slice(1),
    "dynamic_update_slice": slice(2, None),
}


def _moved(name: str, apply: Callable[..., Any], pairs: list[Pair], equation: Any) -> list[Pair]:
    fixed = range(len(pairs))[INDEXED[name]] if name in INDEXED else ()
    if any(pairs[k][1] is not None for k in fixed):
        raise NoRule(name)
    errors = [value if k in fixed else _given(error, value) for k, (value, error) in enumerate(pairs)]
    value, error = apply(*(value for value, _ in pairs)), apply(*errors)
    if not equation.primitive.multiple_results:
        value, error = [value], [error]
    return [(x, jnp.abs(e)) for x, e in zip(value, error, strict=True)]


def _scan(parameters: dict[str, Any], pairs: list[Pair]) -> list[Pair]:
    """Errors are carried beside the values; what is exact outside and constant inside stays so."""
    constants, carried = parameters["num_consts"], parameters["num_carry"]
    program, before = parameters["jaxpr"], pairs[: parameters["num_consts"]]

    def inexact(value: Any) -> bool:
        return jnp.issubdtype(jnp.asarray(value).dtype, jnp.inexact)

    def doubled(rows: list[Pair]) -> list[Any]:
        return [(value, _given(error, value) if inexact(value) else None) for value, error in rows]

    def body(carry: Any, row: Any) -> Any:
        found = _evaluate(program, [*before, *carry, *row])
        return doubled(found[:carried]), doubled(found[carried:])

    start, rows = doubled(pairs[constants : constants + carried]), pairs[constants + carried :]
    options = {key: parameters[key] for key in ("length", "reverse")}
    last, stacked = jax.lax.scan(body, start, rows, **options)
    return [*last, *stacked]


def _product(_: Any, values: list[Any], errors: list[Any], __: Any) -> Any:
    (a, b), (p, q) = map(jnp.abs, values), errors
    return a * q + b * p + p * q + W * a * b


def _quotient(result: Any, values: list[Any], errors: list[Any], _: Any) -> Any:
    size, divisor = jnp.abs(result), jnp.abs(values[1])
    left = jnp.where(divisor < 1 / TINY, divisor - errors[1], 0.0)  # its inverse, if compiled so, is no zero
    return jnp.where(left > 0, (errors[0] + size * errors[1]) / left + W * size, jnp.inf)


def _power(result: Any, values: list[Any], errors: list[Any], parameters: Any) -> Any:
    exponent, (x,), (e,) = parameters.get("y", 2), values, errors
    largest, n = jnp.abs(x) + e, abs(exponent)
    if exponent == 0:  # one, whatever x is: some versions of JAX differentiate powers down to it
        return jnp.zeros_like(result)
    if exponent > 0:
        return n * largest ** (n - 1) * e + n * W * jnp.abs(result)
    left = jnp.abs(x) - e  # |x^-n − y^-n| ≤ n e / min(|x|, |y|)^{n + 1}
    return jnp.where(left > 0, n * e / left ** (n + 1) + (n + 1) * W * jnp.abs(result), jnp.inf)


def _root(result: Any, values: list[Any], errors: list[Any], _: Any) -> Any:
    (x,), (e,) = values, errors
    # |√x − √y| ≤ |x − y| / √x, and at most √|x − y|
    return jnp.where(x >= e, jnp.minimum(jnp.sqrt(e), e / result), jnp.inf) + W * result


def _contraction(_: Any, values: list[Any], errors: list[Any], parameters: Any) -> Any:
    (a, b), (p, q) = map(jnp.abs, values), errors
    axes = parameters["dimension_numbers"]
    dot = lambda x, y: jax.lax.dot_general(x, y, axes)  # noqa: E731
    terms = int(np.prod([np.shape(a)[axis] for axis in axes[0][0]], initial=1))
    # The sums that make the bound are rounded as well: they are enlarged once more.
    return (1 + 2 * terms * W) * (dot(a, q) + dot(p, b) + dot(p, q) + 2 * terms * W * dot(a, b)) + 4 * terms * TINY


def _sum(_: Any, values: list[Any], errors: list[Any], parameters: Any) -> Any:
    axes = parameters["axes"]
    terms = int(np.prod([np.shape(values[0])[axis] for axis in axes], initial=1))
    sizes = jnp.sum(errors[0] + 2 * terms * W * jnp.abs(values[0]), axis=axes)
    return (1 + 2 * terms * W) * sizes


def _running_sum(_: Any, values: list[Any], errors: list[Any], parameters: Any) -> Any:
    axis = parameters["axis"]
    terms = np.shape(values[0])[axis]
    each = errors[0] + 2 * terms * W * jnp.abs(values[0])
    return (1 + 2 * terms * W) * jax.lax.cumsum(each, axis, parameters["reverse"])


def _scattered(_: Any, values: list[Any], errors: list[Any], parameters: Any) -> Any:
    (into, where, what), (e, _, f) = values, errors
    terms = int(np.size(what)) + 1
    add = lambda x, y: jax.lax.scatter_add(x, where, y, parameters["dimension_numbers"], mode=parameters["mode"])  # noqa: E731
    return (1 + 2 * terms * W) * (add(e, f) + 2 * terms * W * add(jnp.abs(into), jnp.abs(what)))


def _logarithm(result: Any, values: list[Any], errors: list[Any], _: Any) -> Any:
    left = values[0] - errors[0]
    return jnp.where(left > 0, errors[0] / left, jnp.inf) + FUNCTION * (1 + jnp.abs(result))


def _lipschitz(result: Any, values: list[Any], errors: list[Any], _: Any) -> Any:
    """Of sine, cosine, tanh, logistic, arctangent: no slope above one, and values of the order of one."""
    return errors[0] + FUNCTION * jnp.maximum(jnp.abs(result), 1.0)


Rule = Callable[[Any, list[Any], list[Any], Any], Any]
RULES: dict[str, Rule] = {
    **dict.fromkeys(("add", "sub", "add_any"), lambda _, x, e, __: e[0] + e[1] + W * (jnp.abs(x[0]) + jnp.abs(x[1]))),
    "mul": _product,
    "div": _quotient,
    **dict.fromkeys(("integer_pow", "square"), _power),
    "sqrt": _root,
    "abs": lambda _, __, e, ___: e[0],
    **dict.fromkeys(("max", "min"), lambda _, __, e, ___: jnp.maximum(e[0], e[1])),
    "dot_general": _contraction,
    "reduce_sum": _sum,
    **dict.fromkeys(("reduce_max", "reduce_min"), lambda _, __, e, p: jnp.max(e[0], axis=p["axes"])),
    "cumsum": _running_sum,
    "scatter-add": _scattered,
    **dict.fromkeys(("sin", "cos", "tanh", "logistic", "atan"), _lipschitz),
    "exp": lambda y, _, e, __: (y + TINY) * (jnp.expm1(e[0]) + FUNCTION),
    "log": _logarithm,
}


def largest(pair: tuple[Array, Array]) -> Array:
    """|value| + error, rounded up: a bound of the exact size."""
    return ENLARGED * (np.abs(pair[0]) + pair[1])
