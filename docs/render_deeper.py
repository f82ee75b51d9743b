"""Tables of the studies that look deeper: mechanism, other grids, other libraries, a phase diagram, choices, training."""

from render_studies import Result, pairs, percent, table, titled, top1


def mechanism(result: Result) -> str:
    rows = []
    for name, path in result["paths"].items():
        for k, alpha in enumerate(result["alphas"]):
            errors, row = path["errors"], path["decisions"][k]
            rows.append(
                [
                    titled(name) if k == 0 else "",
                    f"{alpha:g}",
                    *(f"{errors[kind]['median'][k]:.3g}" for kind in ("state", "task", "comparison")),
                    f"{row['correct']:,}/{row['pairs']:,} = {percent(row['correct'], row['pairs'])}",
                    percent(row["top1"], row["cases"]),
                ]
            )
    contraction = [
        [
            titled(name),
            *(f"{path['contraction'][kind]:.3g}" for kind in ("state", "task", "comparison")),
            _theirs(result["paper"].get(name, {})),
            f"{path['better_than_best_candidate']:,} of {path['cases']:,}",
        ]
        for name, path in result["paths"].items()
    ]
    distances = [
        [
            titled(name),
            *(f"{far:.2g}: {factor:.3g}" for far, factor in zip(by["anchor"], by["contraction"], strict=True)),
            "–" if by["power"] is None else f"{by['power']:.2g}",
        ]
        for name, path in result["paths"].items()
        for by in [path["by_distance"]]
    ]
    cells = [
        [
            name,
            f"{cell['flipped']:,} of {cell['pairs']:,}",
            "–" if cell["median_margin_flipped"] is None else f"{cell['median_margin_flipped']:.1e}",
            f"{cell['median_margin_right']:.1e}",
        ]
        for name, cell in result["cells"].items()
    ]
    return (
        table(["", "α", "state", "task", "comparison", "strict pairs", "top-1"], rows)
        + "\n\nMedian contraction by the full correction, and how often the corrected state beats the best candidate:\n\n"
        + table(["", "state", "task", "comparison", "paper", "better"], contraction)
        + "\n\nThe same by how far the anchor is off, a quarter of the cases each (its error: contraction), and the power of "
        "the anchor's error with which what is left grows:\n\n"
        + table(["", "nearest", "second", "third", "farthest", "power"], distances)
        + "\n\nPairs that the full correction decides wrongly, with the margins of those and of the others:\n\n"
        + table(["library", "flipped", "median margin of these", "of the others"], cells)
        + f"\n\nThe gap identity closes to {result['identity']:.1e} of the largest loss (paper: "
        f"{result['paper']['identity']:.1e}, absolute)."
    )


def _theirs(row: Result) -> str:
    said = [f"{kind} {row[kind]:g}" for kind in ("state", "comparison") if kind in row]
    return ", ".join([*said, "pairs " + " → ".join(f"{p:.1%}" for p in row["pairs"])]) if row else ""


