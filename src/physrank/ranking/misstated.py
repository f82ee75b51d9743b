"""Which stated number, or which two, would have to be another for a known solution to obey the equation."""

import copy
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array as JaxArray

from physrank import compute
from physrank._arrays import Array
from physrank.geometry.lifts import namespace
from physrank.physics import Problem, stated
from physrank.physics.response import residual_norm
from physrank.physics.solvers import norm

EXACT = 1e-4  # a floor below which there is nothing to explain: data in single precision have one of up to 1e-5
BETTER = 5.0  # times that a suggestion must lower the floor to speak against the problem
FACTORS = np.geomspace(1 / 128, 128, 57)  # by which a stated number is varied at first
ROUNDS = 4  # of trying factors, each around the best one of the round before
SAME = 1e-3  # of the logarithm of a factor: no change
STEPS = 20  # of Gauss–Newton, where numbers are fitted
STALLED = 1e-6  # of the squared defect: a step that promises less is not worth taking
LARGE = 1_000_000  # numbers in all starts: fitting so many takes longer than optimising the program that does
LEAST = 1e-300  # no size is smaller
FORCE = "a force (none is stated, and what the equation leaves over looks like one)"


@dataclass(frozen=True)
class Suggestion:
    """A change under which the known solution would obey the equation better."""

    what: str  # as a sentence: "viscosity 0.05 instead of 0.1"
    name: str  # the number that is changed, or the slip
    value: float | None  # what it would have to be; None for a slip, or where there are two
    floor: float
    values: dict[str, float] = field(default_factory=dict)  # by name, where two numbers are changed

    def __str__(self) -> str:
        return f"with {self.what} the floor is {self.floor:.2g}"


def floor_of(problem: Problem, state: Array) -> float:
    return float(compute.run(_relative_defect, problem, state))


def _relative_defect(problem: Problem, state: JaxArray) -> JaxArray:
    """How much of what happens the equation leaves unexplained.

    For marches, what happens is in the data: the first row, and the change from row to row. Elsewhere it is the defect of
    a state that knows nothing, zero.
    """
    if marches(problem):
        return norm(_relative(problem, state))
    return residual_norm(problem, _relative(problem, state))


def _relative(problem: Problem, state: JaxArray) -> JaxArray:
    """The defect, divided by what happens."""
    defect = problem.defect(state)
    xp = namespace(defect)
    if marches(problem):
        start, change = norm(state[0]), norm(state[1:] - state[:-1])
        change = xp.where(change > 1e-6 * start, change, start)  # where nothing happens
        return xp.concatenate([defect[:1] / xp.maximum(start, LEAST), defect[1:] / xp.maximum(change, LEAST)])
    scale = residual_norm(problem, problem.defect(xp.zeros_like(state)))
    homogeneous = residual_norm(problem, problem.defect(1.1 * state) - defect)
    return defect / xp.maximum(xp.maximum(scale, homogeneous), LEAST)


def marches(problem: Problem) -> bool:
    return hasattr(problem, "initial")


def numbers(problem: Problem, state: Array, vary: Sequence[str] | None, floor: float) -> Iterator[Suggestion]:
    """Each stated number multiplied by factors, all in one compiled program, then refined around the best ones; numbers
    stated as zero, and pairs where no single number will do, by Gauss–Newton."""
    names = tuple(name for name, _ in stated.leaves(problem))
    if vary is not None and (unknown := [name for name in vary if name not in names]):
        raise ValueError(f"{type(problem).__name__} has no stated number {unknown[0]!r}; it has {', '.join(names)}.")
    if not names:
        return
    single = list(_singles(problem, names, state, vary, floor))
    yield from single
    lowest = min((s.floor for s in single if s.what != FORCE), default=floor)
    if lowest > max(EXACT, floor / BETTER**3) and not compute.on_host(problem):  # fitting them takes derivatives
        yield from _pairs(problem, names, state, vary, min(lowest, floor))


