"""How many pairs the Burgers certificate decides after one, two and three corrections, on stored predictions; prints a table.

    python bench/burgers_certificate.py [--store store] [--inputs 24] [--library NAME …] [--check]

Non-tie pairs (gap above 1e-6) of the first inputs of the evaluation population, the radius of the state, and CPU seconds per
input once compiled. With `--check`, decided signs are held against independent references, about a second per input.
"""

import argparse
import time
from pathlib import Path

import numpy as np

from physrank.certificates import BurgersEnergy
from physrank.lab.libraries.plan import LIBRARIES, PROFILES
from physrank.lab.libraries.setups import SETUPS, population
from physrank.lab.references.pair import unresolved_pairs
from physrank.lab.studies.cases import Context, problems_and_candidates
from physrank.ranking import Ranking, rank_panel

TIE = 1e-6
METHODS = {"radius only": BurgersEnergy(pairs=False), "with pairs": BurgersEnergy()}


def contradictions(signs: np.ndarray, ranking: Ranking, reference) -> int:
    """Decided pairs whose sign the reference resolves, and resolves otherwise."""
    losses, changes = reference.losses(ranking.space, ranking.outputs)
    known = ~unresolved_pairs(losses, changes)
    return int(np.sum(known & (signs * np.sign(losses[None, :] - losses[:, None]) < 0))) // 2


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--store", type=Path, default=Path("store"))
    parser.add_argument("--profile", default="laptop")
    parser.add_argument("--library", action="append", help="default: burgers-fno-e1 and burgers-cno-e1")
    parser.add_argument("--inputs", type=int, default=24)
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    context = Context(options.store, PROFILES[options.profile])
    cases = population("burgers", "evaluation", context.profile.evaluation)[: options.inputs]
    references = SETUPS["burgers"].references(cases, "first") if options.check else [None] * len(cases)
    print("library         corr.  method       decided / non-ties  inputs  wrong  radius (median, max)  growth  CPU s")
    for name in options.library or ("burgers-fno-e1", "burgers-cno-e1"):
        data = list(problems_and_candidates(context, LIBRARIES[name], "evaluation", limit=options.inputs))
        for corrections in (1, 2, 3):
            rankings = list(rank_panel(*zip(*data, strict=True), corrections=corrections))
            for method, energy in METHODS.items():
                rows = []
                energy(data[0][0], rankings[0])  # compiles
                for (problem, _), ranking, reference in zip(data, rankings, references, strict=True):
                    started = time.process_time()
                    found = energy(problem, ranking)
                    seconds = time.process_time() - started
                    upper = np.triu_indices(len(ranking.names), 1)
                    counts = np.abs(ranking.gaps[upper]) > TIE
                    decided = found.gaps.signs[upper][counts] != 0
                    wrong = contradictions(found.gaps.signs, ranking, reference) if reference else 0
                    growth = next(a.measured for a in found.assumptions if "growth factor" in a.statement)
                    rows.append((decided.sum(), counts.sum(), decided.all(), wrong, found.state_bound, growth, seconds))
                done, pairs, settled, wrong, radius, growth, seconds = np.array(rows, float).T
                print(
                    f"{name:<15} {corrections:>4}   {method:<12} {done.sum():>7.0f} / {pairs.sum():<8.0f}"
                    f" {settled.sum():>8.0f} {wrong.sum():>6.0f}   {np.median(radius):.1e}, {radius.max():.1e}"
                    f"     {growth.max():.2f}  {np.median(seconds):.3f} (most {seconds.max():.3f})",
                    flush=True,
                )


if __name__ == "__main__":
    main()
