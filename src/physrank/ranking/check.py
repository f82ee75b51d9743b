"""`check`: is this the equation that my data obey? One known solution tells, and says which number or slip is to blame."""

import copy
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array as JaxArray

from physrank import compute
from physrank._arrays import Array, to_numpy
from physrank.physics import Problem, capabilities, fits, stated
from physrank.physics.response import residual_norm
from physrank.physics.solvers import norm

EXACT = 1e-4  # a floor below which there is nothing to explain: data in single precision have one of up to 1e-5
USELESS = 0.2  # a floor above which the equation leaves too much of what happens unexplained
BETTER = 5.0  # times that a suggestion must lower the floor to speak against the problem
FACTORS = np.geomspace(1 / 128, 128, 57)  # by which a stated number is varied at first
FORCE = "a force (none is stated, and what the equation leaves over looks like one)"
ROUNDS = 4  # of trying factors, each around the best one of the round before


@dataclass(frozen=True)
class Suggestion:
    """A change under which the known solution would obey the equation better."""

    what: str  # as a sentence: "viscosity 0.05 instead of 0.1"
    name: str  # the number that is changed, or the slip
    value: float | None  # what it would have to be; None for a slip
    floor: float

    def __str__(self) -> str:
        return f"with {self.what} the floor is {self.floor:.2g}"


@dataclass(frozen=True, eq=False)
class Check:
    """How well a known solution obeys the stated problem."""

    floor: float  # ‖A(known)‖ relative to that of a state that knows nothing: 0 is exact, 1 explains nothing
    where: dict[str, float]  # share of the squared defect by place: initial row, boundary, interior, largest rows
    suggestions: tuple[Suggestion, ...]  # best first; only those that lower the floor

    @property
    def passes(self) -> bool:
        """Whether this may be the equation: its floor is low, and nothing that was tried lowers it much."""
        if self.floor <= EXACT:
            return True
        # That some force would explain it can be said of anything: it does not speak against the problem.
        best = min((s.floor for s in self.suggestions if s.what != FORCE or self.floor > 0.05), default=np.inf)
        return bool(self.floor <= USELESS and best > self.floor / BETTER)

    def _falls(self, suggestion: Suggestion) -> str:
        if suggestion.name == "forcing" and suggestion.value is None:
            return "it might be explained"
        return f"the floor falls from {self.floor:.2g} to {suggestion.floor:.2g}"

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        verdict = "passes" if self.passes else "does NOT pass"
        places = ", ".join(f"{name} {share:.0%}" for name, share in self.where.items() if share >= 0.01)
        lines = [f"the known solution {verdict}: floor {self.floor:.2g} (0: obeys the equation, 1: explains nothing)"]
        lines += [f"  the defect sits in: {places}"] if self.floor > EXACT and places else []
        lines += [f"  with {s.what} {self._falls(s)}" for s in self.suggestions[:5]]
        return "\n".join(lines)


def check(problem: Problem, known: Any, vary: Sequence[str] | None = None) -> Check:
    """Hold a problem against one solution that you have, such as a training sample: step 0 before ranking anything.

    Main arguments: `problem`, stated for the very input whose solution `known` is.

    Other arguments: `vary`, names of the stated numbers to try (default: every float of the problem).
    """
    raw = to_numpy("known", known, finite=True)
    vary = [vary] if isinstance(vary, str) else vary
    if not np.any(raw):
        raise ValueError("known is zero everywhere: it says nothing about the equation. Give a solution that is not.")
    state = capabilities.lift(problem, raw)
    expected = problem.state_shape or state.shape
    slips = [(name, fixed) for name, fixed in _slips(problem, raw) if fits(fixed.shape, expected)]
    if not fits(state.shape, problem.state_shape):
        if not slips:
            raise ValueError(
                f"known has shape {raw.shape}; expected a state of this problem, {problem.state_shape}, and no common slip "
                "(axes exchanged, channels last, end point repeated) makes it one."
            )
        state, floor = slips[0][1], np.inf
    else:
        floor = _floor(problem, state)
    found = [Suggestion(name, name, None, _floor(problem, fixed)) for name, fixed in slips]
    if EXACT < floor < np.inf:
        found += _numbers(problem, state, vary, floor)
    better = sorted((s for s in found if s.floor < floor / 1.2), key=lambda s: s.floor)
    return Check(float(floor), _where(problem, state), tuple(better))


