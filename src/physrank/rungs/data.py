"""Stated uncertainty of a problem's data, carried to every gap to first order.

With A(s; θ) and L = ∂A/∂s, data that may be off by |Δθ_k| ≤ h_k move the gap of a pair by at most

    2 Σ_k h_k |(∂A/∂θ_k)ᵀ z_ij|,    Lᵀ z_ij = Qᵀ M (y_i − y_j),

to first order, and the distance ‖q − y_i‖ by as much as half of this for q in place of y_j, divided by it: one adjoint
solve per candidate.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array as JaxArray

from physrank import compute
from physrank._arrays import as_double
from physrank.physics import Problem
from physrank.physics.levels import altered
from physrank.physics.problem import pullback
from physrank.physics.stated import is_float
from physrank.rungs.rung import Rung

DIFFERENCED = 200  # numbers of a host problem's data that are varied one by one
Doubtful = Callable[[Problem, Rung], Rung]


def certain(problem: Problem, rung: Rung) -> Rung:
    """Data that are what they are."""
    del problem
    return rung


@dataclass(frozen=True, eq=False)
class HalfWidths:
    """Data that may be off by so much, entry by entry: by name, like the problem's own."""

    widths: Mapping[str, Any]

    def __call__(self, problem: Problem, rung: Rung) -> Rung:
        return _by_adjoints(problem, rung, self.widths)


def resolve(uncertainty: Any, problem: Problem) -> Doubtful:
    """None; a mapping from names of the problem's data, as `check` calls them, to a relative size or absolute half-widths;
    samples of the problem."""
    if uncertainty is None:
        return certain
    if isinstance(uncertainty, Sequence) and uncertainty and all(isinstance(p, Problem) for p in uncertainty):
        for k, other in enumerate(uncertainty):
            if type(other) is not type(problem) or other.state_shape != problem.state_shape:
                raise ValueError(
                    f"Sample {k} is {type(other).__name__} with states of shape {other.state_shape}; expected "
                    f"{type(problem).__name__} with {problem.state_shape}."
                )
        return lambda problem, rung: _by_samples(problem, rung, uncertainty)
    if not isinstance(uncertainty, Mapping) or not uncertainty:
        raise ValueError(
            "uncertainty must map names of the problem's data to relative sizes, such as {'viscosity': 0.02}, or to arrays "
            f"of half-widths; or be a list of sampled problems. Got {uncertainty!r:.80}."
        )
    widths: dict[str, Any] = {}
    for name, stated in uncertainty.items():
        field, half = _half_widths(problem, name, stated)
        widths[field] = jax.tree.map(np.add, widths[field], half) if field in widths else half
    return HalfWidths(widths)


def _half_widths(problem: Problem, name: str, stated: Any) -> tuple[str, Any]:
    """A field of the problem, and like its data how far each number may be off: all of them, or those of "data['k']"."""
    fields = {field: eqx.filter(value, is_float) for field, value in vars(problem).items()}
    fields = {field: values for field, values in fields.items() if jax.tree.leaves(values)}
    paths = {
        field + jax.tree_util.keystr(path): (field, path)
        for field, values in fields.items()
        for path, _ in jax.tree_util.tree_flatten_with_path(values)[0]
    }
    name = f"data[{name!r}]" if name not in fields and f"data[{name!r}]" in paths else name
    if name in fields:
        return name, _like(fields[name], name, stated)
    if name in paths:
        field, chosen = paths[name]

        def one(path: Any, leaf: Any) -> Any:
            return _like(leaf, name, stated) if path == chosen else np.zeros(np.shape(leaf))

        return field, jax.tree_util.tree_map_with_path(one, fields[field])
    known = ", ".join(sorted({*fields, *paths})) or "none"
    raise ValueError(f"{type(problem).__name__} has no data called {name!r}; it has {known}.")


def _like(values: Any, name: str, stated: Any) -> Any:
    if np.ndim(stated) == 0 and not isinstance(stated, Mapping | Sequence):
        if not (np.isfinite(stated) and stated >= 0):
            raise ValueError(f"uncertainty[{name!r}] must be a finite number ≥ 0; got {stated!r}.")
        return jax.tree.map(lambda leaf: float(stated) * np.abs(np.asarray(leaf)), values)
    try:
        return jax.tree.map(
            lambda leaf, width: np.broadcast_to(np.abs(np.asarray(width, float)), np.shape(leaf)),
            values,
            as_double(stated),
        )
    except ValueError as problem_found:
        raise ValueError(f"uncertainty[{name!r}] does not fit the data: {problem_found}") from None


def _by_adjoints(problem: Problem, rung: Rung, widths: Mapping[str, Any]) -> Rung:
    question = rung.question
    valid = np.flatnonzero(~np.isnan(question.outputs.reshape(len(question.outputs), -1)).any(axis=1))
    outputs = question.outputs[valid]
    rows = np.concatenate([outputs[1:], rung.proxy[None]]) - outputs[0]
    slopes, solved = compute.run(
        _sensitivities, problem, question.task.map, rung.state, question.space.dual(rows), tuple(widths)
    )
    if not solved:
        return _unknown(rung)
    moved = np.zeros((len(valid) + 1, len(valid) + 1))
    for name, half in widths.items():
        for slope, width in zip(jax.tree.leaves(slopes[name]), jax.tree.leaves(half), strict=True):
            flat = np.concatenate([np.zeros((1, np.size(width))), slope.reshape(len(rows), -1)])
            moved += np.stack([np.abs(flat - row) @ np.ravel(width) for row in flat])
    moved = moved / question.unit / question.unit
    errors = np.sqrt(rung.scores[valid])
    off = np.max(np.divide(moved[-1, :-1], errors, out=np.zeros(len(valid)), where=errors > 0), initial=0.0)
    data = _placed(2 * moved[:-1, :-1], valid, len(question.outputs))
    return replace(rung, extra={**rung.extra, "data": data}, off=float(off))


