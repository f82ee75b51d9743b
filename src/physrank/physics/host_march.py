"""Marches on the host: any step that advances an array, its derivative by differences, rows one after the other."""

from typing import Any

import jax
import numpy as np

from physrank.physics._guards import own_values
from physrank.physics.differences import Function, along, choose_size, columns
from physrank.physics.matrix_tangent import flat, like
from physrank.physics.problem import NonlinearSolve, Tangent
from physrank.physics.solvers import DENSE_LIMIT, Solve

State = Any  # a NumPy array, real or complex


def advancing(march: Any, step: int) -> Function:
    """u ↦ Φ(u) for one step. Whatever is asked of a problem by name costs more than a small step, so it is asked once."""
    function, arguments = march.step, march.arguments(jax.tree.map(lambda leaf: leaf[step], march.per_step))
    return lambda now: own_values("The step", function(np.array(now), *arguments), now)


def step_size(march: Any, at: State) -> float:
    """The relative step of differences, chosen once for a problem: at the first step it is asked about."""
    if len(at) < 2:
        return 1.0  # there is no step
    return choose_size(advancing(march, 0), at[0], march.memory, march.difference)


class DifferencedMarch(Tangent):
    """Block lower triangular, like any march; the adjoint takes whole derivatives of steps, one column for every number."""

    problem: Any
    at: State

    def _pushed(self, step: int, direction: State) -> State:
        return along(advancing(self.problem, step), self.at[step], direction, self._size)

    @property
    def _size(self) -> float:
        return step_size(self.problem, self.at)

    def _pulled(self, step: int, covector: State) -> State:
        numbers = flat(self.at[step]).size
        if numbers > DENSE_LIMIT:
            raise ValueError(
                f"The adjoint of a step on the host takes a difference for each of its {numbers} numbers; expected at most "
                f"{DENSE_LIMIT}. State uncertain data by a list of sampled problems instead, or write the step in JAX."
            )
        matrix = columns(advancing(self.problem, step), self.at[step], self._size)
        return like(matrix.T @ flat(covector), self.at[step])

    def apply(self, direction: State) -> State:
        direction = np.asarray(direction)
        pushed = [self._pushed(n, direction[n]) for n in range(len(direction) - 1)]
        return np.concatenate([direction[:1], direction[1:] - pushed])

    def apply_adjoint(self, covector: State) -> State:
        pulled = np.array(covector)
        for n in range(len(pulled) - 1):
            pulled[n] -= self._pulled(n, np.asarray(covector[n + 1]))
        return pulled

    def solve(self, rhs: State) -> Solve:
        return sweep(self.problem, self.at, np.asarray(rhs))[1]

    def solve_adjoint(self, rhs: State) -> Solve:
        value = np.array(rhs)
        for n in reversed(range(len(value) - 1)):
            value[n] += self._pulled(n, value[n + 1])
        return _solved(value)

    def magnitude(self) -> Any:
        return np.ones(())


def sweep(march: Any, at: State, rhs: State | None) -> tuple[State, Solve]:
    """Forward substitution for L h = rhs; with rhs None, for rhs = −A(at), whose rows the same pass evaluates."""
    at = np.asarray(at)
    march.check_rows(at)
    size, kind = step_size(march, at), np.result_type(at, march.initial)
    rows, values = np.empty(at.shape, kind), np.empty(at.shape, kind)
    rows[0] = at[0] - march.initial
    values[0] = -rows[0] if rhs is None else rhs[0]
    for n in range(len(at) - 1):
        advance = advancing(march, n)
        pushed = along(advance, at[n], values[n], size)
        rows[n + 1] = at[n + 1] - advance(at[n])
        values[n + 1] = (-rows[n + 1] if rhs is None else rhs[n + 1]) + pushed
    return rows, _solved(values)


def _solved(values: State) -> Solve:
    """Substitution leaves nothing but rounding."""
    return Solve(values, np.zeros_like(values), np.asarray(1), np.all(np.isfinite(values)))


def solve(march: Any, rows: int) -> NonlinearSolve:
    """The march itself."""
    states = [march.initial]
    for n in range(rows - 1):
        states.append(advancing(march, n)(states[-1]))
    state: State = np.stack(states)
    return NonlinearSolve(state, np.asarray(rows - 1), np.all(np.isfinite(state)))
