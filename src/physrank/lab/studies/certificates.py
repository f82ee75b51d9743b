"""Study 8: how many decisions are proved, after how many corrections, and is any of them wrong?"""

from typing import Any

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array as JaxArray
from matplotlib.figure import Figure

from physrank import certificates, compute, geometry, ranking
from physrank.geometry.space import Array
from physrank.lab.equations import EQUATIONS, Equation
from physrank.lab.evaluation.compact import rounded
from physrank.lab.libraries import GROUPS, Library, equations_of
from physrank.lab.references.reference import Reference
from physrank.lab.studies import continuum, energies, validated
from physrank.lab.studies._kit.cases import Context, problems_and_candidates, references_of, stacked
from physrank.lab.studies._kit.tables import input_fingerprints
from physrank.physics.capabilities import HasSecantMetric

TIE, FEW = 1e-6, 6  # the paper's tolerance; its number of inputs per library
PAPER = {
    "pairs": "672/672",
    "strict top-1": "24/24",
    "tolerant top-1": "24/24",
    "largest ratio": 0.09494,
    "median ratio": 3.45e-4,
    "state bound ÷ error": "1.000018–1.000211",
}


def run(context: Context) -> tuple[dict[str, Any], Figure]:
    found = {library.name: _measure(context, library) for library in GROUPS["primary"]}
    declared = equations_of(GROUPS["primary"])
    of = {e.name: [found[lib.name] for lib in GROUPS["primary"] if lib.declared is e] for e in declared}
    exact = [e for e in declared if e.certified.target == "same grid"]  # the paper's protocol
    few = [{key: value[:FEW] for key, value in table.items()} for e in exact for table in of[e.name]]
    result = {
        "study": "certificates",
        "profile": context.profile.name,
        "few": [_row(few, k) for k in range(min(e.certified.corrections for e in exact))],
        "all": {e.name: [_row(of[e.name], k) for k in range(e.certified.corrections)] for e in declared},
        "energies": energies.coverage(context),
        "continuum": continuum.coverage(context),
        "validated": validated.coverage(context, GROUPS["primary"]),
        "few_ratios": _ratios(few),
        "input_fingerprint": input_fingerprints(GROUPS["primary"]),
        "paper": PAPER,
    }
    return result, _figure(result, of)


def _measure(context: Context, library: Library) -> dict[str, Array]:
    most = library.declared.certified.corrections
    key = context.content(library, "evaluation") | {"most": most, "arithmetic": energies.ARITHMETIC}

    def make() -> dict[str, Array]:
        cases = list(problems_and_candidates(context, library, "evaluation"))
        true = references_of(context, library, "evaluation")
        given = ((*case, most, reference) for case, reference in zip(cases, true, strict=True))
        return stacked(context.each(f"{library.name} certificates", _case, given, len(cases)))

    return context.cached("certificates", key, make)


def _case(problem: Any, candidates: dict[str, Array], most: int, reference: Reference) -> dict[str, Array]:
    """Certificates after 1 … `most` corrections, then the target revealed; pairs are those above the diagonal."""
    current, steps = ranking.rank(problem, candidates, anchor="mean", allow_unresolved=True), []
    upper = np.triu_indices(len(candidates), 1)
    for k in range(most):
        current = current.corrected() if k else current
        proof = certificates.certify(problem, current, tolerance=TIE)
        order = int(np.argmin(current.scores))
        steps.append(
            {
                "signs": proof.signs[upper],
                "low": proof.gaps.low[upper],
                "high": proof.gaps.high[upper],
                "margins": proof.margins[upper],
                "bounds": proof.bounds[upper],
                "state_bound": proof.enclosure.state_bound,
                "validated": proof.kind == "validated",
                "strict": proof.best == current.names[order],
                "tolerant": current.names[order] in proof.safe,
                "seconds": proof.seconds,
                "rank_seconds": current.scoring.seconds,
                "state": current.state,
            }
        )
    target, errors = _target(problem, steps, reference)
    losses, changes = (Reference(target, target) if errors is not None else reference).losses(
        current.space, current.outputs
    )
    table = {name: np.array([step[name] for step in steps]) for name in steps[0] if name != "state"}
    doubt = (changes[:, None] + changes[None, :])[upper]
    return table | {
        "gaps": geometry.gap_matrix(losses)[upper],
        "doubt": doubt,  # what the reference itself cannot decide
        "errors": np.full(most, np.nan) if errors is None else errors,
    }


