"""Study 12: three U-Nets of one architecture, trained in three ways; one corrected trajectory, ten objectives, routing.

The correction is made once per input, from the medoid of the rollouts in time–space L². Every objective is then scored in two
forms: matched (its own distance to the corrected trajectory) and fixed (the terminal squared L² score, whatever is asked).
Only squared Hilbert losses are covered by the comparison identity; the others are plug-ins, and are so labelled.
Beside it, of the terminal task: what one response settles, what further corrections do, and `rank` as it comes.
"""

from functools import partial
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from physrank import ranking
from physrank.geometry import ComparisonSubspace, TaskSpace
from physrank.geometry.space import Array
from physrank.lab.equations.diffusion_reaction import DIFFUSION_REACTION, tight
from physrank.lab.evaluation import Outcomes
from physrank.lab.evaluation.compact import quantiles
from physrank.lab.evaluation.objectives import OBJECTIVES, SCOPES, distances
from physrank.lab.libraries import ROLLED
from physrank.lab.references.reference import unresolved_pairs, unresolved_top1
from physrank.lab.studies._kit import rollouts
from physrank.lab.studies._kit.anchoring import medoid_in_time
from physrank.lab.studies._kit.cases import Context
from physrank.ranking import scorers
from physrank.rungs.climb import ARITHMETIC

NAME = DIFFUSION_REACTION.name
TERMINAL, HIGH = OBJECTIVES[0], OBJECTIVES[-1]
WAYS = ("one response", "until settled", "as it comes")  # of ranking the terminal fields
PAPER = {
    "inputs": 99,
    "matched": [
        [297, 99],
        [297, 99],
        [297, 99],
        [297, 99],
        [297, 99],
        [293, 99],
        [296, 99],
        [297, 99],
        [287, 99],
        [280, 88],
    ],
    "fixed": [
        [297, 99],
        [297, 99],
        [297, 99],
        [296, 99],
        [297, 99],
        [297, 99],
        [200, 99],
        [297, 99],
        [289, 99],
        [234, 69],
    ],
    "raw": {"terminal pairs": 0, "terminal top-1": 0, "high band top-1": 7},
    "contraction": {"full": 9.86, "comparison": 16.1},
    "gap closed, high band": 0.867,
}


def run(context: Context) -> tuple[dict[str, Any], Figure]:
    known = rollouts.of_files(context.official) if context.official else rollouts.of_library(context, ROLLED[NAME])
    found = rollouts.cached(context, NAME, known, partial(measure, refine=not known.official), arithmetic=ARITHMETIC)
    table = {name: _objective(found, k) for k, name in enumerate(OBJECTIVES)}
    result = {
        "study": NAME,
        "profile": context.profile.name,
        "data": "official files" if known.official else "own data and networks",
        "candidates": list(known.names),
        "inputs": len(known.inputs),
        "objectives": table,
        "total": {
            form: {key: sum(row[form][key] for row in table.values()) for key in ("pairs_correct", "top1", "orders")}
            for form in ("matched", "fixed")
        }
        | {"pairs": sum(row["pairs"] for row in table.values()), "cases": len(OBJECTIVES) * len(known.inputs)},
        "proxy_no_worse_than_best": int(np.sum(found["proxy"] <= found["losses"].min(axis=2))),
        "unresolved": None if known.official else sum(row["unresolved"] for row in table.values()),
        "failed": int(found["failed"].sum()),
        "contraction": {
            what: float(np.median(found[f"{what} before"] / found[f"{what} after"])) for what in ("full", "comparison")
        },
        "routes": _routes(found, HIGH),
        "most_varied": _routes(found, _most_varied(found["losses"])),
        "terminal": {way: _settled(found, k) for k, way in enumerate(WAYS)},
        "median_seconds": float(np.median(found["seconds"])),
        "input_fingerprint": DIFFUSION_REACTION.input_fingerprint,
        "paper": PAPER,
    }
    return result, _figure(result)


