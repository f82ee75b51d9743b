"""`check`: is this the equation that my data obey? One known solution tells, and says which number or slip is to blame."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Array as JaxArray

from physrank import compute
from physrank._arrays import Array, to_numpy
from physrank.physics import Problem, capabilities, fits, stated
from physrank.ranking.misstated import BETTER, EXACT, FORCE, Suggestion, floor_of, marches, numbers
from physrank.ranking.slips import undone

USELESS = 0.2  # a floor above which the equation leaves too much of what happens unexplained
UNTRIED = 0.05  # the same where it states no number that could be varied
INITIAL, AT_ONCE = "the initial row", 0.9  # of the defect: steps obey the equation, and it starts from another state


@dataclass(frozen=True, eq=False)
class Check:
    """How well a known solution obeys the stated problem."""

    floor: float  # ‖A(known)‖ relative to that of a state that knows nothing: 0 is exact, 1 explains nothing
    where: dict[str, float]  # share of the squared defect by place: initial row, boundary, interior, largest rows
    suggestions: tuple[Suggestion, ...]  # best first; only those that lower the floor
    varied: tuple[str, ...] | None = None  # the numbers that were tried; None: every one
    tried: bool = True  # whether there was any number to try: without, nothing tells a wrong one from a coarse grid

    @property
    def passes(self) -> bool:
        """Whether this may be the equation: its floor is low, and nothing that was tried lowers it much."""
        if self.floor <= EXACT:
            return True
        # That some force would explain it can be said of anything: it does not speak against the problem.
        best = min((s.floor for s in self.suggestions if s.what != FORCE or self.floor > 0.05), default=np.inf)
        elsewhere = self.floor > UNTRIED and self.where.get(INITIAL, 0.0) > AT_ONCE
        bound = USELESS if self.tried else UNTRIED
        return bool(self.floor <= bound and not elsewhere and best > self.floor / BETTER)

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
        if self.varied is not None and self.floor > EXACT:
            lines.append(f"  only {', '.join(self.varied)} was varied: another number may explain what is left")
        if not self.tried and self.floor > EXACT:
            lines.append("  no number is stated that could be varied: hand them over as data, and they are tried")
        lines += [f"  the defect sits in: {places}"] if self.floor > EXACT and places else []
        lines += [f"  with {s.what} {self._falls(s)}" for s in self.suggestions[:5]]
        return "\n".join(lines)


def check(
    problem: Problem,
    known: Any,
    vary: Sequence[str] | None = None,
    progress: Callable[[str], object] | None = None,
) -> Check:
    """Hold a problem against one solution that you have, such as a training sample: step 0 before ranking anything.

    Main arguments: `problem`, stated for the very input whose solution `known` is.

    Other arguments: `vary`, names of the stated numbers to try (default: every float of the problem); whether it
    passes is then judged by these alone; `progress`, such as `print`, which is told the floor before anything is tried
    that would lower it: that may take a while.

    ```python
    verdict = pr.check(problem, known)
    print(verdict.passes, verdict.floor, verdict.suggestions)
    ```
    """
    raw = to_numpy("known", known, finite=True, allow_complex=capabilities.numbers(problem) != "real")
    vary = [vary] if isinstance(vary, str) else vary
    if not np.any(raw):
        raise ValueError("known is zero everywhere: it says nothing about the equation. Give a solution that is not.")
    state = capabilities.lift(problem, raw)
    expected = problem.state_shape or state.shape
    slips = [(name, fixed) for name, fixed in undone(problem, raw) if fits(fixed.shape, expected)]
    if not fits(state.shape, problem.state_shape):
        if not slips:
            raise ValueError(
                f"known has shape {raw.shape}; expected a state of this problem, {problem.state_shape}, and no common slip "
                "(axes exchanged, channels last, end point repeated) makes it one."
            )
        state, floor = slips[0][1], np.inf
    else:
        floor = floor_of(problem, state)
        if progress is not None and floor > EXACT:
            progress(f"floor {floor:.2g}; trying slips of layout, other numbers, and pairs of numbers …")
    found = [Suggestion(name, name, None, floor_of(problem, fixed)) for name, fixed in slips]
    if EXACT < floor < np.inf:
        found += numbers(problem, state, vary, floor)
    better = sorted((s for s in found if s.floor < floor / 1.2), key=lambda s: s.floor)
    tried = any(not name.startswith("initial") for name, _ in stated.leaves(problem))
    return Check(float(floor), _where(problem, state), tuple(better), None if vary is None else tuple(vary), tried)


def _where(problem: Problem, state: Array) -> dict[str, float]:
    """Shares of the squared defect: initial row, boundary, interior, and the rows with most of it."""
    defect = np.abs(np.asarray(compute.run(_defect, problem, state))) ** 2
    total = float(defect.sum()) or 1.0
    if marches(problem):
        rows = defect.reshape(len(defect), -1).sum(axis=1) / total
        largest = [int(k) for k in np.argsort(rows[1:])[::-1][:3] + 1]
        return {INITIAL: float(rows[0]), **{f"row {k}": float(rows[k]) for k in largest}}
    edge = np.ones(state.shape, bool)
    edge[tuple(slice(1, -1) for _ in state.shape)] = False
    boundary = float(defect[edge].sum()) / total if state.size > 2 else 0.0
    return {"the boundary": boundary, "the interior": 1 - boundary}


def _defect(problem: Problem, state: JaxArray) -> JaxArray:
    return problem.defect(state)