def _target(problem: Any, steps: list[dict[str, Any]], reference: Reference) -> tuple[Array, Array | None]:
    """The zero of the discrete problem and the distances to it, where that is the target; else the reference."""
    if not isinstance(problem, HasSecantMetric):
        return reference.fine, None
    zero = compute.run(_zero, problem, steps[-1]["state"])
    return zero, np.array([float(compute.run(_distance, problem, step["state"], zero)) for step in steps])


def _zero(problem: Any, guess: JaxArray) -> JaxArray:
    return problem.solve(guess).state


def _distance(problem: Any, state: JaxArray, zero: JaxArray) -> JaxArray:
    """‖s − u‖ in the metric of s."""
    metric = problem.secant_metric(state)
    error = metric.free(state - zero)
    return jnp.sqrt(jnp.sum(error * metric.apply(error)))


def _ratios(tables: list[dict[str, Array]]) -> dict[str, list[float]]:
    """Bounds over margins after one correction: of all pairs, and the largest of every case."""
    rows = np.concatenate([t["bounds"][:, 0] / np.maximum(t["margins"][:, 0], 1e-300) for t in tables])
    return {"ratios": rounded(np.sort(rows, axis=None)), "largest_by_case": rounded(rows.max(axis=1))}


def _row(tables: list[dict[str, Array]], k: int) -> dict[str, Any]:
    """Counts after k + 1 corrections."""
    signs, bounds, margins = (np.concatenate([t[key][:, k] for t in tables]) for key in ("signs", "bounds", "margins"))
    gaps, doubt = (np.concatenate([t[key] for t in tables]) for key in ("gaps", "doubt"))
    real = np.abs(gaps) > TIE
    ratios = bounds / np.maximum(margins, 1e-300)
    state, errors = (np.concatenate([t[key][:, k] for t in tables]) for key in ("state_bound", "errors"))
    resolved = np.isfinite(errors) & (errors > 1e-9)  # below that the numerical zero is no better known than the bound
    shares = state[resolved] / errors[resolved]
    return {
        "corrections": k + 1,
        "cases": len(signs),
        "pairs": int(signs.size),
        "certified": int(np.sum(signs != 0)),
        "non_ties": int(real.sum()),
        "non_ties_certified": int(np.sum((signs != 0) & real)),
        "wrong": int(np.sum((signs != 0) & (signs != np.sign(gaps)) & (np.abs(gaps) > doubt))),
        "validated": int(np.sum(np.concatenate([t["validated"][:, k] for t in tables]))),
        "strict_top1": int(np.sum(np.concatenate([t["strict"][:, k] for t in tables]))),
        "tolerant_top1": int(np.sum(np.concatenate([t["tolerant"][:, k] for t in tables]))),
        "largest_ratio": float(ratios.max()),
        "median_ratio": float(np.median(ratios)),
        "smallest_slack": float((margins - bounds).min()),
        "median_state_bound": float(np.median(state)),
        "bound_over_error": [float(shares.min()), float(shares.max())] if shares.size else None,
        "within_a_thousandth": [int(np.sum(shares <= 1.001)), int(shares.size)],
        "median_seconds": float(np.median(np.concatenate([t["seconds"][:, k] for t in tables]))),
    }


