"""The one door for predictions: arrays of any kind become a checked float64 library."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from physrank.geometry.space import Array
from physrank.physics import Problem

Invalid = Literal["raise", "exclude"]


@dataclass(frozen=True)
class Library:
    """Candidate states on the problem's grid. Excluded candidates keep their place but are not in `valid`."""

    names: tuple[str, ...]
    states: Array  # (N, *state)
    excluded: dict[str, str] = field(default_factory=dict)  # name → why
    concerns: dict[str, tuple[str, ...]] = field(default_factory=dict)  # what to know about them → names

    @property
    def valid(self) -> np.ndarray:
        return np.array([name not in self.excluded for name in self.names])

    @classmethod
    def of(cls, candidates: Any, problem: Problem, invalid: Invalid = "raise") -> "Library":
        """Check, convert to float64, lift to the problem's grid."""
        if invalid not in ("raise", "exclude"):
            raise ValueError(f'invalid must be "raise" or "exclude"; got {invalid!r}.')
        named = _named_arrays(candidates)
        if not named:
            raise ValueError(
                "No candidates: expected a mapping name → array, or an array with a leading candidate axis."
            )
        excluded = {name: reason for name, array in named if (reason := _not_finite(array))}
        if excluded and invalid == "raise":
            name, reason = next(iter(excluded.items()))
            raise ValueError(
                f"Candidate {name!r} {reason}; expected finite numbers. "
                'Repair it, or pass invalid="exclude" to rank the others and keep this one marked in the output.'
            )
        if len(excluded) == len(named):
            raise ValueError(
                f"Every candidate contains NaN or infinity ({', '.join(excluded)}): nothing is left to rank."
            )
        lift = problem.lift
        lifted = [(name, lift(array)) for name, array in named]
        expected = _expected_shape(problem, lifted[0])
        for name, array in lifted:
            if not fits(array.shape, expected):
                given = dict(named)[name].shape
                raise ValueError(_shape_message(name, given, array.shape, problem, expected, lifted[0][0]))
        states = np.stack([array for _, array in lifted])
        names = tuple(name for name, _ in lifted)
        return cls(names, states, excluded, _concerns(problem, names, states, excluded))


def _concerns(
    problem: Problem, names: tuple[str, ...], states: Array, excluded: Mapping[str, str]
) -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for name, state in zip(names, states, strict=True):
        for concern in problem.concerns(state) if name not in excluded else []:
            found[concern] = (*found.get(concern, ()), name)
    return found


def _named_arrays(candidates: Any) -> list[tuple[str, Array]]:
    if isinstance(candidates, Mapping):
        items = [(str(name), value) for name, value in candidates.items()]
    elif isinstance(candidates, list | tuple):
        items = [(str(k), value) for k, value in enumerate(candidates)]
    else:
        names = None
        if hasattr(candidates, "coords") and "candidate" in getattr(candidates, "dims", ()):  # xarray
            candidates = candidates.transpose("candidate", ...)
            if "candidate" in candidates.coords:
                names = [str(name) for name in candidates.coords["candidate"].values]
        array = to_numpy("candidates", candidates)
        if array.ndim < 2:
            raise ValueError(
                f"An array of candidates needs a leading candidate axis before the state; got shape {array.shape}."
            )
        items = list(zip(names or [str(k) for k in range(len(array))], array, strict=True))
    repeated = [name for k, (name, _) in enumerate(items) if name in [n for n, _ in items[:k]]]
    if repeated:
        raise ValueError(f"Candidate names must differ; {repeated[0]!r} appears twice.")
    return [(name, to_numpy(f"Candidate {name!r}", value)) for name, value in items]


def to_numpy(what: str, value: Any) -> Array:
    """NumPy, JAX, xarray and PyTorch (on any device, with or without gradients) alike."""
    if hasattr(value, "detach"):  # torch, without importing it
        value = value.detach().cpu()
        value = value.double() if value.is_floating_point() else value
    try:
        array = np.ma.filled(value, np.nan) if isinstance(value, np.ma.MaskedArray) else np.asarray(value)
    except ValueError as error:
        raise ValueError(f"{what} is not an array: {error}") from None
    if array.dtype.kind == "c":
        raise ValueError(
            f"{what} is complex ({array.dtype}); expected real numbers. Pass its real part if that is meant."
        )
    if array.dtype.kind not in "fiub" and array.dtype.name != "bfloat16":
        raise ValueError(
            f"{what} is {type(value).__name__} with dtype {array.dtype}; expected real numbers. Candidates are a mapping "
            "name → array, a list of arrays, or one array with a leading candidate axis."
        )
    return array.astype(np.float64)


def _not_finite(array: Array) -> str | None:
    bad = ~np.isfinite(array)
    if not bad.any():
        return None
    first = tuple(int(k) for k in np.argwhere(bad)[0])
    return f"contains {int(bad.sum())} NaN or infinite values, the first at index {first}"


def _expected_shape(problem: Problem, first: tuple[str, Array]) -> tuple[int | None, ...]:
    """The problem's shape, with what it leaves open taken from the first candidate."""
    shape = problem.state_shape
    found = first[1].shape
    if shape is None:
        return found
    return (
        tuple(n if n is not None else m for n, m in zip(shape, found, strict=True))
        if len(shape) == len(found)
        else shape
    )


def fits(shape: tuple[int, ...], expected: tuple[int | None, ...]) -> bool:
    """Whether a shape is the expected one, where None stands for any length."""
    return len(shape) == len(expected) and all(e is None or n == e for n, e in zip(shape, expected, strict=True))


def _shape_message(
    name: str,
    given: tuple[int, ...],
    lifted: tuple[int, ...],
    problem: Problem,
    expected: tuple[int | None, ...],
    first: str,
) -> str:
    source = (
        f"the shape of candidate {first!r}" if problem.state_shape is None else "the shape of a state of this problem"
    )
    wanted = str(tuple("rows" if n is None else n for n in expected)).replace("'rows'", "rows")
    after = "" if given == lifted else f" ({lifted} on the problem's grid)"
    message = f"Candidate {name!r} has shape {given}{after}; expected {wanted}, {source}."
    if len(given) == len(expected) - 1:
        message += " If this is a single prediction, name it: {'prediction': array}."
    elif problem.lift_kind is None:
        message += (
            ' Candidates of another resolution can be lifted by problems with lift="fourier", "sine" or another kind; '
            "otherwise bring them to this grid yourself."
        )
    return message