def _floor(problem: Problem, state: Array) -> float:
    return float(compute.run(_relative_defect, problem, state))


def _relative_defect(problem: Problem, state: JaxArray) -> JaxArray:
    """How much of what happens the equation leaves unexplained.

    For marches, what happens is in the data: the first row, and the change from row to row. Elsewhere it is the defect of
    a state that knows nothing, zero.
    """
    defect = problem.defect(state)
    if _marches(problem):
        start, change = norm(state[0]), norm(state[1:] - state[:-1])
        change = jnp.where(change > 1e-6 * start, change, start)  # where nothing happens
        return jnp.hypot(norm(defect[0]) / _positive(start), norm(defect[1:]) / _positive(change))
    scale = residual_norm(problem, problem.defect(jnp.zeros_like(state)))
    homogeneous = residual_norm(problem, problem.defect(1.1 * state) - defect)
    return residual_norm(problem, defect) / _positive(jnp.maximum(scale, homogeneous))


def _positive(size: JaxArray) -> JaxArray:
    return jnp.maximum(size, 1e-300)


def _marches(problem: Problem) -> bool:
    return hasattr(problem, "initial")


def _numbers(problem: Problem, state: Array, vary: Sequence[str] | None, floor: float) -> Iterator[Suggestion]:
    """Each stated number multiplied by factors, all in one compiled program, then refined around the best ones."""
    names = tuple(name for name, _ in stated.leaves(problem))
    if vary is not None and (unknown := [name for name in vary if name not in names]):
        raise ValueError(f"{type(problem).__name__} has no stated number {unknown[0]!r}; it has {', '.join(names)}.")
    if not names:
        return
    factors = np.tile(FACTORS, (len(names), 1))
    best, floors = np.ones(len(names)), np.full_like(factors, np.inf)
    for _ in range(ROUNDS):
        trials = np.ones((*factors.shape, len(names)))
        for k in range(len(names)):
            trials[k, :, k] = factors[k]
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "A JAX array is being set as static")  # a length, while it is varied
            floors = compute.run(_varied_floors, problem, names, trials.reshape(-1, len(names)), state)
        floors = np.where(np.isfinite(floors), floors, np.inf).reshape(factors.shape)
        best = np.take_along_axis(factors, floors.argmin(axis=1)[:, None], axis=1)[:, 0]
        step = factors[:, 1] / factors[:, 0]
        factors = np.stack([np.geomspace(f / r, f * r, len(FACTORS)) for f, r in zip(best, step, strict=True)])
    for name, factor, lowest in zip(names, best, floors.min(axis=1), strict=True):
        value = _value(problem, name)
        if vary is not None and name not in vary:
            continue
        if value == 0:
            if name.startswith("forcing"):
                # Some force explains everything: that counts for more than half an explanation, not than a whole one.
                yield Suggestion(FORCE, "forcing", None, floor / BETTER**2)
        elif abs(factor - 1) > 1e-3:
            said = (
                f"{factor:.4g} times what is stated"
                if value is None
                else f"{factor * value:.4g} instead of {value:.4g}"
            )
            yield Suggestion(f"{name} {said}", name, float(factor if value is None else factor * value), float(lowest))


def _value(problem: Problem, name: str) -> float | None:
    """A single number's value; None for fields, which are varied as a whole; 0 for fields that vanish."""
    leaf = dict(stated.leaves(problem))[name]
    values = np.asarray(leaf)
    if values.size == 1:
        return float(np.real(values.ravel()[0]))
    return 0.0 if not np.any(values) else None


def _varied_floors(problem: Problem, names: tuple[str, ...], factors: JaxArray, state: JaxArray) -> JaxArray:
    return jax.lax.map(lambda row: _relative_defect(_varied(problem, names, row), state), factors, batch_size=8)