def measure(truth: Array, candidates: dict[str, Array], *, refine: bool) -> dict[str, Array]:
    """One input: everything that needs no truth, then the truth revealed. `(objectives, candidates)` tables."""
    problem = DIFFUSION_REACTION.posed(truth)
    found = ranking.rank(problem, candidates, anchor=medoid_in_time(problem), allow_unresolved=True)
    anchor, state = np.asarray(found.response.anchor)[1:], found.state[1:]
    states, true = found.candidates.states[:, 1:], np.asarray(truth[DIFFUSION_REACTION.observed :], np.float64)

    def table(target: Array) -> Array:
        return np.stack([distances(v, target, problem.length) for v in states], axis=1)

    losses = table(true)
    # How much of the losses is the tolerance of the data.
    changes = np.abs(losses - table(tight(truth)[DIFFUSION_REACTION.observed :])) if refine else np.zeros_like(losses)
    space = TaskSpace(np.full(true.shape, problem.spacing**2 / len(true)))
    subspace = ComparisonSubspace.of(space, states)
    sizes = {}
    for when, guess in (("before", anchor), ("after", state)):
        error = true - guess
        sizes[f"full {when}"], sizes[f"comparison {when}"] = space.norm(error), space.norm(subspace.project(error))
    failed = found.unresolved is not None
    options = {"anchor": medoid_in_time(problem), "until": "settled", "max_corrections": 4}
    settled = ranking.rank(problem, candidates, allow_unresolved=True, **options)
    several = (found, settled, ranking.rank(problem, candidates, allow_unresolved=True))
    return {
        "terminal scores": np.stack([one.scores for one in several]),
        "settled": np.stack([one.settled_pairs for one in several]),
        "losses": losses,
        "changes": changes,
        "matched": np.full_like(losses, np.nan) if failed else table(state),
        "common": table(anchor),
        "raw": scorers.RawResidual().of(found).values,
        "proxy": distances(state, true, problem.length),
        "failed": np.array(failed),
        "seconds": np.array(found.scoring.seconds),
    } | {name: np.array(value) for name, value in sizes.items()}


def _settled(found: dict[str, Array], k: int) -> dict[str, int]:
    """Terminal pairs that a way decides rightly, that it calls settled, and that are settled and wrong."""
    losses, scores = found["losses"][:, 0], found["terminal scores"][:, k]
    rows, columns = np.triu_indices(losses.shape[1], 1)
    right = np.sign(scores[:, rows] - scores[:, columns]) == np.sign(losses[:, rows] - losses[:, columns])
    settled = found["settled"][:, k, rows, columns].astype(bool)
    return {
        "pairs_correct": int(right.sum()),
        "top1": int(np.sum(scores.argmin(axis=1) == losses.argmin(axis=1))),
        "settled": int(settled.sum()),
        "settled_wrong": int(np.sum(settled & ~right)),
    }


def _most_varied(losses: Array) -> str:
    """The objective whose best model changes most from input to input: the high band in the paper, maybe another one here."""
    often = [np.bincount(losses[:, k].argmin(axis=1)).max() for k in range(len(OBJECTIVES))]
    return OBJECTIVES[int(np.argmin(often))]


def _routes(found: dict[str, Array], objective: str) -> dict[str, Any]:
    """Of every input, under one objective: its best model, the one that matched scores choose, and regrets."""
    k = OBJECTIVES.index(objective)
    losses, matched = found["losses"][:, k], found["matched"][:, k]
    fixed = np.broadcast_to(found["losses"][:, 0].mean(axis=0), losses.shape)
    ways = {
        "shared": matched,
        "medoid centrality": found["common"][:, k],
        "raw": found["raw"],
        "best terminal model": fixed,
    }
    outcomes = {way: Outcomes.of(losses, scores) for way, scores in ways.items()}
    return {
        "objective": objective,
        "best": losses.argmin(axis=1).tolist(),
        "chosen": outcomes["shared"].selected.tolist(),
        "regret": {way: quantiles(outcome.normalized_regret) for way, outcome in outcomes.items()},
    }


def _objective(found: dict[str, Array], k: int) -> dict[str, Any]:
    losses, matched = found["losses"][:, k], found["matched"][:, k]
    ways = {
        "matched": matched,
        "fixed": found["matched"][:, 0],
        "common state": found["common"][:, k],
        "raw": found["raw"],
    }
    best = losses.argmin(axis=1)
    counts = {way: _counts(losses, scores, found["changes"][:, k]) for way, scores in ways.items()}
    retained = int(found["losses"][:, 0].mean(axis=0).argmin())  # the model that is best at the end
    means, routed = losses.mean(axis=0), _chosen(losses, matched).mean()
    oracle = losses.min(axis=1).mean()
    return {
        "scope": SCOPES[OBJECTIVES[k]],
        "pairs": int(losses.shape[0] * losses.shape[1] * (losses.shape[1] - 1) / 2),
        "unresolved": int(_open(losses, found["changes"][:, k]).sum()),
        "winners": np.bincount(best, minlength=losses.shape[1]).tolist(),
        **counts,
        "routing": {
            "routed": float(routed),
            "oracle": float(oracle),
            "best fixed model": _fixed(means.min(), routed, oracle, np.sum(best == means.argmin())),
            "best terminal model": _fixed(means[retained], routed, oracle, np.sum(best == retained)),
        },
    }


