"""The result of ranking: names, scores, decisions, and all that they rest on."""

import os
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from physrank import _optional, geometry, report, tasks
from physrank._io import write_json, write_text
from physrank._version import __version__
from physrank.geometry import ComparisonSubspace, TaskSpace
from physrank.geometry.space import Array
from physrank.physics import Problem, Response, capabilities
from physrank.ranking import anchors, diagnosis
from physrank.ranking.candidates import Candidates
from physrank.ranking.scores import Scores
from physrank.rungs import Question, Rung
from physrank.rungs.diagnosis import defect_reduction, residual_floor
from physrank.tasks import Task


@dataclass(frozen=True, eq=False)
class Ranking:
    """Candidates ranked by one rung. Arrays are NumPy, in the order of `names`."""

    problem: Problem = field(repr=False)
    candidates: Candidates
    anchor: str
    rung: Rung
    scoring: Scores
    notes: tuple[str, ...] = ()
    certificate: Any = None  # what `rank(until=…)` found out, else None

    # -- decisions -------------------------------------------------------------------------------------------------

    @property
    def names(self) -> tuple[str, ...]:
        return self.scoring.names

    @property
    def scores(self) -> Array:
        """S_i = ‖q − y_i‖²; NaN for excluded candidates."""
        return self.scoring.values

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
        return self.scoring.gaps

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
        return np.sqrt(self.scores)

    @property
    def response(self) -> Response:
        """How the linear solve went: converged?, algebraic defect ℓ, iterations, step."""
        assert self.rung.response is not None
        return self.rung.response

    @property
    def corrections(self) -> int:
        """How many corrections led to the state."""
        return self.response.variant.count

    @property
    def state(self) -> Array:
        """s, the corrected full state."""
        return self.rung.state

    @property
    def proxy(self) -> Array:
        """q = Q(s), the corrected output in task space."""
        return self.rung.proxy

    @property
    def proxy_evaluated(self) -> Array:
        """Q(w + δ): the proxy."""
        return self.rung.proxy

    @property
    def proxy_linear(self) -> Array:
        """Q(w) + DQ(w) δ: equal to the proxy for linear tasks."""
        return self.rung.proxy_linear

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
        """‖A(s)‖ / ‖A(w)‖, evaluated when asked for: how much of the nonlinear defect the correction left."""
        return defect_reduction(self.problem, self.response)

    @property
    def start(self) -> anchors.Anchor:
        """The anchor itself, for ranking the same candidates again from it."""
        return anchors.given(self.response.anchor)

    def residual_floor(self, reference: Array) -> float:
        """‖A(reference)‖ / ‖A(w)‖: how far a given reference is from solving this very problem."""
        lifted = capabilities.lift(self.problem, reference)
        return residual_floor(self.problem, lifted, np.asarray(self.response.anchor))

    def rescore(self, task: Task) -> "Ranking":
        """The same response judged by another task: no new solve."""
        question = Question.of(tasks.resolve(task, self.problem), self.candidates.states, self.candidates.valid)
        allowed = self.scoring.allow_unresolved
        return assemble(self.problem, self.candidates, self.anchor, self.rung.asked(question), allowed)

    def __getattr__(self, name: str) -> Any:
        if name == "library":
            raise AttributeError("Ranking.library is now Ranking.candidates.")
        raise AttributeError(f"'Ranking' object has no attribute {name!r}")

    def timed(self, seconds: float) -> "Ranking":
        """With the seconds spent since the candidates were on the grid."""
        return replace(self, scoring=replace(self.scoring, seconds=seconds))

    # -- ways out --------------------------------------------------------------------------------------------------

    def to_dict(self) -> dict[str, Any]:
        """Plain Python, ready for JSON; full fields are left to `to_xarray`."""
        response = self.response
        return {
            "physrank": __version__,
            "method": self.scoring.method,
            "equation": type(self.problem).__name__,
            "task": self.task.name,
            "metric": self.task.metric.name,
            "anchor": self.anchor,
            "correction": response.variant.name,
            "unresolved": self.unresolved,
            "order": None if self.unresolved else self.order,
            "candidates": {
                name: {
                    "score": _number(self.scores[i]),
                    "error_estimate": _number(self.error_estimates[i]),
                    "excluded": self.scoring.excluded.get(name),
                }
                for i, name in enumerate(self.names)
            },
            "response": {
                "converged": bool(response.converged),
                "algebraic_defect": _number(response.algebraic_norm),
                "anchor_defect": _number(response.defect_norm),
                "iterations": int(response.iterations),
                "step": _number(response.multiplier),
                "solves": self.scoring.solves,
                "seconds": self.scoring.seconds,
            },
            "notes": list(self.notes),
            "certificate": None if self.certificate is None else self.certificate.to_dict(),
        }

    def to_arrays(self) -> dict[str, Any]:
        """The fields behind the decisions, as a picture needs them."""
        return {
            "names": self.names,
            "outputs": self.outputs,
            "proxy": self.proxy,
            "anchor": self.task.outputs(np.asarray(self.response.anchor)[None])[0],
            "estimates": self.error_estimates,
            "unresolved": self.unresolved,
        }

    def to_json(self, path: str | os.PathLike[str]) -> Path:
        """Write `to_dict()`; an existing file stays intact until the new one is complete."""
        return write_json(path, self.to_dict())

    def to_xarray(self) -> Any:
        """Scores, gaps and fields as an `xarray.Dataset` with candidate names as coordinates."""
        axes = [f"task_{k}" for k in range(self.proxy.ndim)]
        state_axes = [f"state_{k}" for k in range(self.state.ndim)]
        names = list(self.names)
        return _optional.load("xarray").Dataset(
            {
                "score": ("candidate", self.scores),
                "error_estimate": ("candidate", self.error_estimates),
                "excluded": ("candidate", ~self.scoring.valid),
                "gap": (("candidate", "other"), self.gaps),
                "output": (("candidate", *axes), self.outputs),
                "proxy": (axes, self.proxy),
                "state": (state_axes, self.state),
            },
            coords={"candidate": names, "other": names},
            attrs={
                "task": self.task.name,
                "anchor": self.anchor,
                "unresolved": self.unresolved or "",
                "physrank": __version__,
            },
        )

    def plot(self) -> Any:
        """A matplotlib figure: estimated errors, and the fields they come from."""
        return report.ranking_figure(**self.to_arrays())

    def report(self, path: str | os.PathLike[str]) -> Path:
        """One self-contained HTML file: decision, table, picture, diagnostics, certificate."""
        return write_text(path, report.html_report(self.to_dict(), self.plot()))

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        variant = self.response.variant
        lines = [
            f"{self.scoring.method}: {type(self.problem).__name__}, task {self.task.name} ({self.task.metric.name}), "
            f"anchor {self.anchor}, {variant.name}"
            + (f", step {float(self.response.multiplier):g} taken" if variant.backtrack else "")
        ]
        if self.unresolved:
            lines.append(f"UNRESOLVED: {self.unresolved}")
        ordered = self.scoring.ordered(allow_unresolved=True) if self.scoring.valid.any() else []
        width = max(map(len, self.names))
        for place, name in enumerate(ordered, start=1):
            i = self.names.index(name)
            mark = "  ?" if self.unresolved else f"{place:3d}"
            lines.append(f"{mark}  {name:<{width}}  estimated error {self.error_estimates[i]:.4g}")
        lines += [f"  –  {name:<{width}}  excluded: {why}" for name, why in self.scoring.excluded.items()]
        lines += [f"note: {note}" for note in self.notes]
        lines += [str(self.certificate)] if self.certificate is not None else []
        return "\n".join(lines)


def assemble(
    problem: Problem, candidates: Candidates, anchor: str, rung: Rung, allow_unresolved: bool = False
) -> Ranking:
    """A rung turned into scores and decisions."""
    question = rung.question
    scoring = Scores(
        rung.name,
        candidates.names,
        geometry.scores_of(question.space, question.outputs, rung.proxy),
        rung.failed,
        rung.solves,
        rung.seconds,
        allow_unresolved,
        candidates.excluded,
    )
    return Ranking(problem, candidates, anchor, rung, scoring, diagnosis.notes(problem, candidates, rung))


def _number(value: Any) -> float | None:
    value = float(value)
    return value if np.isfinite(value) else None
