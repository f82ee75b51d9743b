"""Study 17: beyond the paper's libraries. Candidates of different kinds, libraries that grow, nonlinear quantities.

Mixed: FNO, CNO and U-Net checkpoints beside the output of a coarse solver, in one library. Growing: candidate after
candidate joins and the mean anchor moves by (v − w)/(N + 1), exactly; how far does the proxy follow, does the derivative of
the corrected state with respect to its anchor foresee that, and which older decisions change?
Nonlinear: quantities of the state whose losses are Hilbert losses still, with the proxy taken as Q(w) + DQ(w)δ or as Q(s).
"""

from collections.abc import Callable
from functools import cache
from itertools import starmap
from typing import Any

import jax.numpy as jnp
import numpy as np
from matplotlib.figure import Figure

from physrank import geometry, tasks
from physrank.geometry.metrics import mean_square
from physrank.geometry.space import Array
from physrank.lab.equations import EQUATIONS, Equation
from physrank.lab.evaluation import Outcomes, Recovery
from physrank.lab.libraries import GROUPS, Library, equations_of
from physrank.lab.studies._kit import partial, tables
from physrank.lab.studies._kit.cases import Context, measure, problems_and_candidates, references_of, stacked
from physrank.lab.studies._kit.growing import grown
from physrank.lab.studies._kit.pooling import interleaved, pools
from physrank.ranking import Ranking, scorers

MEMBERS = 3  # checkpoints of each architecture in a mixed library: the last ones of as many runs
ON_MIXED = {
    "shared": scorers.SharedResponse(),
    "ladder": scorers.Ladder(),
    "raw": scorers.RawResidual(),
    "mean centrality": scorers.MeanCentrality(),
    "medoid centrality": scorers.MedoidCentrality(),
}
COARSE = "coarse solver"
FORESEEN = 0.1  # of its move, at most, the proxy of a library of sixteen goes elsewhere than its derivative says


def _energy(row: Any) -> Any:
    return row * row / 2


def _gradient(row: Any) -> Any:
    """|∇u|² by differences along the last axis: periodic for rows, inner for fields."""
    change = jnp.roll(row, -1, -1) - row
    return (row.shape[-1] * (change if row.ndim == 1 else change[..., :-1])) ** 2


def _total(row: Any) -> Any:
    return jnp.mean(row * row)[None]


def _peak(row: Any) -> Any:
    """A smooth maximum."""
    sharp = 20.0
    return (jnp.log(jnp.mean(jnp.exp(sharp * (row - jnp.max(row))))) / sharp + jnp.max(row))[None]


QUANTITIES: dict[str, Callable[[Any], Any]] = {
    "energy density": _energy,
    "squared gradient": _gradient,
    "total energy": _total,
    "smooth maximum": _peak,
}


def run(context: Context) -> tuple[dict[str, Any], Figure]:
    inputs = min(48, context.profile.evaluation)
    equations = equations_of(GROUPS["primary"])
    result = {
        "study": "beyond",
        "profile": context.profile.name,
        "inputs": inputs,
        "mixed": {e.name: _mixed(context, e) for e in equations},
        "growing": {pool[0].name[:-3]: _growing(context, pool, inputs) for pool in pools()},
        "nonlinear": {e.name: _nonlinear(context, e) for e in equations},
        "input_fingerprint": tables.input_fingerprints(GROUPS["primary"]),
    }
    return result, _figure(result)


# -- mixed libraries ---------------------------------------------------------------------------------------------------


def _mixed(context: Context, equation: Equation) -> dict[str, Any]:
    """All evaluation inputs: the first library of each architecture, and one coarse solution."""
    first: dict[str, Library] = {}
    for library in (*GROUPS["primary"], *GROUPS["mixed"]):
        if library.declared is equation:
            first.setdefault(library.architecture, library)
    libraries, coarse, profile = list(first.values()), equation.coarse_solves[-1], context.profile

    @cache
    def cases() -> list[Any]:
        streams = [problems_and_candidates(context, library, "evaluation") for library in libraries]
        found = []
        for of_input in zip(*streams, strict=True):
            problem = of_input[0][0]
            solve = scorers.DirectSolve(points=coarse.points, substeps=coarse.substeps)
            state, failed = solve.solution(problem, problem.state_shape)
            merged = {} if failed else {COARSE: state}
            for library, (_, candidates) in zip(libraries, of_input, strict=True):
                last = [name for name, _, epoch in library.candidates(profile) if epoch == profile.epochs]
                merged |= {f"{library.architecture} {name}": candidates[name] for name in last[:MEMBERS]}
            found.append((problem, merged))
        if len({len(candidates) for _, candidates in found}) > 1:
            raise ValueError(f"{equation.title}: the coarse solve with {coarse.points} points failed on some inputs.")
        return found

    key = {
        "libraries": [context.content(library, "evaluation") for library in libraries],
        "coarse": [coarse.points, coarse.substeps],
        "members": MEMBERS,
    }
    revealed = lambda: references_of(context, libraries[0], "evaluation")  # noqa: E731
    found = measure(context, f"{equation.name} mixed", key, cases, revealed, ON_MIXED)
    best = found["losses"].argmin(axis=1)
    return {
        "candidates": found["losses"].shape[1],
        "points": coarse.points,
        "coarse_solver_wins": int(np.sum(best == 0)),
        "architectures": [library.architecture for library in libraries],
        "methods": {
            name: Recovery.from_outcomes(Outcomes.of(found["losses"], found[f"score {name}"])).to_dict()
            for name in ON_MIXED
        },
    }


