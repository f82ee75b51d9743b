"""Checks of physical inputs, with messages that say what was got and what was expected."""

import functools
import inspect
import math
import warnings
from collections.abc import Callable
from typing import Any, Literal, ParamSpec

import numpy as np

from physrank._arrays import Array, to_numpy
from physrank._renamed import refuse_keywords

Substeps = int | Literal["auto"]
P = ParamSpec("P")


def clear_keywords(init: Callable[P, None]) -> Callable[P, None]:
    """A constructor whose misspelt keywords are named, with the nearest valid one, before any that is then missing."""
    known = tuple(inspect.signature(init).parameters)[1:]

    @functools.wraps(init)
    def checked(*given: P.args, **named: P.kwargs) -> None:
        unknown = {name: value for name, value in named.items() if name not in known}
        refuse_keywords(type(given[0]).__name__, unknown, known, {})
        init(*given, **named)

    return checked


def finite_array(name: str, values: Any) -> Array:
    return to_numpy(name, values, finite=True)


def positive(name: str, value: Any) -> Array:
    array = finite_array(name, value)
    if not np.all(array > 0):
        raise ValueError(f"{name} must be positive everywhere; got a minimum of {array.min():g}.")
    return array


def not_negative_number(name: str, value: Any) -> float:
    array = finite_array(name, value)
    if array.ndim != 0 or array < 0:
        raise ValueError(f"{name} must be one number ≥ 0; got {value!r}.")
    return float(array)


def increasing_times(times: Any) -> Array:
    array = finite_array("times", times)
    if array.ndim != 1 or len(array) < 2:
        raise ValueError(f"times must be a one-dimensional array with at least two entries; got shape {array.shape}.")
    wrong = np.flatnonzero(np.diff(array) <= 0)
    if len(wrong):
        k = int(wrong[0])
        raise ValueError(
            f"times must increase strictly; got times[{k}] = {array[k]:g}, times[{k + 1}] = {array[k + 1]:g}."
        )
    return array


def whole_number(name: str, value: Any, least: int) -> int:
    if int(value) != value or value < least:
        raise ValueError(f"{name} must be a whole number ≥ {least}; got {value!r}.")
    return int(value)


def stated_substeps(substeps: Any, needed: float, least: int) -> int:
    """As stated; for "auto" enough for `needed`, a multiple of `least`: coarser grids take halves of them."""
    if isinstance(substeps, str):
        if substeps != "auto":
            raise ValueError(f'substeps must be a whole number ≥ 1 or "auto"; got {substeps!r}.')
        if needed > MOST_SUBSTEPS:
            raise ValueError(
                f'substeps="auto" finds that {needed:.3g} substeps per row are needed, more than {MOST_SUBSTEPS}: store rows '
                "closer in time, or use fewer points; or check the units of times and of the initial state."
            )
        return least * max(1, math.ceil(needed / least))
    return whole_number("substeps", substeps, 1)


MOST_SUBSTEPS = 4096  # beyond, "auto" asks back: a march that long is more often a slip of units than meant


class UnderResolvedWarning(UserWarning):
    """A field has more structure than its grid can carry."""


TAIL_FRACTION = (
    1e-3  # share of the variance in the top third of the spectrum above which a field counts as under-resolved
)


def under_resolved(field: Array) -> bool:
    """Whether any row (last axis: a periodic grid) has too much of its variance in the top third of its spectrum."""
    modes = np.fft.rfft(field, axis=-1)
    spectrum = modes.real**2 + modes.imag**2
    mean, power = spectrum[..., 0], spectrum[..., 1:]
    tail, total = power[..., 2 * power.shape[-1] // 3 :].sum(axis=-1), power.sum(axis=-1)
    noise = 1e-24 * (mean + total)  # a constant field has only round-off in its spectrum
    return bool(np.any(tail > TAIL_FRACTION * total + noise))


def resolution_concerns(field: Array) -> list[str]:
    return ["under-resolved on this grid"] if under_resolved(field) else []


def warn_under_resolved(name: str, field: Array) -> None:
    if under_resolved(field):
        warnings.warn(
            f"{name} is under-resolved: more than {TAIL_FRACTION:.1%} of its variance is in the top third of the spectrum of "
            f"{field.shape[-1]} points. Use more points, or smooth it; a jump from the last point to the first (a "
            "repeated end point, a field that is not periodic) counts as structure too.",
            UnderResolvedWarning,
            stacklevel=3,
        )
