"""The result of ranking: names, scores, decisions, and all that they rest on."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any, cast

import numpy as np

from physrank import geometry, report, rungs, tasks
from physrank._arrays import to_numpy
from physrank._io import write_json, write_text
from physrank.geometry import ComparisonSubspace, TaskSpace
from physrank.geometry.space import Array
from physrank.physics import Problem, Response, capabilities
from physrank.ranking import anchors, diagnosis, dictionary
from physrank.ranking.candidates import Candidates
from physrank.ranking.scores import Scores
from physrank.rungs import Asked, Question, Rung
from physrank.rungs.diagnosis import defect_reduction, residual_floor
from physrank.rungs.effort import Spent
from physrank.tasks import Task


@dataclass(frozen=True, eq=False)
class Ranking:
    """Candidates ranked by one rung. Arrays are NumPy, in the order of `names`."""

    problem: Problem = field(repr=False)
    candidates: Candidates
    anchor: str
    rung: Rung
    scoring: Scores
    asked: Asked
    left_out: dict[str, str] = field(default_factory=dict)  # candidates that had no part in the anchor, and why
    certificate: Any = None  # what `rank(until="certified")` proved, else None

    # -- decisions -------------------------------------------------------------------------------------------------

    @property
    def names(self) -> tuple[str, ...]:
        return self.scoring.names

    @property
    def scores(self) -> Array:
        """S_i = ‖q − y_i‖²; NaN for excluded candidates."""
        return self.squared(self.scoring.values)

    def squared(self, values: Array) -> Array:
        """From the units in which decisions are made."""
        with np.errstate(over="ignore", under="ignore", invalid="ignore"):  # decisions are made before, in the units
            return values * self.scoring.unit * self.scoring.unit

    @property
    def best(self) -> str:
        """The candidate to trust. Raises `UnresolvedError` when the ranking is unresolved, for whatever reason."""
        return self.scoring.best

    def choose(self, *, allow_unresolved: bool = False) -> str:
        """`best`, or with `allow_unresolved=True` what the scores of a failed response would say."""
        return self.scoring.choose(allow_unresolved=allow_unresolved)

    @property
    def order(self) -> list[str]:
        """Names best to worst."""
        return self.scoring.order

    @property
    def gaps(self) -> Array:
        """`gaps[i, j] = S_j − S_i`: positive where i is preferred."""
        return self.squared(self.scoring.gaps)

    def labels(self, tolerance: float = 0.0) -> np.ma.MaskedArray:
        """Three-way pair labels: +1, 0 (tie), −1; masked for excluded candidates."""
        return self.scoring.labels(tolerance)

    def winners(self, tolerance: float) -> list[str]:
        """Every candidate within `tolerance` of the best score."""
        return self.scoring.winners(tolerance)

    @property
    def unresolved(self) -> str | None:
        """Why this ranking must not be used as it is; None when it may."""
        return self.scoring.unresolved

    # -- how far to trust them -------------------------------------------------------------------------------------

    @property
    def uncertainty(self) -> Array:
        """How far each gap may still move (N × N), all causes together: an estimate, not a bound. See `rung.parts`."""
        return self.squared(self.rung.uncertainty)

    @property
    def data_uncertainty(self) -> Array | None:
        """The part of `uncertainty` that comes from data stated as uncertain; None when none was."""
        return None if (found := self.rung.extra.get("data")) is None else self.squared(found)

    @property
    def data_half_widths(self) -> Mapping[str, Any] | None:
        """How far each number of the data may be off, by name; None when nothing was stated, or only samples."""
        return getattr(self.asked.doubtful, "widths", None)

    @property
    def settled_pairs(self) -> np.ndarray:
        """N × N: whether a pair's sign survives its uncertainty, or both are within the tolerance all the same."""
        return np.eye(len(self.names), dtype=bool) if self.unresolved else self.asked.pairs(self.rung)

    @property
    def settled(self) -> bool:
        """Whether what was asked for (`decide`, `tolerance`) survives the uncertainty."""
        return not self.unresolved and self.asked.settled(self.rung)

    @property
    def best_settled(self) -> bool:
        """Whether the best candidate is: within the tolerance of every other one's loss, whatever the uncertainty does."""
        return not self.unresolved and self.asked.settled(self.rung, "best")

    @property
    def open_groups(self) -> list[list[str]]:
        """Neighbours in the order that are not settled between them, as runs of names."""
        order = np.array([self.names.index(name) for name in self.scoring.ordered(allow_unresolved=True)])
        runs = np.split(order, 1 + np.flatnonzero(self.settled_pairs[order[:-1], order[1:]]))
        return [[self.names[i] for i in run] for run in runs if len(run) > 1]

    @property
    def open_apart(self) -> list[list[str]]:
        """Pairs that are not settled either and stand in no such run together."""
        order = self.scoring.ordered(allow_unresolved=True)
        known = {name: k for k, group in enumerate(self.open_groups) for name in group}
        places = [self.names.index(name) for name in order]
        return [
            [order[a], order[b]]
            for a, b in zip(*np.triu_indices(len(order), 1), strict=True)
            if not self.settled_pairs[places[a], places[b]] and known.get(order[a], -1) != known.get(order[b], -2)
        ]

    @cached_property
    def doubts(self) -> tuple[str, ...]:
        """Reasons, in words, not to take this ranking at its word."""
        return diagnosis.doubts(self)

    @cached_property
    def notes(self) -> tuple[str, ...]:
        return diagnosis.notes(self.candidates, self.rung, self.left_out)

    # -- what the decisions rest on --------------------------------------------------------------------------------

    @property
    def task(self) -> Task:
        return self.rung.question.task

    @property
    def space(self) -> TaskSpace:
        """Where outputs are compared."""
        return self.rung.question.space

    @property
    def outputs(self) -> Array:
        """y_i = Q(v_i); NaN for excluded candidates."""
        return self.rung.question.outputs

    @property
    def error_estimates(self) -> Array:
        """√S_i: estimated task error of each candidate. An estimate, not a bound."""
        return self.scoring.unit * np.sqrt(self.scoring.values)

    @property
    def response(self) -> Response:
        """How the linear solve went: converged?, algebraic defect ℓ, iterations, step. See `on_grid`."""
        return cast(Response, self.on_grid.rung.response)

    @cached_property
    def on_grid(self) -> "Ranking":
        """This ranking, if a response on the problem's own grid stands behind it; else the same one a correction further."""
        return self if self.rung.response is not None else self.corrected()

    def corrected(self) -> "Ranking":
        """The same ranking after one further correction, linearised at its state."""
        before, rung = self.rung, rungs.correct(self.problem, self.rung)
        return self._from(replace(rung, solves=before.solves + rung.solves, seconds=before.seconds + rung.seconds))

    def _from(self, rung: Rung) -> "Ranking":
        rung = self.asked.doubtful(self.problem, rung)
        allowed = self.scoring.allow_unresolved
        return assemble(self.problem, self.candidates, self.anchor, rung, self.asked, self.left_out, allowed)

    @property
    def relative_errors(self) -> Array:
        """√S_i / ‖q‖."""
        size = float(self.space.norm(self.proxy / self.scoring.unit))
        return np.sqrt(self.scoring.values) / size if size > 0 else np.full_like(self.scores, np.nan)

    @property
    def error_uncertainty(self) -> float:
        """How far every error estimate may be off: the proxy may still move, uncertain data may move it. No bound."""
        return self.rung.reach

    @property
    def corrections(self) -> int:
        """How many corrections on the problem's own grid led to the state."""
        return 0 if self.rung.response is None else self.rung.response.variant.count

    @property
    def effort(self) -> tuple[Spent, ...]:
        """What was spent, rung by rung, and which pairs each one settled."""
        return self.rung.spent

    @property
    def state(self) -> Array:
        """s, the corrected full state."""
        return self.rung.state

    @property
    def proxy(self) -> Array:
        """q = Q(s), the corrected output in task space."""
        return self.rung.proxy

    proxy_evaluated = proxy  # Q(w + δ), beside Q(w) + DQ(w) δ

    @property
    def proxy_linear(self) -> Array:
        """Q(w) + DQ(w) δ: equal to the proxy for linear tasks."""
        return self.rung.seen.linear

    @cached_property
    def subspace(self) -> ComparisonSubspace:
        """𝒟: the directions in which an error of q could change a decision."""
        return ComparisonSubspace.of(self.space, self.outputs[self.candidates.valid])

    @property
    def margins(self) -> Array:
        """The proxy error ‖P_𝒟(t − q)‖ that each pair's sign survives: |G_ij| / (2‖y_i − y_j‖)."""
        return geometry.safe_error(self.space, self.outputs, self.scores)

    @cached_property
    def defect_reduction(self) -> float:
        """‖A(s)‖ / ‖A(w)‖: how much of the nonlinear defect the correction left."""
        known = self.rung.reduction
        return defect_reduction(self.problem, self.response) if known is None else known

    @property
    def start(self) -> anchors.Anchor:
        """The anchor itself, for ranking the same candidates again from it."""
        return anchors.given(self.response.anchor)

    def residual_floor(self, reference: Any) -> float:
        """‖A(reference)‖ / ‖A(w)‖: how far a given reference is from solving this very problem."""
        given = capabilities.lift(self.problem, to_numpy("reference", reference))
        return residual_floor(self.problem, given, self.response.anchor)

    def rescore(self, task: Task) -> "Ranking":
        """The same physics judged by another task: no new solve, unless a coarse grid was looked at for its own task only."""
        question = Question.of(tasks.resolve(task, self.problem), self.candidates.states, self.candidates.valid)
        known = self.rung.response is not None or self.rung.evidence.movements or self.rung.failed
        return self._from((self.rung if known else self.on_grid.rung).seen_by(question))

    def __getattr__(self, name: str) -> Any:
        moved = "Ranking.library is now Ranking.candidates."
        raise AttributeError(moved if name == "library" else f"'Ranking' object has no attribute {name!r}")

    def timed(self, seconds: float) -> "Ranking":
        """With the seconds spent since the candidates were on the grid."""
        again = object.__new__(Ranking)
        vars(again).update(vars(self), scoring=self.scoring.timed(seconds))
        return again

    # -- ways out --------------------------------------------------------------------------------------------------

    def to_dict(self) -> dict[str, Any]:
        """Plain Python, ready for JSON; full fields are left to `to_xarray`."""
        return dictionary.of(self)

    def to_arrays(self) -> dict[str, Any]:
        """The fields behind the decisions, as pictures and data sets need them."""
        return dictionary.arrays_of(self)

    def to_json(self, path: str | os.PathLike[str]) -> Path:
        """Write `to_dict()`; an existing file stays intact until the new one is complete."""
        return write_json(path, self.to_dict())

    def to_xarray(self) -> Any:
        """Scores, gaps, uncertainties and fields as an `xarray.Dataset` with candidate names as coordinates."""
        return report.dataset(self.to_dict(), self.to_arrays())

    def plot(self) -> Any:
        """A matplotlib figure: estimated errors, and the fields they come from."""
        return report.ranking_figure(**report.drawn(self.to_arrays()))

    def report(self, path: str | os.PathLike[str]) -> Path:
        """One self-contained HTML file: decision, table, picture, diagnostics, certificate."""
        return write_text(path, report.html_report(self.to_dict(), self.plot()))

    def __str__(self) -> str:
        proof = [] if self.certificate is None else [str(self.certificate)]
        return "\n".join([report.in_words(self.to_dict()), *proof])

    __repr__ = __str__


def assemble(
    problem: Problem,
    candidates: Candidates,
    anchor: str,
    rung: Rung,
    asked: Asked,
    left_out: dict[str, str],
    allow_unresolved: bool = False,
) -> Ranking:
    """A rung turned into scores and decisions."""
    known = (allow_unresolved, candidates.excluded, partial(getattr, rung, "uncertainty"), rung.question.unit)
    scoring = Scores(rung.name, candidates.names, rung.scores, rung.failed, rung.solves, rung.seconds, *known)
    return Ranking(problem, candidates, anchor, rung, scoring, asked, left_out)
