"""Study 15: why it works. Partial corrections w + α δ from one response: errors of state, task and comparison, and decisions.

Along the path library, inputs and hidden margins stay the same, so what improves is the proxy. The comparison error is the
projection of the state's error on the span of the candidates' differences: the only part that a decision can see. And for
every pair of the two primary equations: how large its hidden margin is, and how far the proxy's error moved its gap.
"""

from typing import Any

import numpy as np
from matplotlib.figure import Figure

from physrank import ranking
from physrank.geometry import TaskSpace
from physrank.geometry.space import Array
from physrank.lab.equations import EQUATIONS, ROLLOUTS
from physrank.lab.equations.diffusion_reaction import DIFFUSION_REACTION
from physrank.lab.equations.sine_gordon import SINE_GORDON
from physrank.lab.evaluation import Outcomes
from physrank.lab.evaluation.objectives import distances
from physrank.lab.evaluation.recovery import pair_gaps
from physrank.lab.libraries import GROUPS, ROLLED, equations_of
from physrank.lab.studies._kit import partial, rollouts, tables
from physrank.lab.studies._kit.anchoring import MEDOID_IN_TIME, medoid_in_time
from physrank.lab.studies._kit.cases import Context

ALPHAS, UNIT = partial.ALPHAS, partial.ALPHAS.index(1.0)
ERRORS = ("state", "task", "comparison")
BINS = np.linspace(-6, 2, 33)  # of log₁₀ of how far a gap moved, over its margin
PAPER = {
    "sine_gordon": {"pairs": [0.519, 0.981, 0.969], "state": 1835.7},  # at α = 0, 1 and 1.25; contraction at 1
    "diffusion_reaction": {"pairs": [0.549, 0.989, 0.935], "state": 9.86, "comparison": 16.1},
    "identity": 2.11e-14,
}


def run(context: Context) -> tuple[dict[str, Any], Figure]:
    primary = {lib.name: partial.walked(context, lib, "mean") for lib in GROUPS["primary"]}
    waves = {lib.name: partial.walked(context, lib, MEDOID_IN_TIME) for lib in GROUPS[SINE_GORDON.name]}
    of = {
        e.name: [primary[lib.name] for lib in GROUPS["primary"] if lib.declared is e]
        for e in equations_of(GROUPS["primary"])
    }
    found = {SINE_GORDON.name: list(waves.values()), DIFFUSION_REACTION.name: [_rolled(context)], **of}
    result = {
        "study": "mechanism",
        "profile": context.profile.name,
        "alphas": list(ALPHAS),
        "paths": {name: _path(libraries) for name, libraries in found.items()},
        "identity": float(max(one["closure"].max() for libraries in found.values() for one in libraries)),
        "margins": {name: _margins(libraries) for name, libraries in of.items()},
        "cells": {name: _flipped(one) for name, one in (primary | waves).items()},
        "input_fingerprint": tables.input_fingerprints([*GROUPS["primary"], *GROUPS[SINE_GORDON.name]]),
        "paper": PAPER,
    }
    return result, _figure(result)


def _rolled(context: Context) -> dict[str, Array]:
    """Diffusion–reaction: whole trajectories after the observed frames; decisions under all ten objectives."""
    known = rollouts.of_library(context, ROLLED[DIFFUSION_REACTION.name])
    return rollouts.cached(context, "partial-rollouts", known, measure, alphas=ALPHAS)


def measure(truth: Array, candidates: dict[str, Array]) -> dict[str, Array]:
    """One input of the rolled-out networks."""
    problem, seen = DIFFUSION_REACTION.posed(truth), DIFFUSION_REACTION.observed
    found = ranking.rank(problem, candidates, anchor=medoid_in_time(problem), corrections=1, allow_unresolved=True)
    true = np.asarray(truth[seen - 1 :], np.float64)
    space = TaskSpace(np.full(true.shape, problem.spacing**2 / len(true)))
    row = partial.along(found, true, space)
    anchor, change = np.asarray(found.response.anchor), np.asarray(found.response.correction)
    targets = [true, *(anchor + alpha * change for alpha in ALPHAS)]
    asked = np.stack(
        [[distances(v[1:], target[1:], problem.length) for v in found.candidates.states] for target in targets]
    ).swapaxes(1, 2)  # (truth and every α, objectives, candidates)
    return row | {"losses": asked[0], "scores": asked[1:]}


def _counts(losses: Array, scores: Array) -> dict[str, int]:
    """Strict; objectives, where there are several, are counted one by one."""
    outcomes = Outcomes.of(losses.reshape(-1, losses.shape[-1]), scores.reshape(-1, scores.shape[-1]))
    return {
        "pairs": int(outcomes.pairs.sum()),
        "correct": int(outcomes.strict_correct.sum()),
        "cases": len(outcomes.pairs),
        "top1": int(outcomes.top1_exact.sum()),
    }


def _path(libraries: list[dict[str, Array]]) -> dict[str, Any]:
    """At every α: errors over those at α = 0, library by library (median, least, largest), and decisions, pooled."""
    table: dict[str, Any] = {}
    for kind in ERRORS:
        medians = np.stack([np.median(one[kind], axis=0) for one in libraries])
        ratios = medians / medians[:, :1]
        table[kind] = {
            "median": np.median(ratios, axis=0).tolist(),
            "low": ratios.min(axis=0).tolist(),
            "high": ratios.max(axis=0).tolist(),
        }
    pooled = {kind: np.concatenate([one[kind] for one in libraries]) for kind in (*ERRORS, "best")}
    losses = np.concatenate([one["losses"] for one in libraries])
    scores = np.concatenate([one["scores"] for one in libraries])
    return {
        "errors": table,
        "decisions": [_counts(losses, scores[:, k]) for k in range(len(ALPHAS))],
        "contraction": {kind: float(np.median(pooled[kind][:, 0] / pooled[kind][:, UNIT])) for kind in ERRORS},
        "by_distance": _by_distance(pooled["state"][:, 0], pooled["state"][:, UNIT]),
        "better_than_best_candidate": int(np.sum(pooled["state"][:, UNIT] < pooled["best"])),
        "cases": len(pooled["best"]),
    }


