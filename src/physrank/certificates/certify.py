"""`certify`: which decisions of a ranking are proved, and against which target."""

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from physrank import equations
from physrank.certificates.burgers import BurgersEnergy
from physrank.certificates.certificate import Certificate, Enclosure
from physrank.certificates.diffusion_reaction import DiffusionReactionEnergy
from physrank.certificates.monotone import StronglyMonotone
from physrank.certificates.reaction_diffusion import ValidatedReactionDiffusion
from physrank.certificates.sine_gordon import SineGordonEnergy
from physrank.geometry import UncertaintySet, pair_supports
from physrank.physics import Problem
from physrank.ranking import Ranking
from physrank.ranking.until import NAMED

Method = Callable[[Problem, Ranking], Enclosure]

METHODS: dict[type[Problem], Any] = {
    equations.Burgers: BurgersEnergy(),
    equations.DiffusionReaction: DiffusionReactionEnergy(),
    equations.ReactionDiffusion: ValidatedReactionDiffusion(),
    equations.SineGordon: SineGordonEnergy(),
}


def certify(
    problem: Problem,
    ranking: Ranking,
    *,
    tolerance: float = 0.0,
    by: Method | None = None,
    discrepancy: UncertaintySet | None = None,
) -> Certificate:
    """What is proved about a ranking: pairs, the best candidate, candidates within `tolerance` of the best loss.

    Main arguments: `problem` and a `ranking` of candidates for it; `tolerance`, an excess of squared loss that would not
    matter to you.

    Other arguments: `by`, the method (default: the one known for the equation; for your own strongly monotone problem
    `physrank.certificates.StronglyMonotone(metric=…, coercivity=…)`); `discrepancy`, a set from `physrank.geometry` that
    contains (dataset truth − solution of this problem) in the task space: the decisions then hold for the dataset.

    A failed assumption leaves everything open: look at `certificate.failed`.
    """
    if not (np.isfinite(tolerance) and tolerance >= 0):
        raise ValueError(f"tolerance must be a finite number ≥ 0; got {tolerance}.")
    method = by or method_for(problem)
    started = time.perf_counter()
    enclosure = method(problem, ranking)
    if discrepancy is not None:
        enclosure = _transfer(enclosure, ranking, discrepancy)
    proxy_gaps = np.asarray(ranking.gaps)
    return Certificate(ranking.names, proxy_gaps, enclosure, float(tolerance), time.perf_counter() - started)


@dataclass(frozen=True)
class until:
    """A stopping rule for `rank`: correct until the decision is certified.

    `decision`: "pairs", every pair that could differ by more than `tolerance`; or "best", a candidate that is certainly
    within `tolerance` of the best loss. `by` as in `certify`.
    """

    decision: Literal["pairs", "best"] = "pairs"
    tolerance: float = 0.0
    by: Method | None = None

    def __post_init__(self) -> None:
        if self.decision not in ("pairs", "best"):
            raise ValueError(f'decision must be "pairs" or "best"; got {self.decision!r}.')

    def __call__(self, problem: Problem, ranking: Ranking) -> Certificate:
        found = certify(problem, ranking, tolerance=self.tolerance, by=self.by)
        return replace(found, wanted=self.decision)


NAMED["certified"] = until()


def method_for(problem: Problem) -> Method:
    """The method known for a problem's equation."""
    if type(problem) in METHODS:
        return METHODS[type(problem)]
    if hasattr(problem, "secant_metric"):
        return StronglyMonotone()
    known = ", ".join(sorted(kind.__name__ for kind in METHODS))
    raise ValueError(
        f"No certificate is known for {type(problem).__name__}; there is one for {known}. For a strongly monotone problem "
        "of your own, pass by=physrank.certificates.StronglyMonotone(metric=…, coercivity=…)."
    )


def _transfer(enclosure: Enclosure, ranking: Ranking, discrepancy: UncertaintySet) -> Enclosure:
    """G_ij(t + ξ) for ξ in the stated set; its support function is evaluated in double precision."""
    valid = ranking.library.valid
    supports = np.full((len(valid), len(valid)), np.nan)
    supports[np.ix_(valid, valid)] = pair_supports(ranking.space, ranking.outputs[valid], discrepancy)
    return replace(
        enclosure,
        kind="theorem" if enclosure.kind == "validated" else enclosure.kind,
        target=f"any dataset whose difference to {enclosure.target} lies in the stated {type(discrepancy).__name__.lower()}",
        gaps=enclosure.gaps.transferred(supports, supports.T),
    )
