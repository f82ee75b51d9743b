"""The one door for arrays: NumPy, PyTorch, JAX and xarray come in, checked float64 goes on."""

from typing import Any, cast

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

from physrank import _axes
from physrank.compute import double

Array = NDArray[np.float64]


def to_numpy(what: str, value: Any, *, finite: bool = False, allow_complex: bool = False) -> Array:
    """A float64 array from anything array-like; `what` names it in errors. With `finite`, NaN and infinity are refused.

    With `allow_complex`, complex numbers stay what they are.
    """
    if hasattr(value, "dims") and hasattr(value, "coords"):  # xarray: its names say which axis is which
        value = value.transpose(*[value.dims[k] for k in _axes.order([str(dim) for dim in value.dims])])
    value = _without_torch(value)
    try:
        array = np.ma.filled(value, np.nan) if isinstance(value, np.ma.MaskedArray) else np.asarray(value)
    except ValueError as error:
        raise ValueError(f"{what} is not an array: {error}") from None
    if array.dtype.kind == "c" and not allow_complex:
        raise ValueError(
            f"{what} is complex ({array.dtype}); expected real numbers. Pass its real part, or stack real and imaginary "
            "parts as channels."
        )
    if array.dtype.kind not in "fiubc" and array.dtype.name != "bfloat16":
        raise ValueError(
            f"{what} must be an array of real numbers; got {type(value).__name__} with dtype {array.dtype}."
        )
    if array.size == 0:
        raise ValueError(f"{what} is empty: it has shape {array.shape}; expected at least one number.")
    array = cast(Array, array.astype(np.complex128 if array.dtype.kind == "c" else np.float64))
    if finite and (problem := not_finite(array)):
        raise ValueError(f"{what} must be finite; got {problem}.")
    return array


def _without_torch(value: Any) -> Any:
    """A tensor on any device, with or without gradients, as NumPy's, without importing torch; the rest as it is."""
    if not hasattr(value, "detach"):
        return value
    tensor = value.detach().cpu()
    return (tensor.double() if tensor.is_floating_point() else tensor.resolve_conj()).numpy()


def to_jax(what: str, value: Any, *, allow_complex: bool = False) -> jax.Array:
    """The same as a float64 JAX array; values that are being traced pass through."""
    if isinstance(value, jax.Array) and value.dtype.kind != "c":
        with double():
            return jnp.asarray(value, np.float64)
    return as_double(to_numpy(what, value, allow_complex=allow_complex))


def not_finite(array: Array) -> str | None:
    """How much of an array is not finite, and where it begins; None when all of it is."""
    bad = ~np.isfinite(array)
    if not bad.any():
        return None
    first = tuple(int(k) for k in np.argwhere(bad)[0])
    return f"{int(bad.sum())} NaN or infinite values, the first at index {first}"


def as_double(tree: Any) -> Any:
    """Floats and complex numbers of a pytree as double-precision JAX arrays; everything else as it is.

    Python floats become arrays too: they are data, and a new value must not cause a recompilation.
    """

    def convert(leaf: Any) -> Any:
        leaf = _without_torch(leaf)
        if isinstance(leaf, float | complex) or hasattr(leaf, "coords"):  # xarray
            leaf = np.asarray(leaf)
        if isinstance(leaf, jax.Array):
            return jnp.asarray(leaf, {"f": np.float64, "c": np.complex128}.get(leaf.dtype.kind))
        if isinstance(leaf, np.ndarray | np.generic):
            # Numbers stay numbers, also while a program is traced: a user may keep what a function of his own has stated.
            with jax.ensure_compile_time_eval():
                return jnp.asarray(leaf, {"f": np.float64, "c": np.complex128}.get(leaf.dtype.kind))
        return leaf

    with double():
        return jax.tree.map(convert, tree)


def as_host(tree: Any) -> Any:
    """Arrays of a pytree as NumPy arrays, floats and complex numbers in double precision; everything else as it is."""

    def convert(leaf: Any) -> Any:
        leaf = _without_torch(leaf)
        if isinstance(leaf, float | complex | np.ndarray | np.generic | jax.Array) or hasattr(leaf, "coords"):
            leaf = np.asarray(leaf)
            return leaf.astype({"f": np.float64, "c": np.complex128}.get(leaf.dtype.kind, leaf.dtype))
        return leaf

    return jax.tree.map(convert, tree)
