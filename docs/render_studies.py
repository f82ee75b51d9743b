"""Tables of the studies, ours beside the paper's, from the stored results of the laptop profile."""

from collections.abc import Sequence
from typing import Any

Result = dict[str, Any]


def percent(part: float, whole: float) -> str:
    return f"{part / whole:.2%}" if whole else "–"


def pairs(row: Result, strict: bool = False) -> str:
    if strict:
        return f"{row['strict_correct']:,}/{row['pairs_all']:,} = {percent(row['strict_correct'], row['pairs_all'])}"
    return f"{row['pairs_correct']:,}/{row['pairs']:,} = {percent(row['pairs_correct'], row['pairs'])}"


def top1(row: Result, strict: bool = False) -> str:
    count = row["top1_exact" if strict else "top1_tolerant"]
    return f"{count:,}/{row['cases']:,} = {percent(count, row['cases'])}"


def interval(row: Result, key: str) -> str:
    found = row.get(key)
    return f" [{100 * found['low']:.2f}, {100 * found['high']:.2f}]" if found else ""


def table(headings: list[str], rows: list[list[str]]) -> str:
    lines = ["| " + " | ".join(headings) + " |", "|---" * len(headings) + "|"]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])


def titled(name: str) -> str:
    """An equation's name, as tables have it."""
    return name.replace("_", "–")


def primary(result: Result) -> str:
    rows = []
    for method, row in result["pooled"].items():
        theirs = result["paper"].get(method)
        rows.append(
            [
                method,
                pairs(row) + interval(row, "pair_interval"),
                f"{theirs['pairs']:.2%}" if theirs else "",
                top1(row) + interval(row, "top1_interval"),
                f"{theirs['top1']:.2%}" if theirs else "",
                f"{row['mean_normalized_regret']:.4f}",
            ]
        )
    first = table(["method", "non-tie pairs", "paper", "tolerant top-1", "paper", "mean normalized regret"], rows)
    second = table(
        ["library", "shared: pairs", "raw: pairs", "shared: top-1", "raw: top-1"],
        [
            [name, pairs(cell["shared"]), pairs(cell["raw"]), top1(cell["shared"]), top1(cell["raw"])]
            for name, cell in result["cells"].items()
        ],
    )
    proxy = result["direct_use_of_q"]
    lowest = [d["correct"][0] / max(d["total"][0], 1) for d in (result["deciles"]["shared"], result["deciles"]["raw"])]
    return (
        f"{first}\n\n{second}\n\nq itself was no worse than the best candidate in "
        f"{proxy['no_worse_than_best_candidate']:,} of {proxy['cases']:,} cases (paper: 1,920 of 1,920). In the tenth "
        f"of pairs with the smallest margins, the shared response recovers {lowest[0]:.1%} (paper: 97.8 %), the raw residual "
        f"{lowest[1]:.1%}. The reference cannot decide {result['unresolved']['pairs']} pairs and "
        f"{result['unresolved']['top1']} winners; they stay in."
    )


def additional(result: Result) -> str:
    rows = []
    for anchor, methods in result["pooled"].items():
        for method, row in methods.items():
            theirs = result["paper"].get(anchor, {}).get(method)
            alike = result["hierarchical"].get(method) if anchor == "medoid" else None
            rows.append(
                [
                    anchor,
                    method,
                    pairs(row, True) + _alike(alike, "pairs"),
                    f"{theirs['pairs']:.2%}" if theirs else "",
                    top1(row, True) + _alike(alike, "top1"),
                    f"{theirs['top1']:.2%}" if theirs else "",
                ]
            )
    cells = [
        [
            name,
            *(said(row[m], True) for said in (pairs, top1) for m in ("shared", "raw")),
            f"{row['shared']['mean_regret']:.1e}",
        ]
        for name, row in result["cells"]["medoid"].items()
    ]
    return (
        table(["anchor", "method", "strict pairs", "paper", "exact top-1", "paper"], rows)
        + "\n\nEvery library on its own, with the medoid:\n\n"
        + table(["library", "shared: pairs", "raw: pairs", "shared: top-1", "raw: top-1", "shared: excess loss"], cells)
    )


