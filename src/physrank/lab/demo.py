"""The demo: rank real networks without a reference, then reveal the reference and count."""

import hashlib
import json
import time
from collections.abc import Callable
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np

from physrank import geometry, ranking, report
from physrank._io import write_bytes, write_json
from physrank.geometry.space import Array
from physrank.lab.equations import EQUATIONS, Equation
from physrank.lab.evaluation import REFERENCE_TIE, Recovery, solve_or_rank
from physrank.lab.store.provenance import stamp
from physrank.physics import Problem
from physrank.ranking import Ranking, Scores, scorers

DATA = Path(__file__).parent / "data" / "demo.npz"
MAX_BYTES = 8_000_000
LIBRARIES = ("burgers-fno-e1", "burgers-cno-e1", "reaction_diffusion-fno-e1", "reaction_diffusion-cno-e1")
PICTURED = ("reaction_diffusion-fno-e1", 2)  # which input of which library is drawn

Progress = Callable[[str, int, int], None]


@dataclass(frozen=True)
class DemoData:
    """Predictions of four libraries, eight checkpoints each, and references that ranking never sees."""

    inputs: dict[str, list[Any]]  # by equation
    references: dict[str, Array]
    predictions: dict[str, Array]  # by library: (inputs, candidates, *state), float32
    names: dict[str, tuple[str, ...]]
    validation_loss: dict[str, Array]
    sha256: str

    @classmethod
    def load(cls, path: Path = DATA) -> "DemoData":
        if path.stat().st_size > MAX_BYTES:
            raise ValueError(f"{path.name} has {path.stat().st_size} bytes; expected at most {MAX_BYTES}.")
        content = path.read_bytes()
        expected = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))["sha256"]
        found = hashlib.sha256(content).hexdigest()
        if found != expected:
            raise ValueError(
                f"{path.name} does not match its manifest (sha256 {found[:12]}…, expected {expected[:12]}…)."
            )
        with np.load(path, allow_pickle=False) as file:
            return cls(
                inputs={equation: _inputs(file, equation) for equation in _equations()},
                references={equation: file[f"{equation} reference"] for equation in _equations()},
                predictions={name: file[f"{name} predictions"] for name in LIBRARIES},
                names={name: tuple(str(n) for n in file[f"{name} names"]) for name in LIBRARIES},
                validation_loss={name: file[f"{name} validation_loss"] for name in LIBRARIES},
                sha256=found,
            )

    def problem(self, equation: str, k: int) -> Problem:
        return EQUATIONS[equation].problem(self.inputs[equation][k])

    def candidates(self, library: str, k: int) -> dict[str, Array]:
        return dict(zip(self.names[library], self.predictions[library][k], strict=True))


def _inputs(file: Any, equation: str) -> list[Any]:
    """Input objects from their stored coefficients: seeds would tie the data to a version of NumPy."""
    kind = EQUATIONS[equation].input
    columns = {field.name: file[f"{equation} {field.name}"] for field in fields(kind)}
    return [
        kind(**{name: row if row.ndim else row.item() for name, row in ((n, c[k]) for n, c in columns.items())})
        for k in range(len(columns["stratum"]))
    ]


def equation_of(library: str) -> str:
    return library.rsplit("-", 2)[0]


def _equations() -> list[str]:
    """Each equation of the demo's libraries once, in order."""
    return list(dict.fromkeys(map(equation_of, LIBRARIES)))


def methods(data: DemoData, library: str) -> dict[str, Callable[..., Scores]]:
    losses = dict(zip(data.names[library], map(float, data.validation_loss[library]), strict=True))
    declared: Equation = EQUATIONS[equation_of(library)]
    return {
        "ladder": scorers.Ladder(tolerance=REFERENCE_TIE),
        "shared response": scorers.SharedResponse(),
        "shared, 2 corrections": scorers.SharedResponse(corrections=2),
        "raw residual": scorers.RawResidual(),
        "distance to mean": scorers.MeanCentrality(),
        "distance to medoid": scorers.MedoidCentrality(),
        "validation loss": scorers.ValidationLoss(losses),
        "direct solve, same grid": scorers.DirectSolve(),
        **{
            f"direct solve, {s.points} points": scorers.DirectSolve(points=s.points, substeps=s.substeps)
            for s in declared.coarse_solves
        },
    }