def _varied(problem: Problem, names: tuple[str, ...], factors: JaxArray) -> Problem:
    """The problem with every named number multiplied; times are stretched from the first one."""
    changed, by_name = copy.copy(problem), dict(zip(names, factors, strict=True))
    for name, value in vars(problem).items():
        if isinstance(value, float):
            object.__setattr__(changed, name, value * by_name[name])
        elif not callable(value):
            new = jax.tree_util.tree_map_with_path(
                lambda path, leaf, name=name: (
                    _scaled(name, leaf, by_name[name + jax.tree_util.keystr(path)]) if stated.is_float(leaf) else leaf
                ),
                value,
            )
            object.__setattr__(changed, name, new)
    return changed


def _scaled(name: str, leaf: JaxArray, factor: JaxArray) -> JaxArray:
    factor = factor.astype(leaf.dtype)
    return leaf[0] + factor * (leaf - leaf[0]) if name == "times" else factor * leaf


def _slips(problem: Problem, known: Array) -> Iterator[tuple[str, Array]]:
    """What people mix up, each undone: where the result has the problem's shape, it is tried."""
    grid = capabilities.grid(problem)
    dims = len(grid.shape) if grid is not None else max(known.ndim - 1, 1)

    def lifted(field: Array) -> Array:
        return capabilities.lift(problem, field)

    if known.ndim >= 2:
        yield "its last two axes exchanged", lifted(np.swapaxes(known, -1, -2))
        yield "its first two axes exchanged", lifted(np.swapaxes(known, 0, 1))
    if known.ndim > dims:
        yield "channels moved before space", lifted(np.moveaxis(known, -1, -dims - 1))
    cut = (..., *[slice(None, -1)] * dims)
    if min(known.shape[known.ndim - dims :]) > 2:
        yield "the repeated end point dropped", lifted(known[cut])
    yield "the opposite sign", lifted(-known)
    if _marches(problem) and len(known) > 2:
        later, earlier = (2 * known[[-1]] - known[[-2]]), (2 * known[[0]] - known[[1]])
        yield "its rows shifted by one (row 0 dropped)", lifted(np.concatenate([known[1:], later]))
        yield "its rows shifted by one (a row missing at the start)", lifted(np.concatenate([earlier, known[:-1]]))
        yield "its rows reversed in time", lifted(known[::-1].copy())
    convert: Callable[[Array], Array] | None = getattr(problem, "from_primitive", None)
    if convert is not None and fits(known.shape, problem.state_shape):
        yield "conservative variables made from primitive ones", convert(known)
    if fits(np.shape(state := lifted(known)), problem.state_shape) and _marches(problem):
        initial = np.asarray(problem.initial)  # pyright: ignore[reportAttributeAccessIssue]
        if initial.shape == state[0].shape and float(np.std(state[0])) > 0 and float(np.std(initial)) > 0:
            scale = float(np.std(initial) / np.std(state[0]))
            units = scale * (state - state[0].mean()) + initial.mean()
            if abs(scale - 1) > 1e-3 or abs(float(initial.mean() - state[0].mean())) > 1e-3 * float(np.std(initial)):
                yield "units as of the initial state (it looks normalised)", units


def _where(problem: Problem, state: Array) -> dict[str, float]:
    """Shares of the squared defect: initial row, boundary, interior, and the rows with most of it."""
    defect = np.asarray(compute.run(_defect, problem, state)) ** 2
    total = float(defect.sum()) or 1.0
    if _marches(problem):
        rows = defect.reshape(len(defect), -1).sum(axis=1) / total
        largest = [int(k) for k in np.argsort(rows[1:])[::-1][:3] + 1]
        return {"the initial row": float(rows[0]), **{f"row {k}": float(rows[k]) for k in largest}}
    edge = np.ones(state.shape, bool)
    edge[tuple(slice(1, -1) for _ in state.shape)] = False
    boundary = float(defect[edge].sum()) / total if state.size > 2 else 0.0
    return {"the boundary": boundary, "the interior": 1 - boundary}


def _defect(problem: Problem, state: JaxArray) -> JaxArray:
    return problem.defect(state)