def _alike(found: Result | None, key: str) -> str:
    """The interval that resamples replicates and inputs, libraries weighted alike."""
    return f" [{100 * found[key]['low']:.2f}, {100 * found[key]['high']:.2f}]" if found else ""


def composition(result: Result) -> str:
    rows = [
        [name, pairs(row, True), top1(row, True), _theirs(result["paper"].get(name))]
        for name, row in result["pooled"].items()
    ]
    return (
        table(["what ranks", "strict pairs", "exact top-1", "paper"], rows)
        + "\n\nEvery library on its own (strict pairs; exact top-1):\n\n"
        + _every_library(result["cells"])
    )


def outliers(result: Result) -> str:
    cells, pooled = result["cells"], result["pooled"]
    methods = list(next(iter(pooled.values())))
    moved = [[method, *[f"{pairs(row[method])}; {top1(row[method])}" for row in pooled.values()]] for method in methods]
    worst = [[method, *[_worst([of[made][method] for of in cells.values()]) for made in pooled]] for method in methods]
    head = [made if made == "wrong physics" else f"× {made}" for made in pooled]
    return (
        f"By anchor, {', '.join(cells)} (non-tie pairs; tolerant top-1):\n\n"
        + table(["anchor", *head], moved)
        + "\n\nThe same in the worst of these libraries (share of pairs; of winners):\n\n"
        + table(["anchor", *head], worst)
    )


def _theirs(row: Result | None) -> str:
    return f"{row['pairs']:.2%}; {row['top1']:.2%}" if row else ""


def _every_library(cells: Result) -> str:
    shown = ("eight, mean anchor", "eight, medoid anchor", "six of eight, mean of eight", "six of eight, mean of six")
    rows = []
    for name, cell in cells.items():
        shares = [
            f"{percent(row['strict_correct'], row['pairs_all'])}; {row['top1_exact']}/{row['cases']}"
            for row in (cell[way] for way in shown)
        ]
        rows.append([name, f"{cell['outlier_loss_ratio']:.1f}", *shares])
    return table(["library", "outlier's best loss ÷ the others'", *shown], rows)


def _worst(rows: Sequence[Result]) -> str:
    least = [
        min(row[a] / max(row[b], 1) for row in rows)
        for a, b in (("pairs_correct", "pairs"), ("top1_tolerant", "cases"))
    ]
    return "; ".join(f"{100 * share:.2f} %" for share in least)


def controls(result: Result) -> str:
    sixteen, eight = result["sixteen"], result["eight"]
    rows = [[m, pairs(sixteen[m]), top1(sixteen[m])] for m in ("shared", "candidate-wise", "raw")]
    first = table(["16 candidates", "non-tie pairs", "tolerant top-1"], rows)
    costs = [
        [name, *[f"{1e3 * row[n]['shared']:.1f} / {1e3 * row[n]['candidate-wise']:.1f}" for n in ("2", "4", "8", "16")]]
        for name, row in result["cost"].items()
    ]
    second = table(["ms, shared / candidate-wise", "N = 2", "4", "8", "16"], costs)
    crossed, wise = eight["cross-fit"]["pairs_correct"], eight["candidate-wise"]["pairs_correct"]
    return (
        f"{first}\n\nThe two choose the same candidate in {sixteen['same_choice']} of {sixteen['shared']['cases']} cases "
        f"(paper: 191 of 192). With 8 candidates, pairs decided by a response that neither of the two entered: "
        f"{crossed:,} of {eight['pairs']:,}; by candidate-wise corrections: {wise:,}.\n\n{second}"
        + _second_method(result.get("second_method", {}))
    )


def _second_method(found: Result) -> str:
    """Empty where no study has asked it."""
    rows = [
        [
            titled(equation),
            str(row["inputs"]),
            f"{row['pairs_changed']} of {row['pairs']:,}",
            str(row["outcomes_changed"]),
            str(row["winners_changed"]),
            f"{row['largest_relative_loss_change']:.1e}",
        ]
        for equation, row in found.items()
    ]
    headings = [
        "",
        "inputs",
        "pairs ordered otherwise",
        "outcomes changed",
        "winners changed",
        "largest change of a loss",
    ]
    said = (
        "\n\nThe most suspect inputs solved by another method (DOP853 in divergence form; Chebyshev collocation):\n\n"
    )
    return said + table(headings, rows) if rows else ""


