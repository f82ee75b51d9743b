"""Candidates: predictions of any kind, checked, named and on the problem's grid."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from operator import getitem
from typing import Any, Literal, cast

import jax
import numpy as np

from physrank import _axes
from physrank._arrays import Array, not_finite, to_numpy
from physrank.physics import Problem, capabilities, fits

Invalid = Literal["raise", "exclude"]
MOST = 1e120  # times the size of the others: beyond, a square of one and a difference of theirs have no common unit


@dataclass(frozen=True)
class Candidates:
    """Candidate states on the problem's grid. Excluded candidates keep their place but are not in `valid`."""

    names: tuple[str, ...]
    states: Array  # (N, *state)
    excluded: dict[str, str] = field(default_factory=dict)  # name → why
    concerns: dict[str, tuple[str, ...]] = field(default_factory=dict)  # what to know about them → names

    @property
    def valid(self) -> np.ndarray:
        return np.array([name not in self.excluded for name in self.names])

    @classmethod
    def of(cls, candidates: Any, problem: Problem, invalid: Invalid = "raise") -> "Candidates":
        """Check, convert to float64, lift to the problem's grid. What has been through this already passes as it is.

        Functions without arguments, in place of all candidates or of one, are called now: they read what they stand for.
        """
        candidates = opened(candidates)
        if isinstance(candidates, Candidates):
            return candidates
        if invalid not in ("raise", "exclude"):
            raise ValueError(f'invalid must be "raise" or "exclude"; got {invalid!r}.')
        numbers = capabilities.numbers(problem)
        named = _named_arrays(candidates, numbers != "real")
        if not named:
            raise ValueError(
                "No candidates: expected a mapping name → array, or an array with a leading candidate axis."
            )
        broken = {name: f"contains {bad}" for name, array in named if (bad := not_finite(array))}
        excluded = broken | _beyond([(name, array) for name, array in named if name not in broken])
        if excluded and invalid == "raise":
            name, reason = next(iter(excluded.items()))
            raise ValueError(
                f"Candidate {name!r} {reason}; expected {'finite numbers' if name in broken else 'ordinary ones'}. "
                'Repair it, or pass invalid="exclude" to rank the others and keep this one marked in the output.'
            )
        if len(excluded) == len(named):
            raise ValueError(
                f"Every candidate contains NaN or infinity ({', '.join(excluded)}): nothing is left to rank."
            )
        lifted = [(name, capabilities.lift(problem, array)) for name, array in named]
        expected = _expected_shape(problem, lifted[0])
        for name, array in lifted:
            if not fits(array.shape, expected):
                given = dict(named)[name].shape
                raise ValueError(_shape_message(name, given, array.shape, problem, expected, lifted[0][0]))
        states = np.ascontiguousarray(np.stack([array for _, array in lifted]))  # read as rows, whatever the files had
        states = cast(Array, states.astype(np.complex128) if numbers == "complex" else states)
        names = tuple(name for name, _ in lifted)
        found = _concerns(problem, names, states, excluded)
        return cls(names, states, excluded, found | _resolutions(named, states.shape[1:]))


