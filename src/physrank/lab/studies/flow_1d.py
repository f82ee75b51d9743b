"""Study 13: shock tubes. A correction that leaves the physical states, and the backtracking that keeps it among them.

Two FNOs of different history and a U-Net, rolled out from ten observed frames of HLLC data. The operator that compares them
is another scheme, Rusanov with fixed substeps: the data themselves have a defect. An inadmissible unit step is an error.
"""

from typing import Any

import numpy as np
from matplotlib.figure import Figure

from physrank import ranking
from physrank.equations.compressible_flow import pressure
from physrank.geometry.space import Array
from physrank.lab.equations.flow_1d import FLOW_1D
from physrank.lab.evaluation import Outcomes
from physrank.lab.libraries import ROLLED
from physrank.lab.studies._kit import paths, rollouts
from physrank.lab.studies._kit.cases import Context
from physrank.physics import Correction
from physrank.ranking import scorers

NAME = FLOW_1D.name
MULTIPLIERS = (0.0, 0.25, 0.5, 0.75, 1.0)
PAPER = {
    "common state": {"valid": 35, "pairs": 0.743, "top1": 0.400, "factor": 1.0},
    "unit correction": {"valid": 22, "pairs": 0.619, "top1": 0.629, "factor": 2.47},
    "backtracking": {"valid": 35, "pairs": 0.943, "top1": 0.914, "factor": 2.04},
    "multipliers": [1, 5, 3, 4, 22],
    "contraction": {"full": 2.04, "comparison": 5.20},
    "improved": {"full": 33, "comparison": 34},
    "floor": 0.102,
}


def run(context: Context) -> tuple[dict[str, Any], Figure]:
    known = rollouts.of_library(context, ROLLED[NAME])
    found = rollouts.cached(context, NAME, known, measure, multipliers=MULTIPLIERS)
    stops, rows = paths.chosen(found), np.arange(len(known.inputs))
    full, seen = ({"before": found[key][:, 0], "after": found[key][rows, stops]} for key in ("full", "comparison"))
    unit = np.full(len(rows), MULTIPLIERS.index(1.0))
    best = found["losses"].argmin(axis=1)
    result = {
        "study": NAME,
        "profile": context.profile.name,
        "candidates": list(known.names),
        "inputs": len(rows),
        "readouts": {
            "common state": _readout(found, np.zeros_like(unit)),
            "unit correction": _readout(found, unit),
            "backtracking": _readout(found, stops),
        },
        "raw": _counts(found["losses"], found["raw"]),
        "multipliers": np.bincount(stops, minlength=len(MULTIPLIERS)).tolist(),
        "rule_agrees": int(np.sum(found["multiplier"] == np.asarray(MULTIPLIERS)[stops])),
        "contraction": {
            what: float(np.median(of["before"] / of["after"])) for what, of in (("full", full), ("comparison", seen))
        },
        "improved": {
            what: int(np.sum(of["after"] < of["before"])) for what, of in (("full", full), ("comparison", seen))
        },
        "comparison_contracts_more": int(np.sum(seen["before"] / seen["after"] > full["before"] / full["after"])),
        "winners": np.bincount(best, minlength=len(known.names)).tolist(),
        "floor": float(np.median(found["floor"])),
        "identity": float(found["identity"].max()),
        "lowest_pressure": {
            "unit correction": found["lowest pressure"][:, -1].tolist(),
            "backtracking": found["lowest pressure"][rows, stops].tolist(),
        },
        "input_fingerprint": FLOW_1D.input_fingerprint,
        "paper": PAPER,
    }
    return result, _figure(result)


