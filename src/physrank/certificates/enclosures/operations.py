"""Operations of JAX programs on intervals: what is computed, what is only moved, what is compared.

An operation that is not in the tables `RULES`, `MOVES` and `COMPARISONS`, or a comparison that holds on one part of the box
only, has no enclosure: `Unenclosed` names it.
"""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from physrank.certificates.enclosures import elementary
from physrank.certificates.enclosures.matrices import contracted
from physrank.certificates.enclosures.rounding import Interval, above, below

Value = Any  # an Interval for floats; an array for whole numbers and truth values


class Unenclosed(Exception):
    """What cannot be enclosed, in words."""


def as_interval(value: Value) -> Interval:
    return value if isinstance(value, Interval) else Interval.of(value)


def on_numbers(equation: Any, values: list[Any]) -> list[Any]:
    """The operation itself; some in NumPy, which is quicker than asking JAX for one at a time."""
    if equation.primitive.name in QUICK:
        return [QUICK[equation.primitive.name](*values, **equation.params)]
    return bound(equation, values)


def bound(equation: Any, values: list[Any]) -> list[Any]:
    found = equation.primitive.bind(*values, **equation.params)
    return list(found) if equation.primitive.multiple_results else [found]


def _spread(x: Any, shape: tuple[int, ...], broadcast_dimensions: tuple[int, ...], **_: Any) -> Any:
    own = dict(zip(broadcast_dimensions, np.shape(x), strict=True))
    return np.broadcast_to(np.reshape(x, [own.get(axis, 1) for axis in range(len(shape))]), shape)


def _cut(x: Any, start_indices: Any, limit_indices: Any, strides: Any, **_: Any) -> Any:
    steps = strides or (1,) * len(start_indices)
    return np.asarray(x)[tuple(slice(*ends) for ends in zip(start_indices, limit_indices, steps, strict=True))]


QUICK: dict[str, Callable[..., Any]] = {
    "broadcast_in_dim": _spread,
    "slice": _cut,
    "reshape": lambda x, new_sizes, **_: np.reshape(x, new_sizes),
    "transpose": lambda x, permutation, **_: np.transpose(x, permutation),
    "squeeze": lambda x, dimensions, **_: np.squeeze(x, dimensions),
    "concatenate": lambda *x, dimension, **_: np.concatenate(x, dimension),
    "rev": lambda x, dimensions, **_: np.flip(x, dimensions),
}


# Operations that move numbers, and which of their operands are indices, which must be exact.
MOVES: dict[str, slice] = {
    **dict.fromkeys(("reshape", "broadcast_in_dim", "transpose", "squeeze", "slice", "rev", "copy"), slice(0)),
    **dict.fromkeys(
        ("expand_dims", "reduce_max", "reduce_min", "split", "copy_p", "pad", "stop_gradient", "tile"), slice(0)
    ),
    **dict.fromkeys(("concatenate", "stack", "unstack"), slice(0)),
    **dict.fromkeys(("gather", "dynamic_slice"), slice(1, None)),
    "dynamic_update_slice": slice(2, None),
    "scatter": slice(1, 2),
}


def moved(equation: Any, values: list[Value]) -> list[Value]:
    indices = range(len(values))[MOVES[equation.primitive.name]]
    if (update := equation.params.get("update_jaxpr")) is not None and update.outvars != update.invars[1:]:
        raise Unenclosed("'scatter' with a function of what is there")
    if any(isinstance(values[k], Interval) for k in indices):
        raise Unenclosed(f"{equation.primitive.name!r} with indices that are computed from floats")
    numbers = iter(zip(*_ends([value for k, value in enumerate(values) if k not in indices]), strict=True))
    given = [[value] if k in indices else next(numbers) for k, value in enumerate(values)]
    sides = max(map(len, given))
    ends = [[np.asarray(x) for x in on_numbers(equation, [ends[min(side, len(ends) - 1)] for ends in given])]
            for side in range(sides)]  # fmt: skip
    return [Interval(low, high) for low, high in zip(ends[0], ends[-1], strict=True)]


def _ends(values: list[Value]) -> list[list[Any]]:
    """Lower and upper ends; once, where they are the same."""
    intervals = [as_interval(value) for value in values]
    if all(x.low is x.high for x in intervals):
        return [[x.low for x in intervals]]
    return [[x.low for x in intervals], [x.high for x in intervals]]


def each_end(function: Callable[..., Any], *values: Value) -> Value:
    if not any(isinstance(value, Interval) for value in values):
        return function(*values)
    ends = [np.asarray(function(*part)) for part in _ends(list(values))]
    return Interval(ends[0], ends[-1])