def _beyond(named: list[tuple[str, Array]]) -> dict[str, str]:
    """Whose squares leave no digits for those of the others, and why."""
    with np.errstate(over="ignore", under="ignore"):
        ordinary = all(1e-100 < np.vdot(array, array).real < 1e100 for _, array in named)
    if ordinary:
        return {}
    sizes = {name: float(np.abs(array).max(initial=0.0)) for name, array in named}
    others = sorted(size for size in sizes.values() if size > 0)
    most = MOST * others[(len(others) - 1) // 2] if others else np.inf
    return {
        name: f"has values up to {size:.2g}, more than {MOST:.0e} times those of the others: their squares do not fit into "
        "double precision together"
        for name, size in sizes.items()
        if size > most
    }


def check_problem(problem: Any) -> None:
    if not isinstance(problem, Problem):
        raise ValueError(
            f"problem must be an equation, a Stationary or a Marching problem; got {problem!r:.60}. "
            "The order is rank(problem, candidates)."
        )


def opened(given: Any) -> Any:
    """What a function without arguments stands for; anything else is what it is."""
    return given() if callable(given) else given


def _concerns(
    problem: Problem, names: tuple[str, ...], states: Array, excluded: Mapping[str, str]
) -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    given = [(name, state) for name, state in zip(names, states, strict=True) if name not in excluded]
    for (name, _), said in zip(given, capabilities.concerns(problem, (state for _, state in given)), strict=True):
        for concern in said:
            found[concern] = (*found.get(concern, ()), name)
    return found


def _resolutions(named: list[tuple[str, Array]], shape: tuple[int, ...]) -> dict[str, tuple[str, ...]]:
    """Who was brought to the problem's grid, where that was not the same for all or took something away."""
    given = {name: array.shape for name, array in named}
    found: dict[str, tuple[str, ...]] = {}
    for name, own in given.items():
        finer = any(n > m for n, m in zip(own, shape, strict=True))
        if own != shape and (finer or len(set(given.values())) > 1):
            what = "finer than the problem's grid, and what that cannot carry is gone" if finer else "interpolated"
            said = f"given as {' × '.join(map(str, own))}, brought to {' × '.join(map(str, shape))}: {what}"
            found[said] = (*found.get(said, ()), name)
    return found


def _named_arrays(candidates: Any, allow_complex: bool = False) -> list[tuple[str, Array]]:
    if isinstance(candidates, Mapping):
        items = [(str(name), value) for name, value in candidates.items()]
    elif isinstance(candidates, list | tuple):
        items = [(str(k), value) for k, value in enumerate(candidates)]
    else:
        names = None
        if hasattr(candidates, "coords"):  # xarray
            axis = next((dim for dim in candidates.dims if _axes.role(str(dim)) == "candidate"), None)
            names = [str(name) for name in candidates.coords[axis].values] if axis in candidates.coords else None
        array = _array("candidates", candidates, allow_complex)
        if array.ndim < 2:
            raise ValueError(
                f"An array of candidates needs a leading candidate axis before the state; got shape {array.shape}."
            )
        items = list(zip(names or [str(k) for k in range(len(array))], array, strict=True))
    repeated = [name for k, (name, _) in enumerate(items) if name in [n for n, _ in items[:k]]]
    if repeated:
        raise ValueError(f"Candidate names must differ; {repeated[0]!r} appears twice.")
    return [(name, _array(f"Candidate {name!r}", opened(value), allow_complex)) for name, value in items]


def by_input(libraries: Any) -> Iterable[Any]:
    """The candidates of each input: `{model: batch}` is taken apart along the leading axis of the batches. Of handles to
    files a part is read when it is needed, where it is needed."""
    if not isinstance(libraries, Mapping):
        return libraries
    lengths = {str(name): _length(batch) for name, batch in libraries.items()}
    if len(set(lengths.values())) != 1:
        raise ValueError(
            f"Every model must have as many predictions as there are inputs; got {lengths or 'no models'}."
        )
    return ({name: _part(batch, k) for name, batch in libraries.items()} for k in range(next(iter(lengths.values()))))


def _length(batch: Any) -> int:
    return int(batch.shape[0]) if getattr(batch, "shape", ()) else len(batch)


def _part(batch: Any, k: int) -> Any:
    fetch: Any = getitem
    return batch[k] if _here(batch) else partial(fetch, batch, k)


def _here(batch: Any) -> bool:
    """In memory, or xarray's, whose parts are lazy by themselves."""
    known = isinstance(batch, np.ndarray | jax.Array | list | tuple)
    return known or hasattr(batch, "detach") or hasattr(batch, "coords")


def is_handle(batch: Any) -> bool:
    """Whether it is an array elsewhere, of which a part is read by indexing: h5py, zarr, `physrank.read`."""
    return not _here(batch) and len(getattr(batch, "shape", ())) > 0


def _array(what: str, value: Any, allow_complex: bool) -> Array:
    try:
        return to_numpy(what, value, allow_complex=allow_complex)
    except ValueError as error:
        hint = "Candidates are a mapping name → array, a list of arrays, or one array with a leading candidate axis."
        raise ValueError(f"{error} {hint}") from None


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
    if len(given) == len(expected) > 1 and sorted(given) == sorted(n for n in expected if n is not None):
        message += (
            " These are the same axes in another order: move them with np.moveaxis, or name those of a file, "
            'physrank.read(path, dims="time,x,y,channel").'
        )
    elif len(given) == len(expected) - 1:
        message += " If this is a single prediction, name it: {'prediction': array}."
    elif (grid := capabilities.grid(problem)) is None or grid.kind is None:
        message += (
            " Candidates of another resolution can be lifted by problems with a grid that interpolates, such as "
            "grid=physrank.Grid.periodic(shape); otherwise bring them to this grid yourself."
        )
    return message
