"""Implicit marches on the host: step(next, now) = 0 solved row by row, its Jacobian assembled or by differences."""

from typing import Any

import jax
import numpy as np

from physrank.physics._guards import own_values
from physrank.physics.differences import Function, Memory, along, choose_size, columns, linearised
from physrank.physics.factors import as_matrix, factored
from physrank.physics.matrix_tangent import MatrixTangent, flat, like
from physrank.physics.newton import damped_newton
from physrank.physics.problem import NonlinearSolve, Tangent
from physrank.physics.solvers import DENSE_LIMIT, Solve

State = Any  # a NumPy array, real or complex


class Row:
    """R(next, now) = 0 for one step of a march, and its derivatives: D in next, B in now."""

    def __init__(self, march: Any, step: int, after: State, now: State):
        self.march, self.after, self.now = march, np.asarray(after), np.asarray(now)
        self.arguments = march.arguments(jax.tree.map(lambda leaf: leaf[step], march.per_step))
        self.step = march.step  # once: whatever is asked of a problem by name costs more than a small step

    def at(self, after: State, now: State) -> State:
        return own_values("The step", self.step(np.array(after), np.array(now), *self.arguments), now)

    @property
    def value(self) -> State:
        return self.at(self.after, self.now)

    def diagonal(self) -> Tangent:
        """D. What is remembered of differences is their step alone: at an equal `next`, another `now` has another D."""
        march = self.march
        if march.jacobian is not None:
            stated = march.jacobian(np.array(self.after), np.array(self.now), *self.arguments)
            matrix = as_matrix("jacobian(next, now)", stated, self.after.size)
            return MatrixTangent(self.after, factored(matrix, march.solver))
        precondition = march.preconditioner and march.preconditioner(self.after, self.now, *self.arguments)
        memory = Memory()
        memory.size, memory.remarks = self._size(self._of_next, self.after, "next"), march.memory.remarks
        return linearised(self._of_next, self.after, march.solver, precondition, memory)

    def below(self, direction: State) -> State:
        """B h."""
        return along(self._of_now, self.now, direction, self._size(self._of_now, self.now, "now"))

    def below_adjoint(self, covector: State) -> State:
        """Bᵀ z, from a difference for every number of a row."""
        numbers = flat(self.now).size
        if numbers > DENSE_LIMIT:
            raise ValueError(
                f"The adjoint of a step on the host takes a difference for each of its {numbers} numbers; expected at most "
                f"{DENSE_LIMIT}. State uncertain data by a list of sampled problems instead, or write the step in JAX."
            )
        matrix = columns(self._of_now, self.now, self._size(self._of_now, self.now, "now"))
        return like(matrix.T @ flat(covector), self.now)

    def _of_next(self, after: State) -> State:
        return self.at(after, self.now)

    def _of_now(self, now: State) -> State:
        return self.at(self.after, now)

    def _size(self, function: Function, at: State, which: str) -> float:
        """The step of differences, chosen once for a problem: that in next may be another than that in now."""
        memory = self.march.memory.parts.setdefault(which, Memory())
        found = choose_size(function, at, memory, self.march.difference)
        self.march.memory.remarks |= memory.remarks
        return found


class ImplicitDifferences(Tangent):
    """Block lower triangular: row n+1 is D h_{n+1} + B h_n."""

    problem: Any
    at: State

    def _row(self, n: int) -> Row:
        return Row(self.problem, n, self.at[n + 1], self.at[n])

    def apply(self, direction: State) -> State:
        direction = np.asarray(direction)
        rows = [direction[0]]
        for n in range(len(direction) - 1):
            row = self._row(n)
            rows.append(row.diagonal().apply(direction[n + 1]) + row.below(direction[n]))
        return np.stack(rows)

    def apply_adjoint(self, covector: State) -> State:
        covector = np.asarray(covector)
        pulled = [covector[0]]
        for n in range(len(covector) - 1):
            row = self._row(n)
            pulled[-1] = pulled[-1] + row.below_adjoint(covector[n + 1])
            pulled.append(row.diagonal().apply_adjoint(covector[n + 1]))
        return np.stack(pulled)

    def solve(self, rhs: State) -> Solve:
        return sweep(self.problem, self.at, np.asarray(rhs))[1]

    def solve_adjoint(self, rhs: State) -> Solve:
        """Backwards: Dᵀ z_{n+1} = r_{n+1} − Bᵀ z_{n+2}, and z_0 = r_0 − Bᵀ z_1."""
        known, found = np.array(rhs), []
        for n in reversed(range(len(known) - 1)):
            row = self._row(n)
            found.append(row.diagonal().solve_adjoint(known[n + 1]))
            known[n] = known[n] - row.below_adjoint(found[-1].value)
        return _joined(known[0], found[::-1])

    def magnitude(self) -> Any:
        return self._row(len(self.at) - 2).diagonal().magnitude()


def sweep(march: Any, at: State, rhs: State | None) -> tuple[State, Solve]:
    """Forward substitution for L h = rhs; with rhs None, for rhs = −A(at), whose rows the same pass evaluates."""
    at = np.asarray(at)
    march.check_rows(at)
    rows: list[State] = [at[0] - march.initial]
    first = -rows[0] if rhs is None else rhs[0]
    found: list[Solve] = []
    for n in range(len(at) - 1):
        row = Row(march, n, at[n + 1], at[n])
        rows.append(row.value)
        before = found[-1].value if found else first
        found.append(row.diagonal().solve((-rows[-1] if rhs is None else rhs[n + 1]) - row.below(before)))
    return np.stack(rows), _joined(first, found)


def _joined(first: State, found: list[Solve]) -> Solve:
    values: State = np.stack([first, *(solve.value for solve in found)])
    defects: State = np.stack([np.zeros_like(first), *(solve.defect for solve in found)])
    return Solve(
        values,
        defects,
        np.asarray(sum(int(solve.iterations) for solve in found)),
        np.all(np.isfinite(first)) & np.all([bool(solve.solved) for solve in found]),
    )


def solve(march: Any, rows: int) -> NonlinearSolve:
    """The march itself: Newton's method at every step, from the state before it."""
    states, iterations, converged = [march.initial], 0, True
    for n in range(rows - 1):
        now = states[-1]

        def linearise(after: State, n: int = n, now: State = now) -> tuple[State, Tangent]:
            row = Row(march, n, after, now)
            return row.value, row.diagonal()

        found = damped_newton(linearise, lambda after, n=n, now=now: Row(march, n, after, now).value, now, host=True)
        states.append(found.state)
        iterations, converged = iterations + int(found.iterations), converged and bool(found.converged)
    state: State = np.stack(states)
    return NonlinearSolve(state, np.asarray(iterations), converged & np.all(np.isfinite(state)))
