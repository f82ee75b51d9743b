"""Which reaction–diffusion forcing the paper means: plain sines or an orthonormal basis, judged by the numbers it reports.

    python bench/forcing_law.py [--out results/forcing_law.json]

The paper says "sine-basis forcing" with coefficient scales and no normalisation. Two of its numbers need no network; they are
measured here, input by input, and an interrupted run goes on. The others come from stored studies: those of plain sines
from the commit that holds the last ones, those of the present law from `results/`, once they say they were measured under it.
"""

import argparse
import json
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

import physrank as pr
from physrank._io import write_json
from physrank.lab.equations import EQUATIONS
from physrank.lab.references import reaction_diffusion
from physrank.lab.store.provenance import stamp, unchanged
from physrank.ranking.scorers import DirectSolve

ROOT = Path(__file__).parent.parent
EQUATION = EQUATIONS["reaction_diffusion"]
INPUTS = 24  # eight of each stratum
FACTORS = {"plain": 0.5, "orthonormal": 1.0}  # of the present law's coefficients: 2 sin sin against sin sin
PLAIN_COMMIT = "5110150"  # the last one whose studies were trained and measured with plain sines
STUDIES = "results/studies/laptop"

# What it is, and what the paper reports: a number, or the smallest and the largest.
NUMBERS: dict[str, tuple[str, float | list[float]]] = {
    "defect": ("operator defect of the fine reference on 128²", [6.28e-4, 2.11e-3]),
    "distance": ("its distance to the zero on the same grid, discrete L²", [4.13e-6, 9.97e-6]),
    "best_median": ("best candidate's loss, median", 2.3621e-4),
    "best_q90": ("best candidate's loss, 90th percentile", 6.1839e-3),
    "best_mean": ("best candidate's loss, mean", 2.1712e-3),
    "span_median": ("span from best to worst candidate, median", 1.8387e-4),
    "proxy_mean": ("loss of q, mean", 7.1278e-9),
    "tie_share": ("share of pairs within the 1e-6 tie", 0.316),
    "bound_ratio": ("bound ÷ margin, six inputs per library, median", 3.45e-4),
}


def measure(law: str, k: int) -> list[float]:
    """Defect of the fine reference of input k on the comparison grid, and its distance to the zero there."""
    case = EQUATION.population("evaluation", INPUTS)[k]
    case = replace(case, forcing_coefficients=FACTORS[law] * case.forcing_coefficients)
    problem, fine = EQUATION.problem(case), reaction_diffusion.reference(case, EQUATION.points).fine
    zero, failed = DirectSolve().solution(problem, fine.shape)
    if failed:
        raise RuntimeError(f"Input {k}, {law}: the same-grid solve failed ({failed}).")
    spacing = 1 / (EQUATION.points + 1)
    return [pr.residual_floor(problem, fine), float(spacing * np.linalg.norm(zero - fine))]


def of_networks(primary: dict[str, Any], certificates: dict[str, Any] | None) -> dict[str, float | None]:
    """The numbers that depend on trained networks; None for those an older study did not store."""
    name = EQUATION.name
    medians, more = primary["direct_use_of_q"][f"{name}_median_loss"], primary.get("losses", {}).get(name, {})
    row = primary["by_equation"][name]["shared"]
    return {
        "best_median": medians["best_candidate"],
        "best_q90": more.get("best_candidate_q90"),
        "best_mean": more.get("best_candidate_mean"),
        "span_median": medians["span"],
        "proxy_mean": more.get("proxy_mean"),
        "tie_share": 1 - row["pairs"] / row["pairs_all"],
        "bound_ratio": certificates["few"][0]["median_ratio"] if certificates else None,
    }


def plain_studies() -> dict[str, dict[str, Any]]:
    """As the repository's history holds them."""
    found = {}
    for name in ("primary", "certificates"):
        command = ["git", "show", f"{PLAIN_COMMIT}:{STUDIES}/{name}.json"]
        found[name] = json.loads(subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout)
        if not unchanged(found[name]) or "input_fingerprint" in found[name]:
            raise RuntimeError(
                f"{name} of {PLAIN_COMMIT} is not the unedited result of plain sines that is meant here."
            )
    return found


def present_studies() -> dict[str, dict[str, Any]]:
    """Those of `results/` that say they were measured under the present law."""
    found = {}
    for name in ("primary", "certificates"):
        path = ROOT / STUDIES / f"{name}.json"
        result = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
        if result.get("input_fingerprint", {}).get(EQUATION.name) == EQUATION.input_fingerprint and unchanged(result):
            found[name] = result
    return found


def off(value: Any, reported: Any) -> float:
    """How many times too large or too small, at the worst end of a range."""
    return float(np.exp(np.abs(np.log(np.asarray(value) / np.asarray(reported))).max()))


def record(cases: dict[str, list[list[float]]]) -> dict[str, Any]:
    """Every number under both laws, beside the paper's, with the commits that the studies come from."""
    numbers: dict[str, dict[str, Any]] = {}
    studies = {"plain": plain_studies(), "orthonormal": present_studies()}
    for law, rows in cases.items():
        ends = np.stack([np.min(rows, axis=0), np.max(rows, axis=0)], axis=1).tolist() if rows else [None, None]
        numbers[law] = dict(zip(("defect", "distance"), ends, strict=True))
        if "primary" in studies[law]:
            numbers[law] |= of_networks(studies[law]["primary"], studies[law].get("certificates"))
    table = {}
    for key, (what, reported) in NUMBERS.items():
        values = {law: numbers[law].get(key) for law in FACTORS}
        factors = {law: None if value is None else off(value, reported) for law, value in values.items()}
        known = {law: factor for law, factor in factors.items() if factor is not None}
        nearer = min(known, key=lambda law: known[law]) if len(known) == len(FACTORS) else None
        table[key] = {"what": what, "paper": reported, **values, "factor_off": factors, "nearer": nearer}
    return {
        "what": "reaction–diffusion forcing: sin sin (plain) or 2 sin sin (orthonormal)",
        "chosen": "orthonormal",
        "input_fingerprint": EQUATION.input_fingerprint,
        "inputs": INPUTS,
        "studies": {
            law: {name: result["provenance"]["commit"] for name, result in found.items()}
            for law, found in studies.items()
        },
        "numbers": table,
        "cases": cases,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    cases: dict[str, list[list[float]]] = {law: [] for law in FACTORS}
    if given.out and given.out.exists():
        stored = json.loads(given.out.read_text(encoding="utf-8"))
        if stored["input_fingerprint"] == EQUATION.input_fingerprint and stored["inputs"] == INPUTS:
            cases = stored["cases"]
    for law, rows in cases.items():
        for k in range(len(rows), INPUTS):
            rows.append(measure(law, k))
            print(f"{law}, input {k}: defect {rows[-1][0]:.2e}, distance {rows[-1][1]:.2e}", flush=True)
            if given.out:
                write_json(given.out, stamp(record(cases)))
    found = record(cases)
    if given.out:
        write_json(given.out, stamp(found))
    for row in found["numbers"].values():
        print(f"{row['what']}: paper {row['paper']}, plain {row['plain']}, orthonormal {row['orthonormal']}")


if __name__ == "__main__":
    main()