def _singles(
    problem: Problem, names: tuple[str, ...], state: Array, vary: Sequence[str] | None, floor: float
) -> Iterator[Suggestion]:
    tried = FACTORS[::4] if compute.on_host(problem) else FACTORS  # there, they are tried one by one
    factors = np.tile(tried, (len(names), 1))
    best, floors = np.ones(len(names)), np.full_like(factors, np.inf)
    for _ in range(ROUNDS):
        trials = np.ones((*factors.shape, len(names)))
        for k in range(len(names)):
            trials[k, :, k] = factors[k]
        floors = _run(_varied_floors, problem, names, trials.reshape(-1, len(names)), state)
        floors = np.where(np.isfinite(floors), floors, np.inf).reshape(factors.shape)
        best = np.take_along_axis(factors, floors.argmin(axis=1)[:, None], axis=1)[:, 0]
        step = factors[:, 1] / factors[:, 0]
        factors = np.stack([np.geomspace(f / r, f * r, len(tried)) for f, r in zip(best, step, strict=True)])
    for k, (name, factor, lowest) in enumerate(zip(names, best, floors.min(axis=1), strict=True)):
        value = _value(problem, name)
        if vary is not None and name not in vary:
            continue
        if value == 0 and compute.on_host(problem):
            continue
        if value == 0 and np.size(dict(stated.leaves(problem))[name]) == 1:
            (found,), (lowest,) = _fitted(problem, names, state, np.zeros((1, len(names))), [(k, k)])
            yield Suggestion(_said(name, 0.0, found[k]), name, float(found[k]), float(lowest))
        elif value == 0:
            if name.startswith("forcing"):
                # Some force explains everything: that counts for more than half an explanation, not than a whole one.
                yield Suggestion(FORCE, "forcing", None, floor / BETTER**2)
        elif abs(factor - 1) > 1e-3:
            changed = factor if value is None else factor * value
            yield Suggestion(_said(name, value, changed), name, float(changed), float(lowest))


def _pairs(
    problem: Problem, names: tuple[str, ...], state: Array, vary: Sequence[str] | None, lowest: float
) -> Iterator[Suggestion]:
    """Two numbers at once. Two explain more than one, right or wrong: only what explains nearly all of it is said."""
    values = {name: _value(problem, name) for name in names}
    tried = [
        k
        for k, name in enumerate(names)
        if (vary is None or name in vary) and (values[name] != 0 or np.size(dict(stated.leaves(problem))[name]) == 1)
    ]
    pairs = list(combinations(tried, 2))
    if not pairs:
        return
    shifts = np.log([0.25, 1.0, 4.0])  # starts: each of the two as stated, or a good deal off
    starts = np.zeros((len(pairs), len(shifts), len(shifts), len(names)))
    for row, (i, j) in zip(starts, pairs, strict=True):
        row[..., i] = shifts[:, None] * (values[names[i]] != 0)
        row[..., j] = shifts[None, :] * (values[names[j]] != 0)
    each = len(shifts) ** 2
    found, floors = _fitted(
        problem, names, state, starts.reshape(-1, len(names)), [pair for pair in pairs for _ in range(each)]
    )
    alone: set[str] = set()
    for k, pair in enumerate(pairs):
        best = k * each + int(np.argmin(floors[k * each : (k + 1) * each]))
        if floors[best] <= lowest / BETTER**2:
            changed = {}
            for i in pair:
                value = values[names[i]]
                x = found[best, i]
                if value != 0 and abs(x) < SAME:
                    continue  # it was the other one alone, too far off to be found by itself
                changed[names[i]] = float(x if value == 0 else np.exp(x) * (1.0 if value is None else value))
            said = " and ".join(_said(name, values[name], new) for name, new in changed.items())
            if len(changed) == 2:
                yield Suggestion(said, " and ".join(changed), None, float(floors[best]), changed)
            elif changed.keys() - alone:
                ((name, new),) = changed.items()
                alone.add(name)
                yield Suggestion(said, name, new, float(floors[best]))


def _said(name: str, value: float | None, changed: float) -> str:
    return f"{name} " + (
        f"{changed:.4g} times what is stated" if value is None else f"{changed:.4g} instead of {value:.4g}"
    )


def _fitted(
    problem: Problem, names: tuple[str, ...], state: Array, starts: Array, active: Sequence[tuple[int, int]]
) -> tuple[Array, Array]:
    """Where Gauss–Newton ends from each start, in the active numbers; and the floors there. Numbers stated as zero are
    varied by addition, others by the logarithm of a factor."""
    zero = np.array([_value(problem, name) == 0 for name in names])
    with compute.once(compute.quickly() and len(starts) * state.size < LARGE):
        found, floors = _run(_gauss_newton, problem, names, zero, starts, np.array(active), state)
    return found, np.where(np.isfinite(floors), floors, np.inf)


