"""When to stop correcting: once what was asked for is proved."""

from dataclasses import dataclass, replace
from typing import Literal

from physrank.certificates._functions import check_method
from physrank.certificates.certificate import Certificate
from physrank.certificates.certify import Method, certify, method_for
from physrank.certificates.ranked import Ranked
from physrank.geometry import UncertaintySet
from physrank.physics import Problem


@dataclass(frozen=True)
class Certified:
    """For `rank(until=…)`: correct until the decision is certified.

    `decision`: "pairs", every pair that could differ by more than `tolerance`; or "best", a candidate that is certainly
    within `tolerance` of the best loss. `by` and `discrepancy` as in `certify`.
    """

    decision: Literal["pairs", "best"] = "pairs"
    tolerance: float = 0.0
    by: Method | None = None
    discrepancy: UncertaintySet | float | None = None

    def __post_init__(self) -> None:
        if self.decision not in ("pairs", "best"):
            raise ValueError(f'decision must be "pairs" or "best"; got {self.decision!r}.')
        check_method(self.by)

    def __call__(self, problem: Problem, ranking: Ranked) -> Certificate:
        by = self.by or getattr(method_for(problem), "quick", None)
        found = certify(problem, ranking, tolerance=self.tolerance, by=by, discrepancy=self.discrepancy)
        return replace(found, wanted=self.decision)
