"""Study 4: what one response per candidate would have decided, and what it would have cost."""

from collections.abc import Sequence
from functools import cache
from itertools import combinations
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from physrank import ranking
from physrank.geometry.space import Array
from physrank.lab.evaluation import SEEDS, Outcomes, Recovery, clustered
from physrank.lab.libraries import GROUPS, Library, equations_of
from physrank.lab.studies._kit.cases import Context, measure, problems_and_candidates, references_of
from physrank.lab.studies._kit.checking import second_method
from physrank.lab.studies._kit.pooling import Case, interleaved, pools
from physrank.ranking import scorers
from physrank.ranking.candidates import Candidates

NUMBERS = (2, 4, 8, 16)
WARM_UPS, REPEATS = 2, 10
PAPER = {
    "sixteen": {"same choice": "191/192", "shared pairs": 0.996272, "candidate-wise pairs": 0.995899},
    "cost at 16": {"burgers": 16.0, "reaction_diffusion": 15.3},
}


def run(context: Context) -> tuple[dict[str, Any], Figure]:
    small, large = min(24, context.profile.evaluation), min(48, context.profile.evaluation)
    eight = [_eight(context, library, small) for library in GROUPS["primary"]]
    sixteen = {pool[0].name[:-3]: _pooled(context, pool, large) for pool in pools()}
    cost = {name: _cost(context, pool) for pool in pools() for name in [pool[0].name[:-3]]}
    clusters = [f"{library.equation}-{k}" for library in GROUPS["primary"] for k in range(small)]
    crossed = np.concatenate([found["cross-fit correct"] for found in eight])
    counted = np.concatenate([found["cross-fit pairs"] for found in eight])
    wise = Outcomes.of(*(np.concatenate([f[key] for f in eight]) for key in ("losses", "score candidate-wise")))
    result = {
        "study": "controls",
        "profile": context.profile.name,
        "eight": {
            "cases": len(crossed),
            "pairs": int(counted.sum()),
            "cross-fit": {"pairs_correct": int(crossed.sum())},
            "shared": _recovery(eight, "shared"),
            "candidate-wise": {
                **_recovery(eight, "candidate-wise"),
                "pair_interval": clustered(
                    wise.non_ties_correct, wise.non_ties, clusters, seed=SEEDS["primary"]
                ).to_dict(),
            },
        },
        "sixteen": {
            "pools": {
                name: {m: _recovery([found], m) for m in ("shared", "candidate-wise", "raw")}
                for name, found in sixteen.items()
            },
            **{m: _recovery(list(sixteen.values()), m) for m in ("shared", "candidate-wise", "raw")},
            "same_choice": int(
                sum(
                    np.sum(f["score shared"].argmin(1) == f["score candidate-wise"].argmin(1)) for f in sixteen.values()
                )
            ),
        },
        "cost": cost,
        "second_method": {
            equation.name: second_method(context, equation, [x for x in GROUPS["primary"] if x.declared is equation])
            for equation in equations_of(GROUPS["primary"])
        },
        "paper": PAPER,
    }
    return result, _figure(cost)


def _recovery(found: Sequence[dict[str, Array]], method: str) -> dict[str, Any]:
    losses, scores = (np.concatenate([f[key] for f in found]) for key in ("losses", f"score {method}"))
    return Recovery.from_outcomes(Outcomes.of(losses, scores)).to_dict()


def _key(context: Context, libraries: Sequence[Library], count: int) -> dict[str, Any]:
    return {
        "libraries": [context.content(library, "evaluation") for library in libraries],
        "limit": count,
    }


def _eight(context: Context, library: Library, count: int) -> dict[str, Array]:
    """Shared and candidate-wise scores, and each pair decided by a response that neither of the two entered."""

    @cache  # two passes below, one reading
    def cases() -> list[Case]:
        return list(problems_and_candidates(context, library, "evaluation", limit=count))

    found = measure(
        context,
        f"{library.name} control",
        _key(context, [library], count),
        cases,
        lambda: references_of(context, library, "evaluation")[:count],
        {"shared": scorers.SharedResponse(), "candidate-wise": scorers.CandidateWise()},
    )

    def make() -> dict[str, Array]:
        given = ((*case, losses) for case, losses in zip(cases(), found["losses"], strict=True))
        rows = list(context.each(f"{library.name} pair-cross-fit", _cross_fit, given, count))
        correct, counted = np.array(rows, float).T
        return {"cross-fit correct": correct, "cross-fit pairs": counted}

    return found | context.cached("cross-fit", _key(context, [library], count), make)


