"""The demo: rank real networks without a reference, then reveal the reference and count."""

import hashlib
import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from physrank import equations, geometry, plots, ranking
from physrank.geometry.space import Array
from physrank.lab.evaluation import Recovery
from physrank.lab.inputs import ReactionDiffusionInput
from physrank.lab.provenance import stamp
from physrank.physics import lifts
from physrank.ranking import Ranking, Scores, scorers

DATA = Path(__file__).parent / "data" / "demo_reaction_diffusion.npz"
MAX_BYTES = 4_000_000
POINTS = 128  # interior nodes of the common grid
PICTURED = 2  # which input is drawn

Progress = Callable[[str, int, int], None]


@dataclass(frozen=True)
class DemoData:
    """Predictions of eight FNO checkpoints on 24 shifted inputs, and the reference that ranking never sees."""

    names: tuple[str, ...]
    inputs: list[ReactionDiffusionInput]
    predictions: Array  # (inputs, candidates, nodes, nodes), float32
    reference: Array  # (inputs, points, points) on Chebyshev nodes
    validation_loss: Array
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
            inputs = [
                ReactionDiffusionInput(a, f, float(linear), float(cubic), str(stratum))
                for a, f, linear, cubic, stratum in zip(
                    file["diffusion_coefficients"],
                    file["forcing_coefficients"],
                    file["linear"],
                    file["cubic"],
                    file["stratum"],
                    strict=True,
                )
            ]
            names = tuple(str(name) for name in file["names"])
            return cls(names, inputs, file["predictions"], file["reference"], file["validation_loss"], found)

    def problem(self, k: int) -> equations.ReactionDiffusion:
        case = self.inputs[k]
        return equations.ReactionDiffusion(case.diffusion, case.forcing, case.linear, case.cubic, points=POINTS)

    def candidates(self, k: int) -> dict[str, Array]:
        return dict(zip(self.names, self.predictions[k], strict=True))

    def truth(self, k: int) -> Array:
        return lifts.lift(self.reference[k], (POINTS + 2, POINTS + 2), "chebyshev")


def methods(data: DemoData) -> dict[str, Callable[..., Scores]]:
    return {
        "shared response": scorers.SharedResponse(),
        "shared, 2 corrections": scorers.SharedResponse(corrections=2),
        "raw residual": scorers.RawResidual(),
        "distance to mean": scorers.MeanCentrality(),
        "distance to medoid": scorers.MedoidCentrality(),
        "validation loss": scorers.ValidationLoss(dict(zip(data.names, map(float, data.validation_loss), strict=True))),
        "direct solve, same grid": scorers.DirectSolve(),
        "direct solve, 64 points": scorers.DirectSolve(points=64),
        "direct solve, 16 points": scorers.DirectSolve(points=16),
    }


@dataclass(frozen=True)
class Demo:
    """Everything the demo found."""

    data: DemoData
    recovery: dict[str, Recovery]
    seconds: dict[str, float]  # median per input, after compilation
    pictured: Ranking
    losses: Array
    proxy_losses: Array
    selection: ranking.Selection
    wall_seconds: float

    def to_dict(self) -> dict[str, Any]:
        """For JSON and for the tables in the documentation."""
        return {
            "what": "eight FNO checkpoints, reaction–diffusion 128², 24 shifted inputs",
            "data_sha256": self.data.sha256,
            "methods": {
                name: {**recovery.to_dict(), "median_seconds_per_input": self.seconds[name]}
                for name, recovery in self.recovery.items()
            },
            "direct_use_of_proxy": {
                "cases_no_worse_than_best_candidate": int(np.sum(self.proxy_losses <= self.losses.min(axis=1))),
                "median_proxy_loss": float(np.median(self.proxy_losses)),
                "median_best_candidate_loss": float(np.median(self.losses.min(axis=1))),
            },
            "selection": self.selection.to_dict(),
            "wall_seconds": self.wall_seconds,
        }

    @property
    def advice(self) -> str:
        """What the measured numbers say about solving instead of ranking."""
        shared = self.recovery["shared response"]
        rivals = [
            name
            for name, found in self.recovery.items()
            if name.startswith("direct")
            and found.pairs_correct >= shared.pairs_correct
            and self.seconds[name] <= self.seconds["shared response"]
        ]
        if rivals:
            fastest = min(rivals, key=lambda name: self.seconds[name])
            ratio = self.seconds["shared response"] / self.seconds[fastest]
            return (
                f"Honest yardstick: here a {fastest} is {ratio:.1f}× cheaper than the shared response and ranks at least as "
                "well. Where you have such a solver and may run it, do."
            )
        return "Honest yardstick: no direct solve in the table was both cheaper and at least as accurate."


def run(progress: Progress) -> Demo:
    """Score every input with every method; only then look at the reference."""
    started = time.perf_counter()
    data = DemoData.load()
    count = len(data.inputs)
    problems = [data.problem(k) for k in range(count)]
    scored: dict[str, list[Scores]] = {}
    for name, scorer in methods(data).items():
        scored[name] = []
        for k in range(count):
            progress(name, k, count)
            scores = scorer(problems[k], data.candidates(k))
            if scores.unresolved:
                raise ranking.UnresolvedError(f"{name} failed on input {k}: {scores.unresolved}")
            scored[name].append(scores)
        progress(name, count, count)
    rankings = list(ranking.rank_panel(problems, (data.candidates(k) for k in range(count))))

    # The reveal.
    truths = [data.truth(k) for k in range(count)]
    losses = np.stack([geometry.scores_of(r.space, r.outputs, t) for r, t in zip(rankings, truths, strict=True)])
    return Demo(
        data=data,
        recovery={name: Recovery.of(losses, np.stack([s.values for s in rows])) for name, rows in scored.items()},
        seconds={name: float(np.median([s.seconds for s in rows])) for name, rows in scored.items()},
        pictured=rankings[PICTURED],
        losses=losses,
        proxy_losses=np.array([r.space.norm_squared(r.proxy - t) for r, t in zip(rankings, truths, strict=True)]),
        selection=ranking.select(rankings),
        wall_seconds=time.perf_counter() - started,
    )


def picture(demo: Demo) -> Any:
    shown = demo.pictured
    return plots.ranking_figure(
        names=shown.names,
        outputs=shown.outputs,
        proxy=shown.proxy,
        anchor=np.asarray(shown.response.anchor),
        estimates=shown.error_estimates,
        unresolved=shown.unresolved,
        truth=demo.data.truth(PICTURED),
        true_errors=np.sqrt(demo.losses[PICTURED]),
    )


def write(demo: Demo, folder: Path) -> list[Path]:
    """The picture, the numbers and one HTML report."""
    folder.mkdir(parents=True, exist_ok=True)
    image, numbers = folder / "demo.png", folder / "demo.json"
    image.write_bytes(plots.png(picture(demo)))
    numbers.write_text(
        json.dumps(stamp(demo.to_dict()), indent=2, ensure_ascii=False, allow_nan=False) + "\n", encoding="utf-8"
    )
    return [image, numbers, demo.pictured.report(folder / "report.html")]