def _sensitivities(problem: Problem, task: Any, state: JaxArray, covectors: JaxArray, names: tuple[str, ...]) -> Any:
    """(∂A/∂θ)ᵀ z for every covector, by name of the data; and whether the adjoint solves converged."""
    tangent = problem.linearise(state)[1]
    pull = pullback(task, state)
    if compute.on_host(problem):
        solves = [tangent.solve_adjoint(pull(covector)[0]) for covector in covectors]
        adjoints = np.stack([np.asarray(solve.value) for solve in solves])
        slopes = {name: _differenced(problem, name, np.asarray(state), adjoints) for name in names}
        return slopes, np.asarray(all(bool(solve.solved) for solve in solves))
    chosen = {name: eqx.filter(getattr(problem, name), is_float) for name in names}

    def defect(data: Any) -> JaxArray:
        changed = problem
        for name, value in data.items():
            whole = eqx.combine(value, getattr(problem, name))
            changed = eqx.tree_at(lambda p, name=name: getattr(p, name), changed, whole)
        return changed.defect(state)

    back = pullback(defect, chosen)

    def one(covector: JaxArray) -> Any:
        solve = tangent.solve_adjoint(pull(covector)[0])
        return back(solve.value)[0], solve.solved

    slopes, solved = jax.lax.map(one, covectors)
    return slopes, jnp.all(solved)


def _differenced(problem: Any, name: str, state: np.ndarray, adjoints: np.ndarray) -> Any:
    """(∂A/∂θ)ᵀ z on the host: as the problem says, else by central differences in every number θ."""
    said = getattr(problem, "sensitivity", None)
    known = None if said is None else said(name, state, adjoints)
    if known is not None:
        return known
    value, held = getattr(problem, name), eqx.filter(getattr(problem, name), is_float)
    leaves, structure = jax.tree.flatten(held)
    numbers = sum(np.size(leaf) for leaf in leaves)
    if numbers > DIFFERENCED:
        raise ValueError(
            f"uncertainty[{name!r}] is about {numbers} numbers, each of which takes two residuals on the host; expected at "
            f"most {DIFFERENCED}. Pass a list of sampled problems instead."
        )

    def defect(k: int, place: tuple[int, ...], change: float) -> np.ndarray:
        moved = [np.array(leaf) for leaf in leaves]
        moved[k][place] += change
        whole = eqx.combine(jax.tree.unflatten(structure, moved), value)
        return np.asarray(altered(problem, **{name: whole}).defect(state))

    slopes = []
    for k, leaf in enumerate(leaves):
        slope = np.zeros((len(adjoints), *np.shape(leaf)))
        for place in np.ndindex(np.shape(leaf)):
            step = 1e-5 * max(abs(float(np.asarray(leaf)[place])), 1e-3 * float(np.abs(leaf).max(initial=0.0)), 1e-12)
            rate = (defect(k, place, step) - defect(k, place, -step)) / (2 * step)
            slope[(slice(None), *place)] = np.real(np.tensordot(adjoints.conj(), rate, axes=rate.ndim))
        slopes.append(slope)
    return jax.tree.unflatten(structure, slopes)


def _by_samples(problem: Problem, rung: Rung, samples: Sequence[Problem]) -> Rung:
    """The largest move of each gap over sampled problems, each by one linear solve with the tangent that is there."""
    question = rung.question
    moves = [compute.run(_towards, problem, other, rung.state) for other in samples]
    if not all(solved for _, solved in moves):
        return _unknown(rung)
    changes = [_change(rung, movement) for movement, _ in moves]
    moved = [2 * np.abs(question.along(change)) for change in changes]
    off = max(rung.size(change) for change in changes)
    return replace(rung, extra={**rung.extra, "data": np.max(moved, axis=0)}, off=off)


def _change(rung: Rung, movement: np.ndarray) -> np.ndarray:
    return rung.question.task.outputs((rung.state + movement)[None])[0] - rung.proxy


def _unknown(rung: Rung) -> Rung:
    """What the data may move is not known, since the solver that would tell did not converge: it may be anything."""
    number = len(rung.question.outputs)
    everything = np.where(np.eye(number, dtype=bool), 0.0, np.inf)
    remarks = (*rung.remarks, "the solver did not converge for what uncertain data may move, so that may be anything")
    return replace(rung, extra={**rung.extra, "data": everything}, off=np.inf, remarks=remarks)


def _towards(problem: Problem, other: Problem, state: JaxArray) -> tuple[JaxArray, Any]:
    solve = problem.linearise(state)[1].solve(problem.defect(state) - other.defect(state))
    return solve.value, solve.solved


def _placed(matrix: np.ndarray, valid: np.ndarray, number: int) -> np.ndarray:
    whole = np.full((number, number), np.nan)
    whole[np.ix_(valid, valid)] = matrix
    return whole