def _gauss_newton(
    problem: Problem, names: tuple[str, ...], zero: JaxArray, starts: JaxArray, active: JaxArray, state: JaxArray
) -> tuple[JaxArray, JaxArray]:
    def changed(x: JaxArray) -> Problem:
        return _varied(problem, names, jnp.where(zero, 1.0, jnp.exp(x)), jnp.where(zero, x, 0.0))

    def one(case: tuple[JaxArray, JaxArray]) -> tuple[JaxArray, JaxArray]:
        start, pair = case
        directions = jax.nn.one_hot(pair, len(names), dtype=start.dtype)
        directions = directions.at[1].multiply(jnp.where(pair[0] == pair[1], 0.0, 1.0))  # a pair of one is that one

        def look(x: JaxArray) -> tuple[JaxArray, ...]:
            """All that a step needs of a point: linearised once, in one place, because compiling it is what takes time."""
            defect, push = jax.linearize(lambda x: jnp.ravel(_relative(changed(x), state)), x)
            slopes = jax.vmap(push)(directions)
            return x, norm(defect), slopes @ slopes.T, slopes @ defect

        def step(carry: tuple[Any, ...]) -> tuple[Any, ...]:
            at, damping, _, count = carry
            x, size, normal, slope = at
            sizes = jnp.diag(normal)
            damped = normal + jnp.diag(damping * sizes + jnp.where(sizes > 0, 0.0, 1.0))
            along = jnp.linalg.solve(damped, slope)
            move = -along @ directions
            there = look(x + jnp.where(zero, move, jnp.clip(move, -1.0, 1.0)))
            better = there[1] < size
            promised = jnp.where(count == 0, 1.0, along @ slope / jnp.maximum(size, LEAST) ** 2)
            at = jax.tree.map(lambda new, old: jnp.where(better, new, old), there, at)
            return at, jnp.where(better & (count > 0), damping / 4, 4 * damping), promised, count + 1

        def goes_on(carry: tuple[Any, ...]) -> JaxArray:
            at, _, promised, count = carry
            return (count <= STEPS) & (promised > STALLED) & (at[1] > 0)

        # The first look is a step of length zero from a point that is worse than any.
        nowhere = start, jnp.full((), jnp.inf, start.dtype), jnp.zeros((2, 2), start.dtype), jnp.zeros(2, start.dtype)
        begun = nowhere, jnp.asarray(1e-3 / 4, start.dtype), jnp.ones((), start.dtype), jnp.zeros((), int)
        (x, *_), *_ = jax.lax.while_loop(goes_on, step, begun)
        return x, _relative_defect(changed(x), state)

    return jax.lax.map(one, (starts, active))


def _run(function: Any, *arguments: Any) -> Any:
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "A JAX array is being set as static")  # a length, while it is varied
        return compute.run(function, *arguments)


def _value(problem: Problem, name: str) -> float | None:
    """A single number's value; None for fields, which are varied as a whole; 0 for fields that vanish."""
    leaf = dict(stated.leaves(problem))[name]
    values = np.asarray(leaf)
    if values.size == 1:
        return float(np.real(values.ravel()[0]))
    return 0.0 if not np.any(values) else None


def _varied_floors(problem: Problem, names: tuple[str, ...], factors: JaxArray, state: JaxArray) -> JaxArray:
    return compute.each(lambda row: _relative_defect(_varied(problem, names, row), state), factors, problem, batch=8)


def _varied(problem: Problem, names: tuple[str, ...], factors: JaxArray, added: JaxArray | None = None) -> Problem:
    """The problem with every named number multiplied, and added to; times are stretched from the first one."""
    changed, by_name = copy.copy(problem), dict(zip(names, factors, strict=True))
    more = dict(zip(names, namespace(factors).zeros_like(factors) if added is None else added, strict=True))
    for name, value in vars(problem).items():
        if isinstance(value, float):
            object.__setattr__(changed, name, value * by_name[name] + more[name])
        elif not callable(value):
            new = jax.tree_util.tree_map_with_path(
                lambda path, leaf, name=name: (
                    _scaled(name, leaf, *(by[name + jax.tree_util.keystr(path)] for by in (by_name, more)))
                    if stated.is_float(leaf)
                    else leaf
                ),
                value,
            )
            object.__setattr__(changed, name, new)
    return changed


def _scaled(name: str, leaf: JaxArray, factor: JaxArray, added: JaxArray) -> JaxArray:
    factor, added = factor.astype(leaf.dtype), added.astype(leaf.dtype)
    return leaf[0] + factor * (leaf - leaf[0]) if name == "times" else factor * leaf + added