def variational(result: Result) -> str:
    rows = [
        [
            method,
            pairs(row),
            f"{result['paper'][method]:.2%}",
            top1(row),
            str(row["inverse_actions"]),
            f"{row['mean_regret']:.1e}",
            f"{1e3 * row['median_seconds']:.1f}",
        ]
        for method, row in result["pooled"].items()
    ]
    flips = result["flips_between_realizations"]
    said = ", ".join(f"{key.replace('_', ' ')} {value:,}" for key, value in flips.items() if isinstance(value, int))
    headings = ["method", "non-tie pairs", "paper", "tolerant top-1", "inverse actions", "mean excess loss", "ms"]
    return f"{table(headings, rows)}\n\nThe same checkpoints rerun on the comparison grid, pairs: {said}."


def panels(result: Result) -> str:
    rows = []
    for size in map(str, result["sizes"]):
        cells = [size]
        for method in ("shared", "raw"):
            row = result["table"][method][size]
            theirs = result["paper"][method].get(size)
            cells += [
                f"{row['mean_normalized_regret']:.4f}" + (f" (paper {theirs:.4f})" if theirs else ""),
                f"{row['exact']} / {row['tolerant']} / {row['top2']} of {row['routes']}",
            ]
        rows.append(cells)
    return (
        table(
            ["inputs", "shared: regret", "exact / tolerant / top two", "raw: regret", "exact / tolerant / top two"],
            rows,
        )
        + _other_choosers(result)
        + _by_library(result.get("cells", {}))
    )


def _other_choosers(result: Result) -> str:
    """Those that look at candidates or validation losses only, and one response per candidate, at the study's panel size."""
    size = str(max(b for b in result["sizes"] if b <= 24))
    rows = [
        [
            method,
            f"{row['mean_normalized_regret']:.4f}",
            f"{row['exact']} / {row['tolerant']} / {row['top2']} of {row['routes']}",
        ]
        for method, of in result["table"].items()
        for row in [of[size]]
    ]
    return f"\n\nWith {size} inputs:\n\n" + table(["method", "regret", "exact / tolerant / top two"], rows)


def _by_library(cells: Result) -> str:
    """Empty where no study has counted them."""
    names = list(next(iter(cells.values()), {}))
    rows = [
        [
            name,
            *(
                f"{of[name]['mean_normalized_regret']:.4f} ({of[name]['top2']} of {of[name]['routes']})"
                for of in cells.values()
            ),
        ]
        for name in names
    ]
    said = "\n\nLibrary by library: regret (choices among the two best)\n\n"
    return said + table(["library", *cells], rows) if rows else ""


def direct(result: Result) -> str:
    rows = [
        [titled(equation), method, pairs(row), top1(row), f"{1e3 * row['median_seconds']:.1f}"]
        for equation, methods in result["table"].items()
        for method, row in methods.items()
    ]
    advice = "\n".join(f"- {equation.replace('_', '–')}: {said}" for equation, said in result["advice"].items())
    return f"{table(['', 'method', 'non-tie pairs', 'tolerant top-1', 'ms'], rows)}\n\n{advice}"