def claims(result: dict[str, Any]) -> list[tuple[str, bool]]:
    few = result["few"][-1]
    exact = [rows[0] for name, rows in result["all"].items() if EQUATIONS[name].certified.target == "same grid"]
    against = result.get("continuum", {}).items()  # of results that were stored before it was measured: nothing
    wrong = sum(row["wrong"] for rows in [*result["all"].values(), *result["energies"].values()] for row in rows)
    wrong += sum(row["wrong"] for _, row in against)
    return [
        (f"no certified pair is wrong ({wrong})", wrong == 0),
        (
            f"for the same grid, six inputs per library: every pair proved ({few['certified']}/{few['pairs']}), validated",
            few["certified"] == few["pairs"] and few["validated"] == few["cases"],
        ),
        (
            f"and the state is enclosed within a thousandth of its error after one correction ({_tight(result['few'][:1])}; "
            f"all inputs {_tight(exact)})",
            result["few"][0]["within_a_thousandth"][0] == result["few"][0]["within_a_thousandth"][1],
        ),
        *[_all_proved(EQUATIONS[name], rows[-1]) for name, rows in result["all"].items()],
        *([validated.claim(result["validated"])] if "validated" in result else []),  # older results have none
        *[
            (
                f"{EQUATIONS[name].title}, against the equation itself, all inputs: 95 % of non-tie pairs within 3 "
                f"corrections ({row['non_ties_certified']:,}/{row['non_ties']:,} within {row['corrections']}), at most 40 "
                f"responses ({row['median_responses']:.0f})",
                row["non_ties_certified"] >= 0.95 * row["non_ties"]
                and row["corrections"] <= 3
                and row["median_responses"] <= 40,
            )
            for name, row in against
        ],
        *[
            (
                f"{name}: every non-tie pair within {rows[-1]['corrections']} corrections "
                f"({rows[-1]['non_ties_certified']}/{rows[-1]['non_ties']})",
                rows[-1]["non_ties_certified"] == rows[-1]["non_ties"],
            )
            for name, rows in result["energies"].items()
            if name.endswith(
                "same grid"
            )  # the continuum is as far away as the scheme's own error, however often corrected
        ],
    ]


def _all_proved(equation: Equation, row: dict[str, Any]) -> tuple[str, bool]:
    return (
        f"{equation.title}, for the {equation.certified.target}, all inputs: every non-tie pair within {row['corrections']} "
        f"corrections ({row['non_ties_certified']:,}/{row['non_ties']:,})",
        row["non_ties_certified"] == row["non_ties"],
    )


def _tight(rows: list[dict[str, Any]]) -> str:
    return "/".join(str(sum(row["within_a_thousandth"][k] for row in rows)) for k in range(2))


def _figure(result: dict[str, Any], of: dict[str, list[dict[str, Array]]]) -> Figure:
    figure: Any = Figure(figsize=(14, 3.8), layout="constrained")
    *axes, last = figure.subplots(1, len(of) + 1)
    _energies(last, result["energies"])
    for axis, (equation, tables) in zip(axes, of.items(), strict=True):
        for k in range(EQUATIONS[equation].certified.corrections):
            ratios = np.sort(
                np.concatenate([(t["bounds"][:, k] / np.maximum(t["margins"][:, k], 1e-300)).ravel() for t in tables])
            )
            heights = np.arange(1, len(ratios) + 1) / len(ratios)
            label = "1 correction" if k == 0 else f"{k + 1} corrections"
            axis.step(ratios, heights, where="post", label=label, lw=1.6, color=["#5c6f82", "#c2185b", "#1b1f24"][k])
        axis.axvline(1.0, color="#1b1f24", lw=0.8, ls=":")
        axis.annotate("certified", (1, 0.05), xytext=(-6, 0), textcoords="offset points", ha="right", fontsize=8)
        axis.annotate("open", (1, 0.05), xytext=(6, 0), textcoords="offset points", fontsize=8)
        axis.set(xscale="log", xlabel="bound ÷ margin", ylabel="share of pairs", ylim=(0, 1.02))
        axis.set_title(f"{EQUATIONS[equation].title}: {result['all'][equation][0]['pairs']:,} pairs")
        axis.legend(frameon=False, fontsize=8, loc="best")
    return figure


def _energies(axis: Any, rows: dict[str, list[dict[str, Any]]]) -> None:
    for k, (name, steps) in enumerate(rows.items()):
        shares = [row["non_ties_certified"] / row["non_ties"] for row in steps]
        label, style = name.replace("_", "–"), ["o-", "s--", "^-"][k % 3]
        axis.plot([row["corrections"] for row in steps], shares, style, label=label, color=f"C{k}", ms=5)
    axis.set(xlabel="corrections", ylabel="share of non-tie pairs certified", ylim=(0, 1.05), title="made candidates")
    axis.set_xticks([row["corrections"] for row in next(iter(rows.values()))])
    axis.legend(frameon=False, fontsize=8, loc="lower right")