def _scattered(into: Value, where: Value, what: Value, **parameters: Any) -> Interval:
    """Sums of as many numbers as fall on one place: γ of them all."""
    if isinstance(where, Interval):
        raise Unenclosed("'scatter-add' with indices that are computed from floats")
    kept = {key: parameters[key] for key in ("dimension_numbers", "indices_are_sorted", "unique_indices", "mode")}

    def add(x: Any, y: Any) -> Any:
        return np.asarray(jax.lax.scatter_add(jnp.asarray(x), jnp.asarray(where), jnp.asarray(y), **kept))

    into, what = as_interval(into), as_interval(what)
    slack = (int(np.size(what.low)) + 2) * 2.0**-52 * add(into.magnitude, what.magnitude) * (1 + 2.0**-20)
    slack = slack + 2.0**-1000 * (slack != 0)  # compiled sums take what is below the smallest normal number for zero
    low, high = (add(a, b) for a, b in ((into.low, what.low), (into.high, what.high)))
    return Interval(below(low - slack), above(high + slack))


def _plus(a: Interval, b: Interval) -> Interval:
    """Adding zero is exact."""
    found = a + b
    nothing, other = _is_zero(a), _is_zero(b)
    if not (nothing.any() or other.any()):
        return found
    low, high = (np.where(nothing, y, np.where(other, x, z))
                 for x, y, z in zip(_pair(a), _pair(b), _pair(found), strict=True))  # fmt: skip
    return Interval(low, high)


def _times(a: Interval, b: Interval) -> Interval:
    """Zero times a number is zero."""
    found, nothing = a * b, _is_zero(a) | _is_zero(b)
    return Interval(*(np.where(nothing, 0.0, end) for end in _pair(found))) if nothing.any() else found


def _is_zero(x: Interval) -> np.ndarray:
    return (x.low == 0) & (x.high == 0)


def _pair(x: Interval) -> tuple[Any, Any]:
    return x.low, x.high


def _divided(a: Value, b: Value) -> Interval:
    b = as_interval(b)
    if np.any((b.low <= 0) & (b.high >= 0)):
        raise Unenclosed("a quotient whose divisor may be zero")
    return as_interval(a) / b


def _rooted(x: Value, **_: Any) -> Interval:
    x = as_interval(x)
    if np.any(x.low < 0):
        raise Unenclosed("a root of what may be negative")
    return x.root()


def _logarithm(x: Value, **_: Any) -> Interval:
    x = as_interval(x)
    if np.any(x.low <= 0):
        raise Unenclosed("a logarithm of what may be zero or negative")
    return elementary.log(x)


def _power(x: Value, y: int, **_: Any) -> Interval:
    x = as_interval(x)
    found = Interval.of(np.ones(x.shape)) if abs(y) % 2 == 0 else x
    square, left = x.squared(), abs(y) // 2
    while left:
        found = found * square if left % 2 else found
        square, left = square * square, left // 2
    return found if y >= 0 else _divided(1.0, found)


def _real_power(x: Value, y: Value, **_: Any) -> Interval:
    return elementary.exp(as_interval(y) * _logarithm(x))


def _absolute(x: Value, **_: Any) -> Interval:
    x = as_interval(x)
    spans = (x.low < 0) & (x.high > 0)
    return Interval(np.where(spans, 0.0, np.minimum(np.abs(x.low), np.abs(x.high))), x.magnitude)


def _sign(x: Value, **_: Any) -> Interval:
    x = as_interval(x)
    low, high = np.sign(x.low), np.sign(x.high)
    if np.any(low != high):
        raise Unenclosed("the sign of what may be zero: a kink inside the box")
    return Interval.of(low)


def _summed(x: Value, axes: tuple[int, ...], **_: Any) -> Interval:
    x = as_interval(x)
    if not axes:
        return x
    last = tuple(range(-len(axes), 0))
    if not all(x.shape[axis] for axis in axes):
        return Interval.of(np.sum(x.low, axis=axes))
    found = Interval(np.moveaxis(x.low, axes, last), np.moveaxis(x.high, axes, last)).total(len(axes))
    nothing = np.all(_is_zero(x), axis=axes)
    return Interval(*(np.where(nothing, 0.0, end) for end in _pair(found)))


def _running_sum(x: Value, axis: int, reverse: bool, **_: Any) -> Interval:
    x = as_interval(x)
    turned = Interval(*(np.moveaxis(end, axis, 0)[:: -1 if reverse else 1] for end in (x.low, x.high)))
    rows, total = [], Interval.of(np.zeros(turned.shape[1:]))
    for row in range(len(turned.low)):
        total = total + turned[row]
        rows.append(total)
    stacked = each_end(lambda *ends: np.stack(ends), *rows)
    return Interval(*(np.moveaxis(end[:: -1 if reverse else 1], 0, axis) for end in (stacked.low, stacked.high)))