def certificates(result: Result) -> str:
    rows = []
    for equation, steps in (("reaction–diffusion, 6 inputs per library", result["few"]), *result["all"].items()):
        for row in steps:
            share = row["bound_over_error"]
            rows.append(
                [
                    titled(equation),
                    str(row["corrections"]),
                    f"{row['certified']:,}/{row['pairs']:,}",
                    f"{row['non_ties_certified']:,}/{row['non_ties']:,}",
                    f"{row['strict_top1']}/{row['cases']}",
                    f"{row['tolerant_top1']}/{row['cases']}",
                    f"{row['largest_ratio']:.2g} / {row['median_ratio']:.1e}",
                    f"{share[0]:.6f}–{share[1]:.6f}" if share else "",
                    str(row["wrong"]),
                ]
            )
    headings = [
        "",
        "corrections",
        "pairs",
        "non-ties",
        "strict top-1",
        "tolerant top-1",
        "bound ÷ margin: largest / median",
    ]
    paper = result["paper"]
    said = (
        f"The paper, in double precision, one correction, 6 inputs per library: {paper['pairs']} pairs, "
        f"{paper['strict top-1']} strict and {paper['tolerant top-1']} tolerant top-1, bound ÷ margin "
        f"{paper['largest ratio']} and {paper['median ratio']}, state bound ÷ error {paper['state bound ÷ error']}."
    )
    made = [
        [
            titled(name),
            str(row["corrections"]),
            f"{row['non_ties_certified']:,}/{row['non_ties']:,}",
            f"{row['median_radius']:.1e}",
            f"{row['median_distance']:.1e}",
            str(row["wrong"]),
        ]
        for name, steps in result["energies"].items()
        for row in steps
    ]
    enclosed = [
        [
            str(row["corrections"]),
            f"{row['non_ties_certified']:,}/{row['non_ties']:,}",
            f"{row['median_radius']:.1e}",
            str(row["wrong"]),
            f"{row['responses']:.1f}",
        ]
        for row in result.get("validated", [])
    ]
    burgers = "\n\nBurgers, validated, for the continuum:\n\n" + table(
        ["corrections", "non-ties", "radius", "wrong", "cost in responses"], enclosed
    )
    return (
        f"{table([*headings, 'state bound ÷ error', 'wrong'], rows)}\n\n{said}\n\nMade candidates (12 inputs, errors of 2 to "
        "20 % and three near-ties), medians of the radius and of the true distance:\n\n"
        + table(["", "corrections", "non-ties", "radius", "distance", "wrong"], made)
        + _against_equations(result.get("continuum", {}))
        + (burgers if enclosed else "")
    )


def _against_equations(found: Result) -> str:
    """Empty where no study has measured it."""
    rows = [
        [
            titled(equation),
            str(row["corrections"]),
            f"{row['certified']:,}/{row['pairs']:,}",
            f"{row['non_ties_certified']:,}/{row['non_ties']:,}",
            f"{row['median_responses']:.0f}",
            str(row["wrong"]),
        ]
        for equation, row in found.items()
    ]
    headings = ["", "corrections", "pairs", "non-ties", "cost in responses", "wrong"]
    return f"\n\nAgainst the equation itself, all inputs:\n\n{table(headings, rows)}" if rows else ""


def doubt(result: Result) -> str:
    rows = [
        [
            name,
            f"{row['settled']:,}",
            f"{row['wrong']:,}",
            f"{row['open']:,} of {row['non_ties']:,} = {percent(row['open'], row['non_ties'])}",
            f"{row['best_settled']:,} of {row['inputs']:,}",
            f"{row['best_settled_wrong']:,}",
        ]
        for name, row in [*result["cells"].items(), *result["by_equation"].items()]
    ]
    headings = [
        "library, equation",
        "settled pairs",
        "of these wrong",
        "non-tie pairs open",
        "winners settled",
        "of these wrong",
    ]
    return table(headings, rows)


def race(result: Result) -> str:
    rows = []
    for size, of in result["table"].items():
        for tolerance, row in of.items():
            races, half = row["races"], result["half"][size]["within_tolerance"][tolerance]
            rows.append(
                [
                    size,
                    f"{float(tolerance):.0%}",
                    f"{row['inputs']:.0%}",
                    f"{row['inference']:.0%}",
                    percent(row["same_choice"], races),
                    percent(row["within_tolerance"], races),
                    percent(half, races),
                ]
            )
    headings = ["panel", "tolerance", "inputs", "inference", "same choice", "within tolerance", "best of half within"]
    return table(headings, rows)


STUDIES = {
    f.__name__: f
    for f in (
        primary,
        additional,
        composition,
        outliers,
        controls,
        variational,
        panels,
        direct,
        certificates,
        doubt,
        race,
    )
}