# -- growing libraries -------------------------------------------------------------------------------------------------


def _growing(context: Context, pool: tuple[Library, Library], count: int) -> dict[str, Any]:
    """From two candidates to sixteen, one response at every size."""
    key = {"libraries": [context.content(library, "evaluation") for library in pool], "limit": count}

    def make() -> dict[str, Array]:
        rows = context.each(f"{pool[0].name[:-3]} growing", grown, interleaved(context, pool, count), count)
        return stacked(rows)

    found = context.cached("growing", key, make)
    return {
        "sizes": list(range(3, found["anchor"].shape[1] + 3)),
        "anchor_moves": np.median(found["anchor"], axis=0).tolist(),
        "proxy_moves": np.median(found["proxy"], axis=0).tolist(),
        "damping": np.median(found["proxy"] / found["anchor"], axis=0).tolist(),
        "unforeseen": np.median(found["unforeseen"], axis=0).tolist(),
        "changed": found["changed"].sum(axis=0).astype(int).tolist(),
        "older_pairs": found["older"].sum(axis=0).astype(int).tolist(),
        "anchor_identity": float(found["anchor identity"].max()),
        "gap_identity": float(found["gap identity"].max()),
    }


# -- nonlinear quantities ----------------------------------------------------------------------------------------------


def _nonlinear(context: Context, equation: Equation) -> dict[str, Any]:
    """Decisions under quantities of the final row or the field: by the linearised and by the evaluated proxy."""
    libraries = [library for library in GROUPS["primary"] if library.declared is equation]
    found = [_quantities(context, library) for library in libraries]
    table: dict[str, Any] = {}
    for name in QUANTITIES:
        losses = np.concatenate([one[f"{name} losses"] for one in found])
        ways = {way: np.concatenate([one[f"{name} {way}"] for one in found]) for way in ("linear", "evaluated")}
        apart = np.concatenate([one[f"{name} apart"] for one in found])
        table[name] = {
            way: Recovery.from_outcomes(Outcomes.of(losses, scores, tolerance=0.0)).to_dict()
            for way, scores in ways.items()
        }
        table[name]["median_distance"] = float(np.median(apart))  # of the two proxies, over the evaluated one's error
    return table


def _quantities(context: Context, library: Library) -> dict[str, Array]:
    key = context.content(library, "evaluation") | {"quantities": list(QUANTITIES)}

    def make() -> dict[str, Array]:
        cases = list(problems_and_candidates(context, library, "evaluation"))
        true = partial.true_states(context, library, "evaluation")
        known = zip(context.panel(cases, anchor="mean", corrections=1), true, strict=True)
        return context.told(f"{library.name}: nonlinear quantities", starmap(asked, known), len(cases))

    return context.cached("quantities", key, make)


def asked(found: Ranking, truth: Array) -> dict[str, Array]:
    """One response, judged by every quantity."""
    rows = {}
    for name, task in _tasks("time" if found.task.last else "field").items():
        again = found.rescore(task)
        target = task.outputs(truth[None])[0]
        linear, evaluated = again.proxy_linear, again.proxy
        error = again.space.norm(evaluated - target)
        rows |= {
            f"{name} losses": geometry.scores_of(again.space, again.outputs, target),
            f"{name} linear": geometry.scores_of(again.space, again.outputs, linear),
            f"{name} evaluated": geometry.scores_of(again.space, again.outputs, evaluated),
            f"{name} apart": np.array(again.space.norm(linear - evaluated) / max(float(error), np.finfo(float).tiny)),
        }
    return rows