def _product_of_matrices(a: Value, b: Value, dimension_numbers: Any, **_: Any) -> Interval:
    (left, right), (left_batch, right_batch) = dimension_numbers
    a, b = as_interval(a), as_interval(b)

    def arranged(x: Interval, batch: Any, contract: Any) -> tuple[Interval, tuple[int, ...]]:
        free = [axis for axis in range(len(x.shape)) if axis not in (*batch, *contract)]
        order = (*batch, *free, *contract)
        sizes = [int(np.prod([x.shape[axis] for axis in axes], initial=1)) for axes in (batch, free, contract)]
        ends = [np.transpose(end, order).reshape(sizes) for end in (x.low, x.high)]
        return Interval(ends[0], ends[0] if x.low is x.high else ends[1]), tuple(x.shape[axis] for axis in free)

    (first, rows), (second, columns) = arranged(a, left_batch, left), arranged(b, right_batch, right)
    shape = (*(a.shape[axis] for axis in left_batch), *rows, *columns)
    return contracted(first, second).reshape(*shape)


def _chosen(which: Value, *cases: Value, **_: Any) -> Value:
    which = np.asarray(which).astype(int)
    return each_end(lambda *ends: np.choose(which, ends), *cases)


def _converted(x: Value, new_dtype: Any, **_: Any) -> Value:
    if isinstance(x, Interval):
        if new_dtype != np.float64:
            raise Unenclosed(f"a conversion of floats to {new_dtype}")
        return x
    if not np.issubdtype(new_dtype, np.floating):
        return np.asarray(x).astype(new_dtype)
    number = np.asarray(x, np.float64)
    large = np.abs(number) >= 2.0**53  # whole numbers above are rounded
    return (
        Interval(np.where(large, below(number), number), np.where(large, above(number), number))
        if large.any()
        else Interval.of(number)
    )


def compared(surely: Callable[[Interval, Interval], tuple[Any, Any]], a: Interval, b: Interval) -> np.ndarray:
    true, false = surely(a, b)
    if not np.all(true | false):
        raise Unenclosed("a comparison that holds on one part of the box only")
    return np.asarray(true)


COMPARISONS: dict[str, Callable[[Interval, Interval], tuple[Any, Any]]] = {
    "lt": lambda a, b: (a.high < b.low, a.low >= b.high),
    "le": lambda a, b: (a.high <= b.low, a.low > b.high),
    "gt": lambda a, b: (a.low > b.high, a.high <= b.low),
    "ge": lambda a, b: (a.low >= b.high, a.high < b.low),
    "eq": lambda a, b: (
        (a.low == a.high) & (b.low == b.high) & (a.low == b.low),
        (a.high < b.low) | (a.low > b.high),
    ),
    "ne": lambda a, b: tuple(reversed(COMPARISONS["eq"](a, b))),
}


def _of(function: Callable[[Interval], Interval]) -> Callable[..., Interval]:
    return lambda x, **_: function(as_interval(x))


RULES: dict[str, Callable[..., Value]] = {
    **dict.fromkeys(("add", "add_any"), lambda a, b, **_: _plus(as_interval(a), as_interval(b))),
    "sub": lambda a, b, **_: _plus(as_interval(a), -as_interval(b)),
    "mul": lambda a, b, **_: _times(as_interval(a), as_interval(b)),
    "div": lambda a, b, **_: _divided(a, b),
    "neg": _of(lambda x: -x),
    "integer_pow": _power,
    "square": _of(Interval.squared),
    "pow": _real_power,
    "sqrt": _rooted,
    "rsqrt": lambda x, **_: _divided(1.0, _rooted(x)),
    "exp": _of(elementary.exp),
    "expm1": _of(elementary.expm1),
    "log": _logarithm,
    "log1p": lambda x, **_: _logarithm(1.0 + as_interval(x)),
    "logistic": _of(elementary.logistic),
    "tanh": _of(elementary.tanh),
    "sin": _of(elementary.sin),
    "cos": _of(elementary.cos),
    "tan": lambda x, **_: _divided(elementary.sin(as_interval(x)), elementary.cos(as_interval(x))),
    "sinh": _of(elementary.sinh),
    "cosh": _of(elementary.cosh),
    "abs": _absolute,
    "sign": _sign,
    "max": lambda a, b, **_: each_end(np.maximum, a, b),
    "min": lambda a, b, **_: each_end(np.minimum, a, b),
    "dot_general": _product_of_matrices,
    "reduce_sum": _summed,
    "cumsum": _running_sum,
    "scatter-add": _scattered,
    "select_n": _chosen,
    "convert_element_type": _converted,
    "iota": lambda **p: as_interval(np.asarray(jax.lax.broadcasted_iota(p["dtype"], p["shape"], p["dimension"]))),
}
