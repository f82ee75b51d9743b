"""A field of a file: its shape is known, its values are read when asked for, in physrank's order of axes."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from physrank import _axes as axes
from physrank.readers.limits import Limit

Key = tuple[int | slice, ...]
Fetch = Callable[[Key], np.ndarray]


@dataclass(frozen=True, eq=False)
class Variable:
    """An array as it lies in the file."""

    name: str
    shape: tuple[int, ...]
    dtype: np.dtype
    fetch: Fetch
    dims: tuple[str, ...] | None = None

    @property
    def size(self) -> int:
        return int(np.prod([int(n) for n in self.shape], dtype=object))

    @property
    def real(self) -> bool:
        return self.dtype.kind in "fiub"


@dataclass(frozen=True, eq=False)
class LazyField:
    """`field.shape`, `.dtype`, `.dims` cost nothing; `field[...]` and `np.asarray(field)` read."""

    variable: Variable
    limit: Limit

    @property
    def name(self) -> str:
        return self.variable.name

    @property
    def dtype(self) -> np.dtype:
        return self.variable.dtype

    @property
    def order(self) -> list[int]:
        return list(range(len(self.variable.shape))) if self.variable.dims is None else axes.order(self.variable.dims)

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self.variable.shape[k] for k in self.order)

    @property
    def ndim(self) -> int:
        return len(self.variable.shape)

    @property
    def dims(self) -> tuple[str, ...] | None:
        dims = self.variable.dims
        return None if dims is None else tuple(dims[k] for k in self.order)

    def axis(self, role: str) -> int | None:
        """Where the axis of a role is, None without one."""
        roles = [axes.role(dim) for dim in self.dims or ()]
        return roles.index(role) if role in roles else None

    def __getitem__(self, key: Any) -> np.ndarray:
        asked = list(key) if isinstance(key, tuple) else [key]
        if not all(_plain(part) for part in asked):
            return self[...][key]
        if Ellipsis in asked:
            place = asked.index(Ellipsis)
            asked[place : place + 1] = [slice(None)] * (self.ndim - len(asked) + 1)
        if len(asked) > self.ndim:
            raise IndexError(f"Field {self.name!r} has {self.ndim} axes; got {len(asked)} indices.")
        asked += [slice(None)] * (self.ndim - len(asked))
        parts = [_within(part, n, self.name) for part, n in zip(asked, self.shape, strict=True)]
        entries = 1
        for part in parts:
            entries *= len(range(part.start, part.stop, part.step)) if isinstance(part, slice) else 1
        self.limit.check(f"Field {self.name!r}", entries * max(8, self.dtype.itemsize))
        order = self.order
        values = self.variable.fetch(tuple(parts[order.index(k)] for k in range(self.ndim)))
        kept = [k for k, part in zip(order, parts, strict=True) if isinstance(part, slice)]
        return np.transpose(values, [sorted(kept).index(k) for k in kept])

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        if copy is False:
            raise ValueError("A field of a file is read anew each time: it cannot be had without a copy.")
        values = self[...]
        with np.errstate(all="ignore"):
            return values if dtype is None else values.astype(dtype)

    def __repr__(self) -> str:
        return f"LazyField({self.name!r}, shape={self.shape}, dtype={self.dtype}, dims={self.dims})"


def in_double(values: np.ndarray) -> np.ndarray:
    """float64; what is not finite stays so without a word: whoever ranks it will say where."""
    with np.errstate(all="ignore"):
        return np.asarray(values, np.float64)


def _plain(part: Any) -> bool:
    if isinstance(part, slice):
        return part.step is None or (isinstance(part.step, int) and part.step > 0)
    return part is Ellipsis or (isinstance(part, int | np.integer) and not isinstance(part, bool))


def _within(part: Any, length: int, name: str) -> int | slice:
    if isinstance(part, slice):
        return slice(*part.indices(length))
    if not -length <= part < length:
        raise IndexError(f"Index {part} is out of range for an axis of length {length} of field {name!r}.")
    return int(part) % length
