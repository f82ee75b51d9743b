"""What a format's reader hands over: named arrays, numbers and labels, whatever the file was."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from physrank._axes import role
from physrank.readers.field import Variable

MANY, LABELS = 1 << 24, 10_000  # no coordinate has more entries, no library more candidates
COORDINATES = {
    **{name: name for name in ("x", "y", "z", "t")},
    **{f"{name}{joint}coordinate": name for name in ("x", "y", "z", "t") for joint in "-_"},
    "time": "t",
    "times": "t",
}


@dataclass
class Contents:
    layout: str
    variables: dict[str, Variable]
    numbers: dict[str, float] = field(default_factory=dict)
    labels: dict[str, list[str]] = field(default_factory=dict)  # candidate-like axis → names
    boundaries: dict[str, str] = field(default_factory=dict)  # axis → what happens there
    stacked: bool = False  # its fields are the channels of one state
    series: tuple[str, ...] = ()  # names of the groups that are one sample each
    skipped: dict[str, str] = field(default_factory=dict)  # name → why it is no field

    def add(self, variable: Variable) -> None:
        """To where it belongs: fields, numbers, names of candidates, or what is left out with its reason."""
        name, kind = variable.name, variable.dtype.kind
        everything = tuple(slice(0, n, 1) for n in variable.shape)
        if kind in "OSUT" and role(base(name)) == "candidate" and len(everything) == 1 and variable.size <= LABELS:
            self.labels[base(name)] = [text(label) for label in variable.fetch(everything)]
        elif kind not in "fiubc":
            self.skipped[name] = f"its values are of type {variable.dtype}, expected numbers"
        elif variable.size == 0:
            self.skipped[name] = f"it is empty, with shape {variable.shape}"
        elif variable.size == 1 and kind != "c":
            shown = name if base(name) in self.numbers else base(name)
            self.numbers[shown] = float(np.reshape(variable.fetch(everything), -1)[0])
        else:
            self.variables[name] = variable


def base(name: str) -> str:
    return name.rsplit("/", 1)[-1]


def text(value: Any) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


def line(shape: tuple[int, ...]) -> int | None:
    """The length of what is one line of numbers, also as a row or column of a matrix."""
    return max(shape) if shape and np.prod(shape, dtype=object) == max(shape) > 1 else None


def is_coordinate(variable: Variable) -> bool:
    length = line(variable.shape)
    return base(variable.name) in COORDINATES and length is not None and length <= MANY and variable.real


def numbers_of(attributes: Mapping[str, Any]) -> dict[str, float]:
    """The real scalars among attributes."""
    found = {}
    for name, value in attributes.items():
        array = np.asarray(value)
        if array.dtype.kind in "fiu" and array.size == 1 and not name.startswith("_"):
            found[str(name)] = float(array.reshape(-1)[0])
    return found