def resolution(result: Result) -> str:
    keys = ("pairs", "strict_flips", "tolerance_transitions", "top1_changes")
    moves = []
    for name, row in result["transitions"].items():
        theirs = result["paper"]["transitions"].get(name)
        said = " / ".join(f"{n:,}" for n in theirs) if theirs else ""
        moves.append([titled(name), str(row["cells"]), f"{row['cases']:,}", *(f"{row[key]:,}" for key in keys), said])
    screened = [
        [
            population,
            architecture.upper(),
            f"{row['pairs_covered']:,}/{row['pairs']:,} = {percent(row['pairs_covered'], row['pairs'])}",
            f"{row['top1_covered']:,}/{row['cases']:,} = {percent(row['top1_covered'], row['cases'])}",
            _coverage(result["paper"]["coverage"].get(architecture)) if population == "re-inference" else "",
            f"{row['largest_closure']:.1e}",
            f"{row['wrong_without_proxy_drift']:,}",
            f"{row['median_locality']:.2g}",
        ]
        for population, of in result["screen"].items()
        for architecture, row in of.items()
    ]
    told = [
        [
            architecture.upper(),
            f"{row['reversed']:,} of {row['pairs']:,}",
            *(f"{row[area]['margin']:.3f} → {row[area]['first order']:.3f}" for area in ("auroc", "auprc")),
            f"{row['increment']['estimate']:+.4f} [{row['increment']['low']:.4f}, {row['increment']['high']:.4f}]",
            f"{result['paper']['predictor'][architecture]['increment']:+.4f}",
        ]
        for architecture, row in result["predictor"].items()
        if row["auroc"]
    ]
    found, paper = result["flips"], result["paper"]["flips"]
    said = "; ".join(f"{key.replace('_', ' ')} {found[key]:,} (paper {paper[key]:,})" for key in paper)
    headings = [
        "fixed candidates",
        "libraries",
        "cases",
        "pairs",
        "strict flips",
        "label changes",
        "top-1 changes",
        "paper",
    ]
    return (
        table(headings, moves)
        + f"\n\nThe same checkpoints run again on the comparison grid, pairs that reverse: {said}.\n\n"
        + table(
            [
                "population",
                "",
                "pairs ranked",
                "winners ranked",
                "paper",
                "closure",
                "wrong without the proxy's drift",
                "locality",
            ],
            screened,
        )
        + "\n\nWhich preferences reverse under re-inference, told by the margin alone → by the first-order gap:\n\n"
        + table(["", "reversed", "AUROC", "AUPRC", "gain of AUROC", "paper"], told)
        + _foretold(result)
    )


def _foretold(result: Result) -> str:
    """By library; empty where it was not asked."""
    rows = [
        [
            name,
            f"{row['median_locality']:.2g}",
            f"{row['auroc']['margin']:.3f} → {row['auroc']['first order']:.3f}",
            f"{row['increment']['estimate']:+.4f} [{row['increment']['low']:.4f}, {row['increment']['high']:.4f}]",
        ]
        for name, row in result.get("predictor_by_library", {}).items()
        if row["auroc"]
    ]
    if not rows:
        return ""
    ranks = result["locality_and_gain"]
    said = (
        f"\n\nOver libraries, Spearman's correlation of locality and gain is {ranks:.2f} (paper "
        f"{result['paper']['locality_and_gain']:.2f})."
        if ranks is not None
        else ""
    )
    return "\n\n" + table(["library", "locality", "AUROC", "gain"], rows) + said


def _coverage(theirs: list[float] | None) -> str:
    return " / ".join(f"{share:.1%}" for share in theirs) if theirs else ""


def beyond(result: Result) -> str:
    mixed = [
        [titled(name), method, pairs(cell), top1(cell), f"{cell['mean_normalized_regret']:.4f}"]
        for name, row in result["mixed"].items()
        for method, cell in row["methods"].items()
    ]
    made = "; ".join(
        f"{titled(name)}: {row['candidates']} candidates ({', '.join(row['architectures'])}, a coarse solve with "
        f"{row['points']} points, which is the best on {row['coarse_solver_wins']} inputs)"
        for name, row in result["mixed"].items()
    )
    growing = [
        [
            titled(name),
            *(f"{row['damping'][row['sizes'].index(n)]:.2g}" for n in (3, 4, 8, 16)),
            f"{row['unforeseen'][0]:.1%}, {row['unforeseen'][-1]:.1%}" if "unforeseen" in row else "not measured",
            f"{sum(row['changed']):,} of {sum(row['older_pairs']):,}",
            f"{max(row['anchor_identity'], row['gap_identity']):.1e}",
        ]
        for name, row in result["growing"].items()
    ]
    asked = [
        [
            titled(name),
            quantity,
            *(pairs(row[way], True) for way in ("linear", "evaluated")),
            f"{row['median_distance']:.2g}",
        ]
        for name, of in result["nonlinear"].items()
        for quantity, row in of.items()
    ]
    return (
        f"{made}.\n\n"
        + table(["mixed libraries", "method", "non-tie pairs", "tolerant top-1", "mean normalized regret"], mixed)
        + "\n\nA candidate joins: median move of the proxy over that of the anchor, the share of it that "
        "−L⁻¹A″[h, δ] does not foresee, and older decisions that change:\n\n"
        + table(["", "N = 3", "4", "8", "16", "unforeseen at 3, at 16", "older pairs changed", "identities"], growing)
        + "\n\nNonlinear quantities, strict pairs by the linearised and the evaluated proxy:\n\n"
        + table(["", "quantity", "Q(w) + DQ(w)δ", "Q(s)", "distance of the two ÷ error of Q(s)"], asked)
    )