def measure(truth: Array, candidates: dict[str, Array]) -> dict[str, Array]:
    """One input: the path of partial corrections, and what the instrument's own backtracking chooses."""
    problem = FLOW_1D.posed(truth)
    states = {name: FLOW_1D.states(np.asarray(v, np.float64)) for name, v in candidates.items()}
    true = FLOW_1D.states(np.asarray(truth[FLOW_1D.observed - 1 :], np.float64))
    found = ranking.rank(problem, states, anchor="mean", corrections=1, allow_unresolved=True)
    stepped = ranking.rank(
        problem, states, anchor="mean", corrections=Correction(backtrack=MULTIPLIERS), allow_unresolved=True
    )
    anchor, change = np.asarray(found.response.anchor), np.asarray(found.response.correction)
    pressures = [pressure(np.moveaxis(anchor + a * change, 1, 0), float(problem.gamma)) for a in MULTIPLIERS]
    return paths.path(found, true, MULTIPLIERS).arrays() | {
        "multiplier": np.asarray(stepped.response.multiplier),
        "raw": scorers.RawResidual().of(found).values,
        "lowest pressure": np.array([float(np.min(np.asarray(p))) for p in pressures]),
    }


def _readout(found: dict[str, Array], stops: np.ndarray) -> dict[str, Any]:
    """Strict counts at one place of every path; an inadmissible state decides nothing."""
    rows = np.arange(len(stops))
    valid, scores = found["admissible"][rows, stops], found["scores"][rows, stops]
    factors = found["full"][:, 0] / found["full"][rows, stops]
    return {
        "valid": int(valid.sum()),
        **_counts(found["losses"], np.where(valid[:, None], scores, np.nan)),
        "median_factor": float(np.median(factors)),
        "better_than_best_candidate": int(np.sum(found["proxy_loss"][rows, stops] <= found["losses"].min(axis=1))),
    }


def _counts(losses: Array, scores: Array) -> dict[str, Any]:
    outcomes = Outcomes.of(losses, scores)
    return {
        "pairs": int(outcomes.pairs.sum()),
        "pairs_correct": int(outcomes.strict_correct.sum()),
        "top1": int(outcomes.top1_exact.sum()),
    }


def claims(result: dict[str, Any]) -> list[tuple[str, bool]]:
    after, before, inputs = result["readouts"]["backtracking"], result["readouts"]["common state"], result["inputs"]
    return [
        (f"after backtracking every case is feasible ({after['valid']} of {inputs})", after["valid"] == inputs),
        (
            f"the instrument's own backtracking stops where the rule does ({result['rule_agrees']} of {inputs})",
            result["rule_agrees"] == inputs,
        ),
        (
            f"backtracking decides more pairs than the common state ({after['pairs_correct']} and "
            f"{before['pairs_correct']} of {after['pairs']})",
            after["pairs_correct"] > before["pairs_correct"],
        ),
        (f"the gap identity closes to round-off ({result['identity']:.1e})", result["identity"] < 1e-12),
    ]


def _figure(result: dict[str, Any]) -> Figure:
    figure: Any = Figure(figsize=(10, 3.4), layout="constrained")
    pressure, chosen, shares = figure.subplots(1, 3)
    both = result["lowest_pressure"]
    for low, high in zip(*both.values(), strict=True):
        pressure.plot([0, 1], [low, high], "o-", color="#c2185b" if low <= 0 else "#8d9db6", lw=0.8, markersize=3)
    pressure.axhline(0, color="black", lw=0.8)
    pressure.set_yscale("symlog", linthresh=0.01)
    pressure.set_xticks([0, 1], list(both))
    pressure.set(title="lowest pressure of a corrected state", xlim=(-0.2, 1.2))
    chosen.bar([f"{m:g}" for m in MULTIPLIERS], result["multipliers"], color="#5c6f82")
    chosen.set(title="multipliers chosen", xlabel="α", ylabel="inputs")
    rows = result["readouts"]
    for k, (key, label) in enumerate((("pairs_correct", "pairs"), ("top1", "winners"))):
        whole = [row["pairs"] if key == "pairs_correct" else result["inputs"] for row in rows.values()]
        heights = [row[key] / total for row, total in zip(rows.values(), whole, strict=True)]
        shares.bar(np.arange(len(rows)) + 0.4 * (k - 0.5), heights, 0.4, label=label, color=("#c2185b", "#c9a227")[k])
    shares.set_xticks(range(len(rows)), [name.replace(" ", "\n") for name in rows], fontsize=8)
    shares.set(title="recovered, strictly", ylim=(0, 1.2))
    shares.legend(frameon=False, fontsize=8, ncols=2, loc="upper center")
    return figure
