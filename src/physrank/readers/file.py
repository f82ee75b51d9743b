"""A file as physrank sees it: fields, coordinates, numbers, and from them one state or several candidates."""

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from physrank import _axes as axes
from physrank.readers.contents import COORDINATES, Contents, base, is_coordinate
from physrank.readers.field import LazyField, in_double
from physrank.readers.limits import Limit, ReadError

# Names of what a flow is made of, in the order of the channels of `equations.conservative` and `CompressibleFlow`.
FLOW = ("density", "rho", "momentum", "velocity", "vx", "vy", "vz", "momentum_x", "momentum_y", "pressure", "energy")


class File:
    """What `physrank.read` returns. Nothing is read until a value is asked for.

    `layout`, `path`; `fields`, name → `LazyField` with axes in the order (sample, time, channel, *space);
    `coordinates`, "x", "y", "z", "t" → values where the file has them; `numbers`, the scalars found in it; `samples`, how
    many; `boundaries`, axis → condition where stated; `skipped`, what is in the file and no field, and why.
    """

    def __init__(self, path: Path, contents: Contents, limit: Limit):
        self.path, self.layout = path, contents.layout
        self.numbers, self.labels, self.boundaries = contents.numbers, contents.labels, contents.boundaries
        self.skipped, self._stacked, self._limit = contents.skipped, contents.stacked, limit
        everything = {name: LazyField(variable, limit) for name, variable in contents.variables.items()}
        self._lines = {name: field for name, field in everything.items() if is_coordinate(field.variable)}
        self.fields = {name: field for name, field in everything.items() if name not in self._lines}
        if not self.fields:
            why = "; ".join(f"{name}: {reason}" for name, reason in list(self.skipped.items())[:5])
            raise ReadError(f"{path} holds no field of numbers" + (f" ({why})." if why else "."))

    @property
    def samples(self) -> int:
        lengths = [field.shape[axis] for field in self.fields.values() if (axis := field.axis("sample")) is not None]
        return max(lengths, default=1)

    @cached_property
    def coordinates(self) -> dict[str, np.ndarray]:
        found = {}
        for name, field in sorted(self._lines.items(), key=lambda item: item[0].count("/")):
            found.setdefault(COORDINATES[base(name)], in_double(field[...]).reshape(-1))
        rows = {field.shape[axis] for field in self.fields.values() if (axis := field.axis("time")) is not None}
        if "t" in found and rows == {len(found["t"]) - 1}:  # PDEBench stores one time more than rows
            found["t"] = found["t"][:-1]
        return found

    @np.errstate(all="ignore")
    def grid(self) -> dict[str, Any]:
        """Of the space axes: their names, points, spacing, length (spacing × points) and whether they are equispaced."""
        names = [name for name in axes.SPACE if name in self.coordinates]
        lines = [self.coordinates[name] for name in names]
        steps = [np.diff(line) for line in lines]
        spacing = tuple(float(np.mean(step)) for step in steps)
        uniform = all(np.allclose(step, mean, rtol=1e-3, atol=0) for step, mean in zip(steps, spacing, strict=True))
        return {
            "axes": tuple(names),
            "points": tuple(map(len, lines)),
            "spacing": spacing,
            "length": tuple(h * len(line) for h, line in zip(spacing, lines, strict=True)),
            "uniform": uniform,
        }

    def state(self, sample: int = 0, fields: str | Sequence[str] | None = None) -> np.ndarray:
        """One sample in float64: (time, channel, *space), without the axes that the file does not have.

        Several fields become channels. A file of one field needs no `fields`; a flow's are stacked as density, velocity,
        pressure; others must be named.
        """
        names = (
            self._chosen(list(self.fields)) if fields is None else [fields] if isinstance(fields, str) else list(fields)
        )
        if not names:
            raise ReadError(f"fields is empty; expected names among {', '.join(self.fields)}.")
        for name in names:
            if name not in self.fields:
                raise ReadError(f"{self.path} has no field {name!r}: {self.skipped.get(name) or self._offer()}")
        if any(self.fields[name].axis("candidate") is not None for name in names):
            raise ReadError(f"{self.path} holds several candidates; use file.candidates() for the states of all.")
        return self._stack([self._part(name, sample) for name in names], names)

    def candidates(self, sample: int = 0) -> dict[str, np.ndarray]:
        """The states of all candidates in the file: along an axis called candidate, model, member or checkpoint; in
        groups; or one per field. A file of one state is one candidate, with the file's name."""
        along = [field for field in self.fields.values() if field.axis("candidate") is not None]
        if along:
            (field, *others) = along
            if others:
                raise ReadError(f"{self.path} has several fields of candidates: {', '.join(f.name for f in along)}.")
            name = next(dim for dim in field.dims or () if axes.role(dim) == "candidate")
            labels = self.labels.get(name) or [str(k) for k in range(field.shape[0])]
            if len(labels) != field.shape[0] or len(set(labels)) < len(labels):
                raise ReadError(f"{self.path}: {name} names {labels[:8]}; expected {field.shape[0]} different names.")
            return {label: self._real(field.name, self._sample(field, sample, k)) for k, label in enumerate(labels)}
        groups: dict[str, list[str]] = {}
        for name in self.fields:
            groups.setdefault(name.rsplit("/", 1)[0] if "/" in name else "", []).append(name)
        if self._stacked or len(self.fields) == 1 or (len(groups) == 1 and self._flow(list(self.fields))):
            return {self.path.stem: self.state(sample)}
        if "" not in groups and len(groups) > 1:
            return {group: self.state(sample, self._chosen(names)) for group, names in groups.items()}
        return {base(name) if len(groups) == 1 else name: self.state(sample, name) for name in self.fields}

    def _chosen(self, names: list[str]) -> list[str]:
        """The fields that make one state, in the order of its channels."""
        if self._flow(names):
            return sorted(names, key=lambda name: FLOW.index(base(name).lower()))
        if len(names) > 1 and not self._stacked:
            raise ReadError(f"{self.path} holds {len(names)} fields. {self._offer()}")
        return names

    def _flow(self, names: list[str]) -> bool:
        bases = [base(name).lower() for name in names]
        return len(set(bases)) == len(bases) > 1 and set(bases) <= set(FLOW)

    def _offer(self) -> str:
        listed = ", ".join(f"{name} {field.shape}" for name, field in list(self.fields.items())[:12])
        return f"Choose with fields=: {listed}."

    def _sample(self, field: LazyField, sample: int, candidate: int | None = None) -> np.ndarray:
        axis = field.axis("sample")
        count = self.samples if axis is None else field.shape[axis]
        if not -count <= sample < count:
            hint = "" if field.dims else ' If one of its axes counts samples, say so: read(path, dims="sample,time,x").'
            raise ReadError(f"{self.path} has {count} sample(s) of {field.name!r}; got sample={sample}.{hint}")
        key: list[Any] = [slice(None)] * field.ndim
        if candidate is not None:
            key[0] = candidate
        if axis is not None:
            key[axis] = sample
        return field[tuple(key)]

    def _part(self, name: str, sample: int) -> np.ndarray:
        return self._real(name, self._sample(self.fields[name], sample))

    def _real(self, name: str, values: np.ndarray) -> np.ndarray:
        if values.dtype.kind == "c":
            raise ReadError(
                f"Field {name!r} of {self.path} is complex; a state is real. Read it with np.asarray(file.fields[{name!r}]) "
                "and stack its real and imaginary parts as channels."
            )
        return in_double(values)

    def _stack(self, parts: list[np.ndarray], names: list[str]) -> np.ndarray:
        if len(parts) == 1:
            return parts[0]
        if any(self.fields[name].dims is None for name in names):
            raise ReadError(
                f"{self.path} does not name the axes of {', '.join(names)}, so that it is open where channels go. Say them: "
                'read(path, dims="sample,time,x,y").'
            )
        whole, at = [], 0
        for part, name in zip(parts, names, strict=True):
            field = self.fields[name]
            at = int(field.axis("time") is not None)
            whole.append(part if field.axis("channel") is not None else np.expand_dims(part, at))
        shapes = {part.shape[:at] + part.shape[at + 1 :] for part in whole}
        if len(shapes) > 1:
            listed = ", ".join(f"{name} {part.shape}" for name, part in zip(names, parts, strict=True))
            raise ReadError(f"Fields of different shapes cannot be the channels of one state: {listed}.")
        self._limit.check("The state", sum(part.nbytes for part in whole))
        return np.concatenate(whole, axis=at)

    def __repr__(self) -> str:
        lines = [f"{self.path} ({self.layout}, {self.samples} sample{'s' * (self.samples != 1)})"]
        lines += [f"  {name}: {' '.join(f.dims or ())} {f.shape} {f.dtype}" for name, f in self.fields.items()]
        lines += [f"  {name} = {value:g}" for name, value in self.numbers.items()]
        return "\n".join(lines)
