"""How much physics may be spent on a decision, and what was."""

from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np

from physrank._later import WhenAsked


@dataclass(frozen=True)
class Effort:
    """What may be tried, cheapest first, while something asked for is open.

    - `levels`: how many coarser grids, where the problem knows them; 0: none.
    - `early`: whether a coarser grid may decide, or an iteration that has not come to its end. If not, a coarser grid only
      tells afterwards how far the problem's own may be off.
    - `corrections`: on the problem's own grid, each linearised at the result of the last.
    - `response`: whether to correct at all; if not, the equation is solved outright on the problem's own grid.
    - `solve`: solve it outright, too, where no correction is acceptable.
    """

    levels: int = 3
    early: bool = True
    corrections: int = 3
    response: bool = True
    solve: bool = True

    def __post_init__(self) -> None:
        for name, least in (("levels", 0), ("corrections", 1)):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, Integral) or value < least:
                raise ValueError(f"Effort({name}=…) must be a whole number ≥ {least}; got {value!r}.")
        for name in ("early", "response", "solve"):
            if not isinstance(getattr(self, name), bool):
                raise ValueError(f"Effort({name}=…) must be True or False; got {getattr(self, name)!r}.")


EFFORTS = {
    "auto": Effort(),
    "response": Effort(levels=2, early=False, corrections=1, solve=False),
    "solve": Effort(levels=2, early=False, response=False),
}


def resolve(effort: Any) -> Effort:
    """An `Effort`, or the name of one."""
    if isinstance(effort, Effort):
        return effort
    if isinstance(effort, str) and effort in EFFORTS:
        return EFFORTS[effort]
    names = ", ".join(repr(name) for name in EFFORTS)
    raise ValueError(f"effort must be {names} or a physrank.Effort(...); got {effort!r}.")


@dataclass(frozen=True, eq=False)
class Spent:
    """One rung of a climb: its price, and which pairs were settled when it was done."""

    rung: str
    seconds: float
    solves: int
    # N × N; None: too early to say
    settled: Any = WhenAsked()  # noqa: RUF009

    @property
    def open(self) -> int | None:
        """How many pairs were left open."""
        return None if self.settled is None else int(np.triu(~self.settled, 1).sum())