@dataclass(frozen=True)
class Demo:
    """Everything the demo found."""

    data: DemoData
    recovery: dict[str, dict[str, Recovery]]  # equation → method
    seconds: dict[str, dict[str, float]]  # median per input, after compilation
    rankings: dict[str, list[Ranking]]  # by library
    losses: dict[str, Array]
    proxy_losses: dict[str, Array]
    selections: dict[str, ranking.Selection]
    wall_seconds: float

    def to_dict(self) -> dict[str, Any]:
        """For JSON and for the tables in the documentation."""
        proxy, best = (
            np.concatenate(list(self.proxy_losses.values())),
            np.concatenate([table.min(axis=1) for table in self.losses.values()]),
        )
        return {
            "what": "FNO and CNO libraries of eight checkpoints, Burgers and reaction–diffusion, 12 shifted inputs each",
            "data_sha256": self.data.sha256,
            "equations": {
                equation: {
                    name: {**found.to_dict(), "median_seconds_per_input": self.seconds[equation][name]}
                    for name, found in rows.items()
                }
                for equation, rows in self.recovery.items()
            },
            "direct_use_of_proxy": {
                "cases": len(proxy),
                "cases_no_worse_than_best_candidate": int(np.sum(proxy <= best)),
            },
            "selections": {library: found.to_dict() for library, found in self.selections.items()},
            "wall_seconds": self.wall_seconds,
        }

    @property
    def advice(self) -> list[str]:
        """What the measured numbers say about solving instead of ranking, one sentence per equation."""
        return [self._advice(equation) for equation in self.recovery]

    def _advice(self, equation: str) -> str:
        rows, seconds = self.recovery[equation], self.seconds[equation]
        measured = {method: (found.pairs_correct, seconds[method]) for method, found in rows.items()}
        solves = {method: numbers for method, numbers in measured.items() if method.startswith("direct")}
        return f"Honest yardstick, {EQUATIONS[equation].title}. {solve_or_rank(measured['ladder'], solves)}"


def run(progress: Progress) -> Demo:
    """Score every input with every method; only then look at the references."""
    started = time.perf_counter()
    data = DemoData.load()
    scored: dict[str, dict[str, list[Scores]]] = {equation: {} for equation in _equations()}
    rankings: dict[str, list[Ranking]] = {}
    for library in LIBRARIES:
        equation = equation_of(library)
        count = len(data.inputs[equation])
        problems = [data.problem(equation, k) for k in range(count)]
        for name, scorer in methods(data, library).items():
            rows = scored[equation].setdefault(name, [])
            for k in range(count):
                progress(f"{library}: {name}", k, count)
                scores = scorer(problems[k], data.candidates(library, k))
                if scores.unresolved:
                    raise ranking.UnresolvedError(f"{name} failed on input {k} of {library}: {scores.unresolved}")
                rows.append(scores)
            progress(f"{library}: {name}", count, count)
        candidates = (data.candidates(library, k) for k in range(count))
        rankings[library] = list(ranking.rank_panel(problems, candidates, effort="response"))

    # The reveal.
    losses, proxies = {}, {}
    for library, found in rankings.items():
        truths = data.references[equation_of(library)]
        losses[library] = np.stack(
            [geometry.scores_of(r.space, r.outputs, t) for r, t in zip(found, truths, strict=True)]
        )
        proxies[library] = np.array([r.space.norm_squared(r.proxy - t) for r, t in zip(found, truths, strict=True)])
    recovery, seconds = {}, {}
    for equation, rows in scored.items():
        true = np.concatenate([losses[library] for library in LIBRARIES if equation_of(library) == equation])
        recovery[equation] = {m: Recovery.of(true, np.stack([s.values for s in of])) for m, of in rows.items()}
        seconds[equation] = {m: float(np.median([s.seconds for s in of])) for m, of in rows.items()}
    return Demo(
        data=data,
        recovery=recovery,
        seconds=seconds,
        rankings=rankings,
        losses=losses,
        proxy_losses=proxies,
        selections={library: ranking.select(found) for library, found in rankings.items()},
        wall_seconds=time.perf_counter() - started,
    )


def picture(demo: Demo) -> Any:
    library, k = PICTURED
    shown = demo.rankings[library][k]
    return report.ranking_figure(
        names=shown.names,
        outputs=shown.outputs,
        proxy=shown.proxy,
        anchor=np.asarray(shown.response.anchor),
        estimates=shown.error_estimates,
        unresolved=shown.unresolved,
        truth=demo.data.references[equation_of(library)][k],
        true_errors=np.sqrt(demo.losses[library][k]),
    )


def write(demo: Demo, folder: Path) -> list[Path]:
    """The picture, the numbers and one HTML report."""
    folder.mkdir(parents=True, exist_ok=True)
    image, (library, k) = folder / "demo.png", PICTURED
    write_bytes(image, report.png(picture(demo)))
    numbers = write_json(folder / "demo.json", stamp(demo.to_dict()))
    return [image, numbers, demo.rankings[library][k].report(folder / "report.html")]
