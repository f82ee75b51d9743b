"""Files on the line: which candidates they are, and what they tell of the input that all of them predict."""

import glob
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import physrank as pr
from physrank import _optional
from physrank.cli.naming import meant

Array = Any  # of NumPy, which loads when the first file is read
SHARED = 1e-5  # of the largest value: first frames that differ by less are one and the same


def located(arguments: Sequence[str]) -> dict[str, Path]:
    """Candidates' names and files: NAME=FILE, patterns, files by their stems, longer where stems are alike."""
    named: dict[str, Path] = {}
    plain: list[Path] = []
    for text in arguments:
        name, sign, rest = text.partition("=")
        if Path(text).exists() or not (sign and name):
            plain += [path for path in _matching(text) if path not in plain]
            continue
        found = _matching(rest)
        if len(found) > 1:
            raise ValueError(f"{text}: the pattern matches {len(found)} files; a name stands for one.")
        if name in named:
            raise ValueError(f"The name {name!r} is given to two files: {named[name]} and {found[0]}.")
        named[name] = found[0]
    for name, path in zip(_distinct(plain), plain, strict=True):
        if name in named:
            raise ValueError(f"{path} would be called {name!r}, as {named[name]} is. Name it: NAME={path}.")
        named[name] = path
    return named


def _matching(text: str) -> list[Path]:
    if Path(text).exists():
        return [Path(text)]
    if glob.has_magic(text):
        if found := sorted(glob.glob(text, recursive=True)):
            return [Path(path) for path in found]
        raise ValueError(f"No file matches the pattern {text!r}.")
    folder = Path(text).parent
    if not folder.is_dir():
        raise ValueError(f"{text}: there is no folder {folder}.")
    raise ValueError(f"There is no file {text!r}.{meant(text, [str(path) for path in folder.iterdir()])}")


def _distinct(paths: Sequence[Path]) -> list[str]:
    """Stems; where they are alike, with as many folders before them as tell them apart."""
    parts = [(*path.resolve().parts[:-1], path.stem) for path in paths]
    for depth in range(1, max(map(len, parts), default=1) + 1):
        names = ["/".join(part[-depth:]) for part in parts]
        if len(set(names)) == len(names):
            return names
    raise ValueError(f"Two files differ in their endings only: {', '.join(map(str, paths))}. Name them: NAME=FILE.")