def _counts(losses: Array, scores: Array, changes: Array) -> dict[str, Any]:
    """Strict counts; what the tolerance of the data cannot decide is an error."""
    outcomes = Outcomes.of(
        losses, scores, unresolved_pairs=_open(losses, changes), unresolved_top1=_open_top1(losses, changes)
    )
    return {
        "pairs_correct": int(outcomes.strict_correct.sum()),
        "top1": int(outcomes.top1_exact.sum()),
        "orders": int(np.sum(outcomes.strict_correct == outcomes.pairs)),
        "mean_regret": float(outcomes.regret.mean()),
    }


def _open(losses: Array, changes: Array) -> np.ndarray:
    upper = np.triu_indices(losses.shape[1], 1)
    return np.stack([unresolved_pairs(*row)[upper] for row in zip(losses, changes, strict=True)])


def _open_top1(losses: Array, changes: Array) -> np.ndarray:
    return np.array([unresolved_top1(*row) for row in zip(losses, changes, strict=True)])


def _chosen(losses: Array, scores: Array) -> Array:
    """The loss of the chosen candidate; of the worst where nothing could be chosen."""
    chosen = np.where(np.isnan(scores), np.inf, scores).argmin(axis=1)
    return np.where(np.isnan(scores).all(axis=1), losses.max(axis=1), losses[np.arange(len(losses)), chosen])


def _fixed(risk: float, routed: float, oracle: float, wins: int) -> dict[str, Any]:
    gap = float(risk - oracle)
    known = gap > 1e-9 * risk  # else the model is the oracle, up to round-off, and there is nothing to close
    return {"risk": float(risk), "top1": int(wins), "gap_closed": float((risk - routed) / gap) if known else None}


def claims(result: dict[str, Any]) -> list[tuple[str, bool]]:
    terminal, high, total = result["objectives"][TERMINAL], result["objectives"][HIGH], result["total"]
    share = terminal["matched"]["pairs_correct"] / terminal["pairs"]
    right, fixed, inputs = high["matched"]["top1"], high["routing"]["best fixed model"]["top1"], result["inputs"]
    comes, pairs = result["terminal"]["as it comes"], terminal["pairs"]
    wrong = sum(row["settled_wrong"] for row in result["terminal"].values())
    return [
        (
            f"terminal task, rank as it comes: at least 99 % of strict pairs ({comes['pairs_correct'] / pairs:.2%})",
            comes["pairs_correct"] >= 0.99 * pairs,
        ),
        (f"terminal task, one response: at least 99 % of strict pairs ({share:.2%})", share >= 0.99),
        (f"terminal task: no pair is settled and wrong, whatever the effort ({wrong} are)", wrong == 0),
        (
            f"ten objectives: matched scores decide no fewer pairs than the fixed one "
            f"({total['matched']['pairs_correct']:,} and {total['fixed']['pairs_correct']:,} of {total['pairs']:,})",
            total["matched"]["pairs_correct"] >= total["fixed"]["pairs_correct"],
        ),
        (
            f"high band: routing finds the best model no less often than keeping the best fixed one ({right} and {fixed} of "
            f"{inputs})",
            right >= fixed,
        ),
        (f"every response was solved ({result['failed']} failed)", result["failed"] == 0),
    ]


def _figure(result: dict[str, Any]) -> Figure:
    figure: Any = Figure(figsize=(10, 3.6), layout="constrained")
    places, names = np.arange(len(OBJECTIVES)), list(result["objectives"])
    rows, shown = result["objectives"].values(), {"matched": "#c2185b", "fixed": "#5c6f82", "raw": "#b7b7b7"}
    for axis, key, title in zip(
        figure.subplots(1, 2, sharey=True), ("pairs_correct", "top1"), ("strict pairs", "winners"), strict=True
    ):
        for k, (form, colour) in enumerate(shown.items()):
            whole = [row["pairs"] if key == "pairs_correct" else result["inputs"] for row in rows]
            shares = [row[form][key] / total for row, total in zip(rows, whole, strict=True)]
            axis.barh(places + 0.26 * (k - 1), shares, 0.26, color=colour, label=form)
        axis.set(title=f"{title} recovered", xlim=(0, 1), yticks=places)
        axis.set_yticklabels(names, fontsize=8)
    figure.axes[0].invert_yaxis()
    figure.legend(*figure.axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=3, frameon=False)
    return figure