def _cross_fit(problem: Any, candidates: dict[str, Array], losses: Array) -> tuple[int, int]:
    """Of one input: pairs that are decided rightly from an anchor without the two, and pairs that are no ties."""
    names, correct, counted = list(candidates), 0, 0
    for i, j in combinations(range(len(names)), 2):
        if abs(losses[j] - losses[i]) <= 1e-6:
            continue
        others = np.mean([v for n, v in candidates.items() if n not in (names[i], names[j])], axis=0)
        anchor = Candidates.of({"others": others}, problem).states[0]
        two = {name: candidates[name] for name in (names[i], names[j])}
        values = ranking.rank(problem, two, anchor=anchor).scores
        correct += int(np.sign(values[1] - values[0]) == np.sign(losses[j] - losses[i]))
        counted += 1
    return correct, counted


def _pooled(context: Context, pool: tuple[Library, Library], count: int) -> dict[str, Array]:
    return measure(
        context,
        f"{pool[0].name[:-3]} pooled",
        _key(context, pool, count),
        lambda: interleaved(context, pool, count),
        lambda: references_of(context, pool[0], "evaluation")[:count],
        {
            "shared": scorers.SharedResponse(),
            "candidate-wise": scorers.CandidateWise(),
            "raw": scorers.RawResidual(),
        },
    )


def _cost(context: Context, pool: tuple[Library, Library]) -> dict[str, dict[str, float]]:
    """Median seconds after candidate inference, first input of each stratum, after warm-ups, nested libraries."""
    cases = interleaved(context, pool, 3)
    table: dict[str, dict[str, float]] = {}
    for number in NUMBERS:
        few = [(p, dict(list(c.items())[:number])) for p, c in cases]
        shared, wise = scorers.SharedResponse(), scorers.CandidateWise()
        times: dict[str, list[float]] = {"shared": [], "candidate-wise": []}
        for repeat in range(WARM_UPS + REPEATS):
            for case in few:  # in turn, so that a slow moment of the machine hits both
                seconds = {"shared": shared(*case).seconds, "candidate-wise": wise(*case).seconds}
                if repeat >= WARM_UPS:
                    for name, value in seconds.items():
                        times[name].append(value)
        table[str(number)] = {name: float(np.median(values)) for name, values in times.items()}
        context.progress(f"{pool[0].name[:-3]} cost", NUMBERS.index(number) + 1, len(NUMBERS))
    return table


def claims(result: dict[str, Any]) -> list[tuple[str, bool]]:
    sixteen = result["sixteen"]
    cases = sixteen["shared"]["cases"]
    ratios = [row["16"]["candidate-wise"] / row["16"]["shared"] for row in result["cost"].values()]
    flat = [row["16"]["shared"] / row["2"]["shared"] for row in result["cost"].values()]
    same = sixteen["same_choice"]
    return [
        (
            f"shared and candidate-wise corrections choose alike in more than 95 % of cases ({same}/{cases})",
            same > 0.95 * cases,
        ),
        (
            f"at 16 candidates, candidate-wise costs more than 8 times the shared response, whole rankings on all threads "
            f"(least {min(ratios):.1f})",
            min(ratios) > 8,
        ),
        (
            f"a whole shared ranking of 16 candidates costs less than twice one of 2 (at most {max(flat):.2f} times)",
            max(flat) < 2,
        ),
        *[
            (
                f"{name}: another method altogether changes no outcome on {row['inputs']} suspect inputs "
                f"({row['outcomes_changed']} of {row['pairs']:,} pairs, {row['winners_changed']} winners)",
                row["outcomes_changed"] == row["winners_changed"] == 0,
            )
            for name, row in result.get("second_method", {}).items()
        ],
    ]


def _figure(cost: dict[str, dict[str, dict[str, float]]]) -> Figure:
    figure: Any = Figure(figsize=(9, 3.2), layout="constrained")
    equations = equations_of(GROUPS["primary"])
    for axis, equation in zip(figure.subplots(1, len(equations)), equations, strict=True):
        for name, rows in cost.items():
            if name.rsplit("-", 1)[0] != equation.name:
                continue
            style = "-" if "fno" in name else "--"
            for method, colour in (("shared", "#c2185b"), ("candidate-wise", "#5c6f82")):
                values = [1e3 * rows[str(n)][method] for n in NUMBERS]
                axis.plot(
                    NUMBERS, values, "o" + style, color=colour, label=f"{method}, {name.rsplit('-', 1)[1].upper()}"
                )
        axis.set(xscale="log", yscale="log", xlabel="candidates", ylabel="milliseconds", title=equation.title)
        axis.set_xticks(NUMBERS, [str(n) for n in NUMBERS])
        axis.minorticks_off()
        axis.set_yticks(ticks := [5, 10, 20, 50, 100, 200, 500], [str(t) for t in ticks])
        axis.legend(frameon=False, fontsize=7)
    return figure
