"""Checks of physical inputs, with messages that say what was got and what was expected."""

from typing import Any

import numpy as np

from physrank.geometry.space import Array


def finite_array(name: str, values: Any) -> Array:
    array = np.asarray(values)
    if array.dtype.kind not in "fiub":
        raise ValueError(f"{name} must be an array of real numbers; got dtype {array.dtype}.")
    array = array.astype(np.float64)
    if not np.all(np.isfinite(array)):
        bad = np.argwhere(~np.isfinite(array))
        raise ValueError(
            f"{name} must be finite; got {len(bad)} NaN or infinite values, the first at index {tuple(map(int, bad[0]))}."
        )
    return array


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
