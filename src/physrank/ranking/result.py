"""The result of ranking: names, scores, decisions, and all that they rest on."""

import os
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

from physrank import geometry, plots
from physrank._io import write_json, write_text
from physrank._version import __version__
from physrank.geometry import ComparisonSubspace, TaskSpace
from physrank.geometry.space import Array
from physrank.physics import Problem, Response
from physrank.ranking import diagnosis, tasks
from physrank.ranking.candidates import Library
from physrank.ranking.scores import Scores
from physrank.ranking.tasks import Task


@dataclass(frozen=True, eq=False)
class Ranking:
    """A library ranked by one shared response. Arrays are NumPy, in the order of `names`."""

    scoring: Scores
    library: Library
    task: Task
    space: TaskSpace
    outputs: Array  # y_i = Q(v_i), NaN for excluded candidates
    proxy_linear: Array  # Q(w) + DQ(w) δ
    proxy_evaluated: Array  # Q(w + δ)
    response: Response
    anchor: str
    problem: Problem = field(repr=False)
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
        """The candidate to trust. Raises `UnresolvedError` when the response did not converge."""
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
    def error_estimates(self) -> Array:
        """√S_i: estimated task error of each candidate. An estimate, not a bound."""
        return np.sqrt(self.scores)

    @property
    def corrections(self) -> int:
        """How many corrections led to the state."""
        return self.response.rule.count

    @property
    def state(self) -> Array:
        """s, the corrected full state."""
        return self.response.state  # pyright: ignore[reportReturnType]

    @property
    def proxy(self) -> Array:
        """q, the corrected output in task space."""
        return self.proxy_evaluated

    @cached_property
    def subspace(self) -> ComparisonSubspace:
        """𝒟: the directions in which an error of q could change a decision."""
        return ComparisonSubspace.of(self.space, self.outputs[self.library.valid])

    @property
    def margins(self) -> Array:
        """The proxy error ‖P_𝒟(t − q)‖ that each pair's sign survives: |G_ij| / (2‖y_i − y_j‖)."""
        return geometry.safe_error(self.space, self.outputs, self.scores)

    @cached_property
    def defect_reduction(self) -> float:
        """‖A(s)‖ / ‖A(w)‖, evaluated when asked for: how much of the nonlinear defect the correction left."""
        return diagnosis.defect_reduction(self.problem, self.response)

    def residual_floor(self, reference: Array) -> float:
        """‖A(reference)‖ / ‖A(w)‖: how far a given reference is from solving this very problem."""
        return self.problem.residual_floor(self.problem.lift(reference), np.asarray(self.response.anchor))

    def rescore(self, task: Task) -> "Ranking":
        """The same response judged by another task: no new solve."""
        return assemble(
            self.problem, self.library, tasks.resolve(task, self.problem), self.anchor, self.response, self.scoring
        )

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
            "correction": self.response.rule.name,
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

    def to_json(self, path: str | os.PathLike[str]) -> Path:
        """Write `to_dict()`; an existing file stays intact until the new one is complete."""
        return write_json(path, self.to_dict())

    def to_xarray(self) -> xr.Dataset:
        """Scores, gaps and fields with candidate names as coordinates."""
        axes = [f"task_{k}" for k in range(self.proxy.ndim)]
        state_axes = [f"state_{k}" for k in range(self.state.ndim)]
        names = list(self.names)
        return xr.Dataset(
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
        return plots.ranking_figure(**self._drawing())

    def report(self, path: str | os.PathLike[str]) -> Path:
        """One self-contained HTML file: decision, table, picture, diagnostics."""
        return write_text(path, plots.html_report(self.to_dict(), plots.ranking_figure(**self._drawing())))

    def _drawing(self) -> dict[str, Any]:
        return {
            "names": self.names,
            "outputs": self.outputs,
            "proxy": self.proxy,
            "anchor": self.task.outputs(np.asarray(self.response.anchor)[None])[0],
            "estimates": self.error_estimates,
            "unresolved": self.unresolved,
        }

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        lines = [
            f"{self.scoring.method}: {type(self.problem).__name__}, task {self.task.name} ({self.task.metric.name}), "
            f"anchor {self.anchor}, {self.response.rule.name}"
            + (f", step {float(self.response.multiplier):g} taken" if self.response.rule.backtrack else "")
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
    problem: Problem, library: Library, task: Task, anchor: str, response: Response, scoring: Scores
) -> Ranking:
    """A response and a task turned into scores. `scoring` gives method, cost and permission; its values are replaced."""
    base, state = np.asarray(response.base), np.asarray(response.state)
    linear, evaluated = task.proxies(base, state)
    outputs = np.where(_column(library.valid, linear.ndim), task.outputs(library.states), np.nan)
    space = task.space(outputs)
    values = geometry.scores_of(space, outputs, evaluated)
    return Ranking(
        scoring=replace(
            scoring, names=library.names, values=values, unresolved=diagnosis.unresolved(problem, response)
        ),
        library=library,
        task=task,
        space=space,
        outputs=outputs,
        proxy_linear=linear,
        proxy_evaluated=evaluated,
        response=response,
        anchor=anchor,
        problem=problem,
        notes=diagnosis.notes(
            problem, library, response, outputs, space, (task.outputs(np.asarray(response.anchor)[None])[0], evaluated)
        ),
    )


def _column(mask: np.ndarray, trailing: int) -> np.ndarray:
    return mask.reshape(-1, *[1] * trailing)


def _number(value: Any) -> float | None:
    value = float(value)
    return value if np.isfinite(value) else None
