"""What figures need of single cases, measured from the predictions that ship with the package: no training, one minute."""

from collections.abc import Callable
from typing import Any

import numpy as np

from physrank import certificates, geometry, ranking
from physrank.geometry.space import Array
from physrank.lab.demo import LIBRARIES, DemoData, equation_of
from physrank.lab.equations import EQUATIONS
from physrank.lab.evaluation.compact import packed, pictured, quantiles, rounded
from physrank.lab.evaluation.recovery import Outcomes
from physrank.lab.studies._kit.cases import wrong_inputs
from physrank.ranking import Ranking, scorers

LANES = ("burgers-cno-e1", 3)  # library and input whose candidates are shown one by one
COMPOSED, FARTHER = ("reaction_diffusion-cno-e1", 0), 64  # and one with an outlying run, moved so many times farther
POINTS = 96  # of a curve


def measure(progress: Callable[[str, int, int], None] = lambda what, done, total: None) -> dict[str, Any]:
    """Scores without references, then the references; single cases; certificates of reaction–diffusion."""
    data = DemoData.load()
    losses, scores, cells, panels = [], {}, [], {}
    for n, library in enumerate(LIBRARIES):
        equation = equation_of(library)
        inputs = range(len(data.inputs[equation]))
        panels[library] = list(
            ranking.rank_panel(
                [data.problem(equation, k) for k in inputs],
                (data.candidates(library, k) for k in inputs),
                anchor="mean",
                corrections=1,
            )
        )
        for method, rows in _scores(data, library, panels[library]).items():
            scores.setdefault(method, []).append(rows)
        losses.append(_losses(data, library, panels[library]))
        cells += [library] * len(inputs)
        progress("ranking", n + 1, len(LIBRARIES))
    stationary = [name for name in LIBRARIES if EQUATIONS[equation_of(name)].certified.target == "same grid"]
    return {
        "what": "four libraries of eight checkpoints, 12 shifted inputs per equation, as shipped with the package",
        "data_sha256": data.sha256,
        "population": pictured(
            np.concatenate(losses), {method: np.concatenate(rows) for method, rows in scores.items()}, cells
        ),
        "variational": _variational(data, stationary, panels),
        "certificates": _certified([one for library in stationary for one in panels[library]], progress),
        "lanes": _lanes(data, panels[LANES[0]][LANES[1]], losses[LIBRARIES.index(LANES[0])][LANES[1]]),
        "composition": _composed(data),
    }


def _losses(data: DemoData, library: str, panel: list[Ranking]) -> Array:
    truths = data.references[equation_of(library)]
    return np.stack([geometry.scores_of(one.space, one.outputs, t) for one, t in zip(panel, truths, strict=True)])


def _scores(data: DemoData, library: str, panel: list[Ranking]) -> dict[str, Array]:
    known = dict(zip(data.names[library], map(float, data.validation_loss[library]), strict=True))
    ours: dict[str, scorers.Scorer] = {
        "shared": scorers.SharedResponse(),
        "raw": scorers.RawResidual(),
        "mean centrality": scorers.MeanCentrality(),
        "medoid centrality": scorers.MedoidCentrality(),
        "validation": scorers.ValidationLoss(known),
        "reversed": scorers.ReversedResponse(),
    }
    found = {name: np.stack([scorer.of(one).values for one in panel]) for name, scorer in ours.items()}
    others = wrong_inputs([case.stratum for case in data.inputs[equation_of(library)]])
    wrong = [scorers.WrongInput(panel[j]).of(one).values for one, j in zip(panel, others, strict=True)]
    return found | {"wrong input": np.stack(wrong)}


def _variational(data: DemoData, libraries: list[str], panels: dict[str, list[Ranking]]) -> dict[str, Any]:
    losses = np.concatenate([_losses(data, library, panels[library]) for library in libraries])
    ways: dict[str, scorers.Scorer] = {
        "shared": scorers.SharedResponse(),
        "raw": scorers.RawResidual(),
        "common energy": scorers.CommonEnergy(),
        "adapted majorant": scorers.AdaptedMajorant(),
    }
    every = [one for library in libraries for one in panels[library]]
    scores = {name: np.stack([way.of(one).values for one in every]) for name, way in ways.items()}
    return {
        "cases": len(losses),
        "regret": {name: quantiles(Outcomes.of(losses, values).normalized_regret) for name, values in scores.items()},
    }


def _certified(panel: list[Ranking], progress: Callable[[str, int, int], None]) -> dict[str, Any]:
    """Bounds over margins of all pairs after one correction, and the largest of every case."""
    rows = []
    for k, one in enumerate(panel):
        proof = certificates.certify(one.problem, one)
        upper = np.triu_indices(len(one.names), 1)
        rows.append((proof.bounds / np.maximum(proof.margins, 1e-300))[upper])
        progress("certificates", k + 1, len(panel))
    return {"ratios": rounded(np.sort(np.concatenate(rows))), "largest_by_case": rounded([row.max() for row in rows])}


def _lanes(data: DemoData, one: Ranking, losses: Array) -> dict[str, Any]:
    """Candidates, anchor, proxy and reference of one input as curves, and three orders of the candidates."""
    raw = scorers.RawResidual().of(one).values
    anchor = one.task.outputs(np.asarray(one.response.anchor)[None])[0]
    truth = data.references[equation_of(LANES[0])][LANES[1]]
    return {
        "library": LANES[0],
        "input": LANES[1],
        "names": list(one.names),
        "orders": {
            name: np.argsort(values, kind="stable").tolist()
            for name, values in (("hidden reference", losses), ("shared proxy", one.scores), ("raw residual", raw))
        },
        "candidates": packed(_thinned(one.outputs)),
        "anchor": packed(_thinned(anchor[None])),
        "proxy": packed(_thinned(one.proxy[None])),
        "truth": packed(_thinned(truth[None])),
        "scores": rounded(one.scores),
    }


def _composed(data: DemoData) -> dict[str, Any]:
    """The first run's candidates moved away from the others: sections through fields, their mean and their medoid."""
    library, k = COMPOSED
    states = np.asarray(data.predictions[library][k], np.float64)
    middle = states[2:].mean(axis=0)
    moved = np.concatenate([middle + FARTHER * (states[:2] - middle), states[2:]])
    apart = np.linalg.norm((moved[:, None] - moved[None, :]).reshape(len(moved), len(moved), -1), axis=2)
    medoid = int(apart.sum(axis=1).argmin())
    sections = moved[:, moved.shape[1] // 2]
    return {
        "library": library,
        "input": k,
        "factor": FARTHER,
        "outlying": [0, 1],
        "medoid": medoid,
        "candidates": packed(_thinned(sections)),
        "mean": packed(_thinned(sections.mean(axis=0)[None])),
    }


def _thinned(curves: Array) -> Array:
    places = np.unique(np.linspace(0, curves.shape[-1] - 1, POINTS).round().astype(int))
    return curves[..., places]