def phase(result: Result) -> str:
    ways, rows = result["ways"], []
    for name, of in result["table"].items():
        for points, one in of.items():
            cheapest = [k for row in one["cheapest"] for k in row]
            cells = [cell for row in one["seconds"] for cell in row]
            ladder = [
                c[-1] / min(s for s in c[:-1] if s is not None) for c in cells if c[-1] is not None and any(c[:-1])
            ]
            rows.append(
                [
                    titled(name),
                    points,
                    *(f"{cheapest.count(k)}" for k in range(3)),
                    *(f"{done}/{one['cases']}" for done in one["settled"]),
                    f"{sorted(ladder)[len(ladder) // 2]:.2f}" if ladder else "–",
                    str(sum(one["wrong"])),
                ]
            )
    headings = ["", "points", *(f"cheapest: {way}" for way in ways[:3]), *(f"settled: {way}" for way in ways)]
    return table([*headings, "ladder ÷ cheapest", "wrong"], rows)


def selection(result: Result) -> str:
    rows = []
    for method, row in result["table"].items():
        theirs = result["paper"].get(method)
        rows.append(
            [
                method,
                f"{row['mean_normalized_regret']:.4f} [{row['interval']['low']:.4f}, {row['interval']['high']:.4f}]",
                f"{row['exact']} / {row['tolerant']} / {row['top2']} of {row['routes']}",
                f"tolerant {theirs['tolerant']}, top two {theirs['top2']} of {theirs['routes']}" if theirs else "",
            ]
        )
    groups, both = list(next(iter(result["groups"].values()))), result["on_the_same"]
    by_group = [[method, *(f"{of[g]:.4f}" for g in groups)] for method, of in result["groups"].items()]
    return (
        table(["method", "mean normalized regret", "exact / tolerant / top two", "paper"], rows)
        + "\n\nMean normalized regret by equation and architecture:\n\n"
        + table(["method", *map(titled, groups)], by_group)
        + f"\n\nOne response per candidate was asked of the first {both['panels']} panels of every library: it chooses as "
        f"the shared response does in {both['same_choice']} of {both['candidate-wise']['routes']} (mean normalized regret "
        f"{both['candidate-wise']['mean_normalized_regret']:.4f}, shared "
        f"{both['shared, medoid anchor']['mean_normalized_regret']:.4f} on the same panels)."
        + "\n\n"
        + _by_library(result["cells"])
    )


def _by_library(cells: Result) -> str:
    """Of every library and some methods, the regret of its choices and how many of them are among the two best."""
    shown = ("shared, medoid anchor", "candidate-wise", "raw", "validation")
    rows = [
        [
            name,
            *(
                f"{cells[m][name]['mean_normalized_regret']:.4f}, {cells[m][name]['top2']}/{cells[m][name]['routes']}"
                for m in shown
            ),
        ]
        for name in cells["raw"]
    ]
    return table(["library: mean normalized regret, top two", *shown], rows)


def quality(result: Result) -> str:
    rows = [
        [
            titled(name),
            budget,
            f"{row['validation']['best']:.4f}–{row['validation']['worst']:.4f}",
            f"{row['median_best']:.2e}",
            f"{row['span_over_best']:.2g} (paper {result['paper'][name]['span_over_best']:.2g})",
            f"{row['tie_share']:.1%}",
            *(pairs(row["methods"][m]) for m in ("shared", "raw", "validation")),
        ]
        for name, of in result["table"].items()
        for budget, row in of.items()
    ]
    headings = [
        "",
        "budget",
        "validation error",
        "median best loss",
        "span ÷ best",
        "ties",
        "shared: pairs",
        "raw",
        "validation",
    ]
    return table(headings, rows)


STUDIES = {f.__name__: f for f in (mechanism, resolution, beyond, phase, selection, quality)}