@dataclass(frozen=True, eq=False)
class Given:
    """Files of candidates, opened; nothing is read until asked for."""

    paths: dict[str, Path]
    named: bool  # several files, or a name of its own: not one file of many candidates
    layout: str = "auto"
    dims: str | None = None
    fields: tuple[str, ...] | None = None
    from_frame: int = 0

    @classmethod
    def of(cls, arguments: Sequence[str], **how: Any) -> "Given":
        if not arguments:
            raise ValueError("No files: name at least one file of predictions.")
        paths = located(arguments)
        return cls(paths, len(paths) > 1 or not Path(arguments[0]).exists(), **how)

    def open(self, path: Path) -> Any:
        try:
            return pr.read(path, self.layout, dims=self.dims)
        except OSError as problem:
            raise ValueError(f"{path} cannot be read: {problem.strerror or problem}.") from None

    @cached_property
    def files(self) -> dict[str, Any]:
        return {name: self.open(path) for name, path in self.paths.items()}

    @property
    def samples(self) -> int:
        counts = {name: file.samples for name, file in self.files.items()}
        if len(set(counts.values())) > 1:
            raise ValueError(f"Files hold different numbers of inputs: {counts}; expected the same inputs in all.")
        return next(iter(counts.values()))

    def states(self, sample: int) -> dict[str, Array]:
        """All candidates of one input, whole."""
        found: dict[str, Array] = {}
        for name, file in self.files.items():
            inner = self.inside(file, sample)
            for label, state in inner.items():
                own = name if len(inner) == 1 else f"{name}/{label}" if self.named else label
                if own in found:
                    raise ValueError(f"Two candidates are called {own!r}.")
                found[own] = state
        return found

    def inside(self, file: Any, sample: int) -> dict[str, Array]:
        return file.candidates(sample) if self.fields is None else {"": file.state(sample, self.fields)}

    def cropped(self, state: Array, name: str) -> Array:
        """From the frame at which prediction begins."""
        if self.from_frame > len(state) - 2:
            raise ValueError(
                f"--from-frame {self.from_frame}: {name} has {len(state)} frames; at least two must be left."
            )
        return state[self.from_frame :]

    def initial(self, path: Path | None, sample: int, states: dict[str, Array]) -> Array:
        """The first frame, which all candidates share or a file holds."""
        numpy = _optional.load("numpy")
        first = {name: self.cropped(state, name)[0] for name, state in states.items()}
        (name, row), *others = first.items()
        if path is not None:
            (known, *more) = self.inside(self.open(path), sample).values()
            if more:
                raise ValueError(f"{path} holds several states; name the field of the initial one with --fields.")
            known = self.cropped(known, str(path))[0] if known.ndim > row.ndim else known
            if known.ndim != row.ndim:
                raise ValueError(f"{path} has a state of shape {known.shape}; expected frames like {row.shape}.")
            return known
        for other, values in others:
            if values.shape != row.shape:
                raise ValueError(
                    f"{name} has frames of shape {row.shape} and {other} of {values.shape}: which of them is the initial "
                    "state? Say so with --initial FILE."
                )
            off, size = float(numpy.abs(values - row).max()), float(numpy.abs(row).max())
            if not off <= SHARED * size:
                raise ValueError(
                    f"{name} and {other} do not share frame {self.from_frame}: they differ by up to {off:.3g} of {size:.3g}. "
                    "Give the initial state with --initial FILE, or the frame that they share with --from-frame."
                )
        return row

    def times(self, rows: int, stated: tuple[float, ...] | None, source: str) -> Array:
        """Of all frames that are kept."""
        numpy = _optional.load("numpy")
        if stated is not None:
            if len(stated) not in (2, rows):
                raise ValueError(
                    f"{source}: {len(stated)} times for {rows} frames; expected the first and the last, or all."
                )
            times = numpy.linspace(*stated, rows) if len(stated) == 2 else numpy.asarray(stated, float)
            return times[self.from_frame :]
        known = [(name, file.coordinates["t"]) for name, file in self.files.items() if "t" in file.coordinates]
        if not known:
            raise ValueError("The files do not say their times. Give the first and last frame's: --times 0:1.")
        (name, times), *others = known
        for other, line in others:
            if line.shape != times.shape or not numpy.allclose(line, times, rtol=1e-5, atol=1e-9):
                raise ValueError(f"{name} and {other} have different times; expected the same frames in all.")
        if len(times) != rows:
            raise ValueError(f"{name} has {len(times)} times for {rows} frames. Give them: --times FIRST:LAST.")
        return times[self.from_frame :]

    def length(self, nodes: bool) -> tuple[float, str] | None:
        """Of the first side, with the file that says so."""
        found = []
        for name, file in self.files.items():
            grid = file.grid()
            if grid["axes"]:
                if not grid["uniform"]:
                    raise ValueError(f"{name} has unequal spacings; built-in equations need equal ones.")
                found.append((grid["spacing"][0] * (grid["points"][0] - nodes), name))
        return _agreed("length", found)

    def number(self, names: Sequence[str]) -> tuple[Any, str] | None:
        """A number of the equation under the names that files give it, with the file that says so."""
        found = []
        for name, file in self.files.items():
            if names and all(key in file.numbers for key in names):
                values = tuple(file.numbers[key] for key in names)
                found.append(((values[0] if len(values) == 1 else values), name))
        return _agreed(" and ".join(names), found)


def alike(one: Any, other: Any) -> bool:
    """Whether two statements of one number agree, up to how files round."""
    numpy = _optional.load("numpy")
    one, other = numpy.asarray(one), numpy.asarray(other)
    if one.dtype.kind not in "fiu" or other.dtype.kind not in "fiu":
        return bool(numpy.array_equal(one, other))
    return one.shape == other.shape and bool(numpy.allclose(one, other, rtol=1e-5, atol=0))


def _agreed(what: str, found: Sequence[tuple[Any, str]]) -> tuple[Any, str] | None:
    """What all files say, which must be one and the same."""
    for value, name in found[1:]:
        if not alike(value, found[0][0]):
            raise ValueError(
                f"{found[0][1]} says {what} {found[0][0]}, and {name} says {value}: are these predictions of one solution? "
                "If so, state it with --set."
            )
    return found[0] if found else None
