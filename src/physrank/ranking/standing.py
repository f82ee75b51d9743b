"""How far a choice over many inputs is settled, and the rule that says when to stop reading them."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from numbers import Real
from typing import Any

import numpy as np

from physrank.ranking.duels import Duels


@dataclass(frozen=True)
class Settled:
    """Stop reading a panel once its choice is settled: the rule behind `select(until="settled")`.

    `tolerance`: an excess of the mean score that would not matter, as a share of the better one's; `reach`: no input that is
    not read gives a candidate a lead over another of more than this many times its largest lead so far; `total`: how many
    inputs the panel has, where that cannot be seen (a generator); without it the inputs are independent draws.
    """

    tolerance: float = 0.05
    reach: float = 1.0
    total: int | None = None

    def __post_init__(self) -> None:
        if not (np.isfinite(self.tolerance) and self.tolerance >= 0):
            raise ValueError(f"tolerance must be a share ≥ 0, such as 0.05 for 5 %; got {self.tolerance}.")
        if not (np.isfinite(self.reach) and self.reach >= 1):
            raise ValueError(f"reach must be at least 1; got {self.reach}.")
        if self.total is not None and self.total < 1:
            raise ValueError(f"total must be the number of inputs in the panel, at least 1; got {self.total}.")


def rule_of(until: Any) -> Settled | None:
    """The rule that `until` names or is; None where every input is read."""
    rule = Settled() if isinstance(until, str) and until == "settled" else until
    if not (rule is None or isinstance(rule, Settled)):
        raise ValueError(f'until must be "settled" or a physrank.Settled(...); got {until!r}.')
    return rule


@dataclass(frozen=True)
class Standing:
    """What is known of a choice, and on what it rests."""

    settled: bool
    why: str  # it is, or is not
    inputs: int  # read
    total: int | None  # of the panel; None: draws from a population
    confidence: float
    tolerance: float
    assumptions: tuple[str, ...]
    silent: int = 0  # inputs read that could not be ranked

    @property
    def about(self) -> str:
        whole = "the population" if self.total is None else f"the panel of {self.total} inputs"
        return (
            f"{whole}, but for what could not be ranked ({self.silent} of {self.inputs} inputs)"
            if self.silent
            else whole
        )

    def to_dict(self) -> dict[str, Any]:
        return asdict(self) | {"assumptions": list(self.assumptions)}


def error_of(confidence: float) -> float:
    if not (isinstance(confidence, Real) and 0 < confidence < 1):
        raise ValueError(f"confidence must be a number strictly between 0 and 1; got {confidence!r}.")
    return 1 - confidence


def stand(
    duels: Duels,
    rule: Settled,
    names: Sequence[str],
    best: int,
    alive: np.ndarray,
    confidence: float,
    drawn_here: bool = False,
) -> Standing:
    """The standing of `best` after what the duels have seen."""
    settled = duels.good_enough(best, error_of(confidence))
    open_still = [name for name, doubtful in zip(names, alive & ~settled, strict=True) if doubtful]
    inputs, whole = len(duels.rows), len(duels.rows) == duels.total
    if open_still:
        cause = "what single inputs leave uncertain" if whole else "after all inputs there were"
        why = f"not settled between {names[best]} and {', '.join(open_still)}: {cause}"
    elif whole:
        why = "all inputs of the panel were read"
    else:
        within = f"within {rule.tolerance:.3g} of the best mean score" if alive.sum() > 1 else "the best"
        why = f"{names[best]} is {within}"
    silent, assumed = sum(row is None for row in duels.rows), _assumptions(duels, whole, drawn_here)
    if silent:
        assumed = (*assumed, f"the {silent} inputs that could not be ranked would not have decided otherwise")
    return Standing(not open_still, why, inputs, duels.total, confidence, rule.tolerance, assumed, silent)


def _assumptions(duels: Duels, whole: bool, drawn_here: bool) -> tuple[str, ...]:
    """In words. Of a panel read whole, only the doubts of single inputs are left."""
    doubts = "the uncertainties of single inputs hold, which are estimates"
    if whole:
        return (doubts,)
    order = "inputs are independent draws from their population"
    if duels.total is not None:
        order = "inputs are read in random order" + (" (drawn here)" if drawn_here else " (stated by you)")
    limit = (
        f"on no unread input is a candidate ahead of another by more than {duels.reach:g} × its largest lead so far (or "
        "their root-mean-square difference)"
        if duels.bound is None
        else f"no score exceeds {duels.bound:g} (stated by you)"
    )
    return order, limit, doubts