def _by_distance(before: Array, after: Array) -> dict[str, Any]:
    """How much of an error one response takes away, by how large it was: quarters of the cases, the nearest anchors first;
    and the power of the anchor's error with which what is left grows (two, were nothing else left than the linearisation)."""
    quarters, far, left = np.array_split(np.argsort(before), 4), np.log(before), np.log(after)
    spread = np.var(far)
    return {
        "anchor": [float(np.median(before[some])) for some in quarters],
        "contraction": [float(np.median(before[some] / after[some])) for some in quarters],
        "power": float(np.mean((far - far.mean()) * left) / spread) if spread > 0 else None,
    }


def _gaps(one: dict[str, Array]) -> tuple[Array, np.ndarray]:
    """Hidden margins of all pairs, and which the full correction decides the other way."""
    true, said = pair_gaps(one["losses"]), pair_gaps(one["scores"][:, UNIT])
    return np.abs(true), np.sign(true) != np.sign(said)


def _flipped(one: dict[str, Array]) -> dict[str, Any]:
    """Margins of pairs decided wrongly and rightly, in one library."""
    margins, wrong = _gaps(one)
    return {
        "pairs": int(wrong.size),
        "flipped": int(wrong.sum()),
        "median_margin_flipped": float(np.median(margins[wrong])) if wrong.any() else None,
        "median_margin_right": float(np.median(margins[~wrong])),
        "crossed_less_than_margin": int(np.sum(wrong & (np.abs(one["moved"]) < margins * (1 - 1e-9)))),
    }


def _margins(libraries: list[dict[str, Array]]) -> dict[str, Any]:
    """Of all pairs of an equation: how often gaps moved so many times their margins, and how many of those flipped."""
    both = [_gaps(one) for one in libraries]
    margins, wrong = np.concatenate([m for m, _ in both]), np.concatenate([w for _, w in both])
    moved = np.abs(np.concatenate([one["moved"] for one in libraries]))
    places = np.log10(np.maximum(moved, 1e-300) / np.maximum(margins, 1e-300)).clip(BINS[0], BINS[-1])
    right, flipped = (np.histogram(places[wrong == kept], BINS)[0].tolist() for kept in (False, True))
    counts = {"pairs": int(wrong.size), "flipped_pairs": int(wrong.sum())}
    return counts | {"bins": BINS.tolist(), "right": right, "flipped": flipped}


def claims(result: dict[str, Any]) -> list[tuple[str, bool]]:
    found = [
        (
            f"the gap identity closes to round-off ({result['identity']:.1e} of the largest loss)",
            result["identity"] < 1e-12,
        ),
        (
            "no pair flips whose gap moved less than its margin",
            not any(cell["crossed_less_than_margin"] for cell in result["cells"].values()),
        ),
    ]
    for name, path in result["paths"].items():
        none, full = (path["decisions"][k]["correct"] / path["decisions"][k]["pairs"] for k in (0, UNIT))
        title = (EQUATIONS | ROLLOUTS)[name].title
        found.append(
            (f"{title}: the full correction decides more pairs than none ({full:.2%}, {none:.2%})", full > none)
        )
    flipped = [c for c in result["cells"].values() if c["median_margin_flipped"] is not None]
    near = sum(c["median_margin_flipped"] < c["median_margin_right"] for c in flipped)
    found.append(
        (
            f"in every library with wrong pairs, these have the smaller margins ({near} of {len(flipped)})",
            near == len(flipped),
        )
    )
    return found


def _figure(result: dict[str, Any]) -> Figure:
    figure: Any = Figure(figsize=(12, 3.4), layout="constrained")
    state, seen, pairs, margins = figure.subplots(1, 4)
    colours = dict(zip(result["paths"], ("#0d47a1", "#c9a227", "#c2185b", "#1b5e20"), strict=False))
    styles = dict(zip(result["paths"], ("o-", "s--", "^-.", "D:"), strict=False))
    for name, path in result["paths"].items():
        options = {"color": colours[name], "markersize": 4}
        for axis, kind in ((state, "state"), (seen, "comparison")):
            of = path["errors"][kind]
            axis.plot(ALPHAS, of["median"], styles[name], **options, label=(EQUATIONS | ROLLOUTS)[name].title)
            axis.vlines(ALPHAS, of["low"], of["high"], color=colours[name], lw=0.8)
        pairs.plot(ALPHAS, [row["correct"] / row["pairs"] for row in path["decisions"]], styles[name], **options)
    state.set(title="error of the state", yscale="log", xlabel="α", ylabel="of its size at α = 0")
    seen.set(title="error that decisions see", yscale="log", xlabel="α")
    pairs.set(title="strict pairs recovered", xlabel="α", ylim=(0, 1.02))
    middles = (BINS[1:] + BINS[:-1]) / 2
    for name, of in result["margins"].items():
        for kind, style in (("right", "-"), ("flipped", ":")):
            margins.step(middles, np.maximum(of[kind], 0.5), style, where="mid", color=colours[name], label=kind)
    margins.axvline(0, color="black", lw=0.8)
    margins.set(title="pairs: right —, flipped ···", yscale="log", xlabel="log₁₀ (gap moved ÷ margin)")
    figure.legend(*state.get_legend_handles_labels(), loc="outside lower center", ncols=4, frameon=False, fontsize=8)
    return figure
