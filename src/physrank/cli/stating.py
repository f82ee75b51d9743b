"""From flags, a problem file and the files' own words to a problem for one input, with its candidates."""

import inspect
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import physrank as pr
from physrank.cli import catalogue, own, problem_file
from physrank.cli.catalogue import GRID, Entry
from physrank.cli.files import Array, Given, alike
from physrank.cli.naming import Value, number_of, pairs, unknown, value_of
from physrank.cli.options import Judgement, Statement
from physrank.cli.problem_file import ProblemFile

SMALL = 10_000_000  # numbers in all states: up to here, optimising a program takes longer than it saves
LARGEST = {"points": 1 << 20, "substeps": 1 << 16, "dims": 3}  # a slip of the pen must not fill the memory


@dataclass(frozen=True)
class Case:
    """One input: its problem, the candidates for it, and where the numbers came from."""

    problem: Any
    candidates: dict[str, Array]
    sources: dict[str, str]  # "viscosity = 0.01" → where it was said

    def compiled(self, inputs: int = 1) -> AbstractContextManager[None]:
        """Programs run once here: only large work is worth optimising them."""
        numbers = inputs * max(state.size for state in self.candidates.values())
        return pr.compute.once() if numbers <= SMALL else nullcontext()


@dataclass(frozen=True, eq=False)
class Stated:
    """Everything that was said about the problem; `case` states it for one input."""

    given: Given
    entry: Entry | None
    build: Callable[..., Any] | None
    numbers: Mapping[str, Value]
    places: Mapping[str, str]  # of numbers
    fields: Mapping[str, Path]
    initial: Path | None
    times: tuple[tuple[float, ...], str] | None
    file: ProblemFile

    @classmethod
    def of(cls, arguments: Sequence[str], stated: Statement) -> "Stated":
        file = ProblemFile() if stated.problem is None else problem_file.load(stated.problem)
        named = stated.equation or file.top.get("equation")
        if (named is None) == (stated.python is None):
            raise ValueError(
                "Which equation? Name a built-in one (--equation burgers), a problem file (--problem problem.toml), or a "
                f"function of your own (--python my_pde.py:problem_of){'' if named is None else '; only one of them'}."
            )
        entry = None
        if named is not None:
            try:
                entry = catalogue.entry(named)
            except ValueError as wrong:
                raise (wrong if stated.equation else ValueError(f"{file.where('', 'equation')}: {wrong}")) from None
        flags = {name: value_of(text) for name, text in pairs("--set", stated.numbers).items()}
        numbers = {**file.grid, **file.numbers, **flags}
        places = {name: f"--set {name}" for name in flags}
        for table in ("grid", "numbers"):
            for name in getattr(file, table):
                places.setdefault(name, file.where(table, name))
        times = numbers.pop("times", None)
        data = {name: Path(path) for name, path in pairs("--data", stated.data).items()}
        if entry is not None:
            _check_names(entry, numbers, places, data, file)
        fields = stated.fields or file.top.get("fields")
        given = Given.of(
            arguments,
            layout=stated.layout or file.top.get("layout", "auto"),
            dims=stated.dims or file.top.get("dims"),
            fields=None if fields is None else tuple(fields.split(",")),
            from_frame=file.top.get("from_frame", 0) if stated.from_frame is None else stated.from_frame,
        )
        return cls(
            given,
            entry,
            None if stated.python is None else own.function(stated.python),
            numbers,
            places,
            data,
            stated.initial,
            _times(stated.times, times, places.get("times", "")),
            file,
        )

    def case(self, sample: int) -> Case:
        states = self.given.states(sample)
        return self._own(sample, states) if self.entry is None else self._built_in(self.entry, sample, states)

    def _known(self, sample: int, states: dict[str, Array]) -> dict[str, Callable[[], Any]]:
        """What files tell, by name."""
        first = next(iter(states.values()))
        coordinates = next(iter(self.given.files.values())).coordinates
        known = {axis: lambda axis=axis: coordinates[axis] for axis in ("x", "y", "z") if axis in coordinates}
        stated, source = self.times or (None, "")
        return known | {
            "initial": lambda: self.given.initial(self.initial, sample, states),
            "times": lambda: self.given.times(len(first), stated, source),
            "sample": lambda: sample,
            "shape": lambda: first.shape,
        }

    def _own(self, sample: int, states: dict[str, Array]) -> Case:
        assert self.build is not None
        known = self._known(sample, states) | {
            name: lambda p=p: self._field(p, sample) for name, p in self.fields.items()
        }
        problem = own.problem_of(self.build, self.numbers, known)
        marches = {"initial", "times"} & set(inspect.signature(self.build).parameters)
        if marches or self.given.from_frame:
            states = {name: self.given.cropped(state, name) for name, state in states.items()}
        return Case(problem, states, {f"{n} = {v}": self.places[n] for n, v in self.numbers.items()})

    def _built_in(self, entry: Entry, sample: int, states: dict[str, Array]) -> Case:
        if not entry.marches and self.given.from_frame:
            raise ValueError(f"--from-frame: {entry.kind} has no time.")
        numbers, sources = self._numbers(entry, states)
        parameters = inspect.signature(getattr(pr.equations, entry.kind)).parameters
        if entry.conserves:
            gamma = numbers.get("gamma", parameters["gamma"].default)
            states = {name: self._conservative(state, name, gamma) for name, state in states.items()}
        known, options = self._known(sample, states), dict(numbers)
        if entry.marches:
            row, options["times"] = known["initial"](), known["times"]()
            if len(entry.rows) > 1 and (row.ndim < 2 or len(row) != len(entry.rows)):
                raise ValueError(f"Frames have shape {row.shape}; {entry.kind} needs ({len(entry.rows)}, points).")
            options |= {"initial": row} if len(entry.rows) == 1 else dict(zip(entry.rows, row, strict=True))
            states = {name: self.given.cropped(state, name) for name, state in states.items()}
        options |= {name: self._field(path, sample) for name, path in self.fields.items()}
        for name, parameter in parameters.items():
            if parameter.default is parameter.empty and name not in options:
                also = f", or --data {name}=FILE" if name in entry.fields else ""
                raise ValueError(f"{entry.kind} needs {name}: give it with --set {name}=…{also}.")
        try:
            return Case(getattr(pr.equations, entry.kind)(**options), states, sources)
        except ValueError as wrong:
            places = [self.places[name] for name in self.numbers if name in self.places and name in str(wrong)]
            raise ValueError(f"{', '.join(places)}: {wrong}" if places else str(wrong)) from None

    def _numbers(self, entry: Entry, states: dict[str, Array]) -> tuple[dict[str, Any], dict[str, str]]:
        """Those stated; else the files' own; else what the data suggest. What is left has its default in Python."""
        found: dict[str, tuple[Any, str]] = {}
        for name in entry.numbers:
            if name in self.numbers and self.places[name].startswith("--set"):  # overrules whatever files say
                found[name] = self.numbers[name], self.places[name]
                continue
            stored = (
                self.given.length(entry.nodes) if name == "length" else self.given.number(entry.stored.get(name, ()))
            )
            if name in self.numbers:
                found[name] = self.numbers[name], self.places[name]
                if stored is not None and not alike(stored[0], self.numbers[name]):
                    raise ValueError(
                        f"{self.places[name]} says {name} = {_shown(self.numbers[name])}, and {stored[1]} says "
                        f"{_shown(stored[0])}. Mend that line, take it out, or overrule both: --set {name}=…"
                    )
            elif stored is not None:
                found[name] = stored
            elif name == "substeps":
                found[name] = "auto", "default"
        shape = next(iter(states.values())).shape
        if entry.nodes:
            found.setdefault("points", (shape[0] - 2, "the files"))
            found.setdefault("dims", (len(shape), "the files"))
        elif "points" in entry.numbers:
            least = inspect.signature(getattr(pr.equations, entry.kind)).parameters["points"].default
            most = max(state.shape[-1] for state in states.values())
            found.setdefault("points", (max(least, most), "the files" if most > least else "default"))
        return (
            {name: value for name, (value, _) in found.items()},
            {f"{name} = {_shown(value)}": source for name, (value, source) in found.items()},
        )

    def _conservative(self, state: Array, name: str, gamma: float) -> Array:
        """States of files that name a pressure are density, velocities and pressure."""
        file = self.given.files.get(name) or next(iter(self.given.files.values()))
        named = {field.rsplit("/", 1)[-1].lower() for field in file.fields}
        return pr.equations.conservative(state, gamma) if "pressure" in named else state

    def _field(self, path: Path, sample: int) -> Array:
        (state, *more) = self.given.open(path).candidates(sample).values()
        if more:
            raise ValueError(f"{path} holds several fields; expected one.")
        return state

    def options(self, judged: Judgement, problem: Any) -> dict[str, Any]:
        """Keywords of `rank`: flags first, then the problem file."""
        said = {name: getattr(judged, name) for name in ("decide", "tolerance", "effort")}
        found = {name: self.file.top[name] for name in said if name in self.file.top}
        found |= {name: value for name, value in said.items() if value is not None}
        flags = {
            n: number_of(f"--uncertainty {n}", text) for n, text in pairs("--uncertainty", judged.uncertainty).items()
        }
        if doubt := {**self.file.uncertainty, **flags}:
            found["uncertainty"] = doubt
        if judged.invalid is not None:
            found["invalid"] = judged.invalid
        if task := judged.task or self.file.top.get("task"):
            found["task"] = task_of(task, problem)
        return found