@cache  # one function object each: every other one is compiled anew
def _tasks(kind: str) -> dict[str, tasks.Task]:
    def of(quantity: Callable[[Any], Any]) -> Callable[[Any], Any]:
        return (lambda state: quantity(state[-1])) if kind == "time" else quantity

    return {name: tasks.nonlinear(of(quantity), mean_square(), name) for name, quantity in QUANTITIES.items()}


# -- what it shows -----------------------------------------------------------------------------------------------------


def claims(result: dict[str, Any]) -> list[tuple[str, bool]]:
    growing = result["growing"].values()
    exact = max(max(row["anchor_identity"], row["gap_identity"]) for row in growing)
    damping = max(np.median(row["damping"]) for row in growing)
    joins = f"the proxy moves less than the anchor when a candidate joins (at most {damping:.2g} of it)"
    found = [
        (f"the identities of a growing library close to round-off ({exact:.1e})", exact < 1e-12),
        (joins, bool(damping < 1)),
    ]
    if missing := [row["unforeseen"][-1] for row in growing if "unforeseen" in row]:  # results of before do not have it
        said = (
            "where the sixteenth candidate joins, the derivative −L⁻¹A″[h, δ] foresees at least nine tenths of the proxy's "
            f"move (at most {max(missing):.2g} of it is missing, in the median)"
        )
        found.append((said, bool(max(missing) <= FORESEEN)))
    for name, row in result["mixed"].items():
        ours, raw = (tables.share(row["methods"][m])[0] for m in ("shared", "raw"))
        decides = f"the shared response decides more pairs than the raw residual ({ours:.2%}, {raw:.2%})"
        found.append((f"{EQUATIONS[name].title}, mixed: {decides}", ours > raw))
    worse = [
        f"{EQUATIONS[e].title}, {name}"
        for e, table in result["nonlinear"].items()
        for name, row in table.items()
        if row["evaluated"]["strict_correct"] < row["linear"]["strict_correct"]
    ]
    fewer = (
        f"Q(s) decides no fewer pairs than Q(w) + DQ(w)δ under any quantity ({', '.join(worse) or 'none'} otherwise)"
    )
    return [*found, (fewer, not worse)]


def _figure(result: dict[str, Any]) -> Figure:
    figure: Any = Figure(figsize=(12, 3.6), layout="constrained")
    mixed, growing, nonlinear = figure.subplots(1, 3)
    width = 0.8 / len(result["mixed"])
    for k, (name, row) in enumerate(result["mixed"].items()):
        values = [tables.share(row["methods"][m])[0] for m in ON_MIXED]
        places = np.arange(len(ON_MIXED)) + (k - (len(result["mixed"]) - 1) / 2) * width
        mixed.bar(places, values, width, label=EQUATIONS[name].title, color=("#0d47a1", "#c9a227", "#1b5e20")[k])
    mixed.set_xticks(range(len(ON_MIXED)), [m.replace(" ", "\n") for m in ON_MIXED], fontsize=8)
    mixed.set(title="mixed libraries: pairs recovered", ylim=(0, 1.2), yticks=np.linspace(0, 1, 6))
    mixed.legend(frameon=False, fontsize=8, ncols=2, loc="upper center")
    for k, (name, row) in enumerate(result["growing"].items()):
        growing.plot(row["sizes"], row["damping"], "os^D"[k % 4] + "-", label=name.replace("_", "–"), markersize=4)
    growing.axhline(1, color="black", lw=0.8)
    growing.set(title="one joins: proxy's move ÷ anchor's", yscale="log", xlabel="candidates", xticks=(4, 8, 12, 16))
    growing.legend(frameon=False, fontsize=7)
    shown = [(e, q, row) for e, table in result["nonlinear"].items() for q, row in table.items()]
    for k, (way, colour) in enumerate((("linear", "#8d9db6"), ("evaluated", "#c2185b"))):
        values = [1 - row[way]["strict_correct"] / row[way]["pairs_all"] for _, _, row in shown]
        label = "Q(w) + DQ(w)δ" if way == "linear" else "Q(s)"
        nonlinear.barh(
            np.arange(len(shown)) + 0.4 * (k - 0.5), np.maximum(values, 1e-5), 0.4, color=colour, label=label
        )
    nonlinear.set_yticks(range(len(shown)), [f"{EQUATIONS[e].label}: {q}" for e, q, _ in shown], fontsize=7)
    nonlinear.set(title="strict pairs missed", xscale="log", ylim=(len(shown) - 0.5, -1.6))  # room for the legend
    nonlinear.legend(frameon=False, fontsize=8, ncols=2, loc="upper center")
    return figure