def task_of(name: str, problem: Any) -> Any:
    """terminal, trajectory, field or frame:K, in the problem's own metric."""
    kind, _, which = name.partition(":")
    if kind == "terminal" and not which:
        return pr.tasks.terminal(problem.metric())
    if kind in ("field", "trajectory") and not which:
        return pr.tasks.field(problem.metric())
    if kind == "frame" and which.lstrip("-").isdecimal():
        row, rows = int(which), (problem.state_shape or (None,))[0]
        if rows is not None and not -rows <= row < rows:
            raise ValueError(f"task {name}: there are {rows} frames, 0 to {rows - 1}.")
        return pr.tasks.linear(lambda state: state[row], problem.metric(), name)
    raise unknown("task", name, ("terminal", "trajectory", "field", "frame:K"))


def _times(flag: str | None, stated: Any, place: str) -> tuple[tuple[float, ...], str] | None:
    if flag is not None:
        parts = flag.split(":")
        if len(parts) != 2:
            raise ValueError(f"--times {flag}: expected FIRST:LAST, such as 0:0.5.")
        return tuple(number_of("--times", part) for part in parts), "--times"
    if stated is None:
        return None
    if not isinstance(stated, tuple) or any(isinstance(t, str) for t in stated):
        raise ValueError(f"{place}: expected the first and last time, such as [0.0, 0.5], or all of them.")
    return tuple(map(float, stated)), place


def _check_names(
    entry: Entry, numbers: Mapping[str, Value], places: Mapping[str, str], data: Mapping[str, Path], file: ProblemFile
) -> None:
    for name, value in numbers.items():
        if name not in entry.numbers:
            raise ValueError(
                f"{places[name]}: {unknown(f'{entry.kind} has no number of that name:', name, entry.numbers)}"
            )
        if name in LARGEST and isinstance(value, int | float) and value > LARGEST[name]:
            raise ValueError(f"{places[name]}: at most {LARGEST[name]}; got {value}.")
    for table, wrong in (("grid", "numbers"), ("numbers", "grid")):
        for name in getattr(file, table):
            if (name in (*GRID, "times")) != (table == "grid"):
                raise ValueError(f"{file.where(table, name)}: this belongs to [{wrong}].")
    for name in data:
        if name not in entry.fields:
            raise ValueError(f"--data: {unknown(f'{entry.kind} has no field', name, entry.fields)}")


def _shown(value: Any) -> str:
    if isinstance(value, tuple):
        return ", ".join(map(_shown, value))
    return f"{value:.6g}" if isinstance(value, float) else str(value)
