"""Sentences with numbers, from the stored results: what a page says beside its tables cannot go stale."""

import math
from collections.abc import Mapping
from typing import Any

from render_studies import titled

from physrank.lab.studies.quality import PAPER as QUALITY

Result = dict[str, Any]
FORMER_LAW = (
    "a4e695012695"  # studies of this commit were measured before the forcing changed; later ones carry a fingerprint
)


def missed(row: Result) -> int:
    return row["pairs"] - row["pairs_correct"]


def of_pairs(row: Result) -> float:
    return row["pairs_correct"] / row["pairs"]


def law(results: Mapping[str, Result]) -> str:
    """Under which forcing law each stored study was measured."""
    former = [name for name, result in results.items() if result["provenance"]["commit"] == FORMER_LAW]
    said = (
        "The forcing of reaction–diffusion inputs was changed to an orthonormal basis ([Laboratory](laboratory.md)). "
    )
    if not former:
        return said + "All studies below are measured with libraries trained under that law."
    return (
        said
        + f"All studies below are measured with libraries trained under that law, but for {' and '.join(former)}: these "
        "still stand as measured under the former one, with forcing half as large, and their reaction–diffusion rows will "
        "change when they are measured anew."
    )


def primary(result: Result) -> str:
    shared, lowest = result["pooled"]["shared"], result["deciles"]["shared"]
    by = {name: missed(rows["shared"]) for name, rows in result["by_equation"].items()}
    where = ", ".join(f"{count} of {name.replace('_', '–')}" for name, count in by.items() if count)
    share = {m: of_pairs(row) for m, row in result["pooled"].items()}
    paper = result["paper"]
    ratios = result.get("validation_loss_ratio", {}).values()
    least, most = QUALITY["validation_ratio"]
    spread = (
        f" Within a library the largest validation error is {min(ratios):.2g} to {max(ratios):.2g} times the smallest "
        f"(paper: {least} to {most} times)."
        if ratios
        else ""
    )
    spans = {name: result["direct_use_of_q"][f"{name}_median_loss"] for name in result["by_equation"]}
    apart = "; ".join(
        f"{name.replace('_', '–')} {row['span'] / row['best_candidate']:.2g} (paper {QUALITY[name]['span_over_best']:.2g})"
        for name, row in spans.items()
    )
    spread += f" From the best to the worst candidate losses span, in medians and over the best loss: {apart}."
    return (
        f"The shared response misses {missed(shared)} pairs ({where}); {lowest['total'][0] - lowest['correct'][0]} of "
        f"them are in "
        f"the tenth with the smallest margins. Validation loss finds {share['validation']:.0%} of the pairs (paper "
        f"{paper['validation']['pairs']:.0%}), a wrong input's response {share['wrong input']:.0%} (paper "
        f"{paper['wrong input']['pairs']:.0%}), the reversed one {share['reversed']:.0%} (paper "
        f"{paper['reversed']['pairs']:.0%}).{spread}"
    )


def additional(result: Result) -> str:
    ways = (result["pooled"][anchor]["shared"] for anchor in ("medoid", "mean"))
    counts = [row["strict_correct"] for row in ways]
    apart, whole = abs(counts[0] - counts[1]), result["pooled"]["mean"]["shared"]["pairs_all"]
    order = result.get("anchors_apart")  # results of before do not have it
    otherwise = f", and order {order['pairs']} pairs otherwise" if order else ""
    open_ = result.get("unresolved")
    undecided = (
        f" The reference cannot decide {open_['pairs']} pairs and {open_['top1']} winners, which count as errors."
        if open_
        else ""
    )
    gained = result["hierarchical"]["shared − raw"]
    rows = [f"{what} {_points(gained[key])}" for key, what in (("pairs", "pairs"), ("top1", "top-1"))]
    return (
        f"Shared less raw, in points, libraries weighted alike: {'; '.join(rows)}. The two anchors are {apart} correct "
        f"pairs in {whole:,} apart{otherwise}.{undecided}"
    )


def _points(row: Result) -> str:
    return f"{100 * row['estimate']:.1f} [{100 * row['low']:.1f}, {100 * row['high']:.1f}]"


def composition(result: Result) -> str:
    cells = result["cells"]
    ratios = [cell["outlier_loss_ratio"] for cell in cells.values()]
    only = [
        row["strict_correct"] / row["pairs_all"]
        for name, row in result["pooled"].items()
        if name.startswith("candidates only")
    ]
    worst = min(cells, key=lambda name: cells[name]["eight, mean anchor"]["strict_correct"])
    mean, medoid = (_strictly(cells[worst][f"eight, {anchor} anchor"]) for anchor in ("mean", "medoid"))
    return (
        f"Measured with {len(cells)} libraries. In the median of inputs the best candidate of the outlying run has "
        f"{min(ratios):.0f} to {max(ratios):.0f} times the loss of the best of the others, depending on the library. "
        f"With the mean as anchor the worst library is {worst}: {mean}; with the medoid, there, {medoid} (the paper's "
        "affected library: 72.98% of pairs and 67 of 240 winners, all with the medoid). What looks only at the candidates "
        f"finds {min(only):.0%} to {max(only):.0%} of the pairs."
    )


def _strictly(row: Result) -> str:
    return f"{row['strict_correct'] / row['pairs_all']:.2%} of strict pairs and {row['top1_exact']} of {row['cases']} winners"


def variational(result: Result) -> str:
    energy, adapted = (result["pooled"][name] for name in ("common energy", "adapted majorant"))
    native, again = (missed(rows["shared"]) for rows in result["by_realization"].values())
    apart = abs(energy["pairs_correct"] - adapted["pairs_correct"])
    return (
        f"The adapted majorant and the common energy are {apart} correct pairs in {energy['pairs']:,} apart. The "
        f"shared response "
        f"misses {native} pairs of transferred states and {again} where networks run on the comparison grid, which "
        f"they were not "
        "trained for."
    )


def panels(result: Result) -> str:
    regret = {size: row["mean_normalized_regret"] for size, row in result["table"]["shared"].items()}
    least = min(regret, key=regret.__getitem__)
    raw = [row["mean_normalized_regret"] for row in result["table"]["raw"].values()]
    first, last = next(iter(regret)), list(regret)[-1]
    return (
        f"Mean normalized regret goes from {regret[first]:.3f} with {first} inputs to {regret[least]:.3f} with "
        f"{least}, not "
        f"monotonically ({regret[last]:.3f} with {last}); that of the raw residual stays between {min(raw):.2f} and "
        f"{max(raw):.2f}."
    )


def direct(result: Result) -> str:
    said = []
    for equation, rows in result["table"].items():
        one, two = rows["shared"], rows["shared, 2 corrections"]
        said.append(f"{titled(equation)}: one correction misses {missed(one)} pairs, two miss {missed(two)}")
    return "; ".join(said).capitalize() + "."


def certificates(result: Result) -> str:
    same, burgers = result["all"]["reaction_diffusion"], result["all"]["burgers"]
    tight, resolved = same[0]["within_a_thousandth"]
    opened = [row["non_ties"] - row["non_ties_certified"] for row in burgers]
    steps = ", ".join(f"{left} after {row['corrections']}" for left, row in zip(opened, burgers, strict=True))
    wave = result["energies"]["sine_gordon, continuum"][-1]
    return (
        f"Reaction–diffusion, all inputs, one correction: {same[0]['pairs'] - same[0]['certified']} of "
        f"{same[0]['pairs']:,} pairs "
        f"are left open, {same[0]['non_ties'] - same[0]['non_ties_certified']} of them no ties; the bound of the "
        f"state exceeds its "
        f"error by more than a thousandth on {resolved - tight} of {resolved} cases. Burgers, non-tie pairs left "
        f"open: {steps}. "
        f"Sine–Gordon against the continuum: {wave['non_ties'] - wave['non_ties_certified']} pairs stay open, however "
        f"often "
        "corrected."
    )


def race(result: Result) -> str:
    size = str(result["sizes"][-1])
    five, exact = result["table"][size]["0.05"], result["table"][size]["0"]
    inputs = sorted(row["inputs"] for row in result["by_library"].values())
    short = result["table"][str(result["sizes"][0])]
    return (
        f"The whole population of {size} inputs is decided up to 5 % of its score with {five['inputs']:.0%} of the "
        f"inputs and "
        f"{five['inference']:.0%} of the inference, rightly in {five['within_tolerance']} of {five['races']} races; "
        f"exactly with "
        f"{exact['inputs']:.0%} and {exact['inference']:.0%}. These are means over libraries: for 5 % they need "
        f"{inputs[0]:.0%} to "
        f"{inputs[-1]:.0%} of the inputs. Short panels save less: of {result['sizes'][0]} inputs "
        f"{short['0']['inputs']:.0%} are "
        f"read for the exact choice, {short['0.1']['inputs']:.0%} for 10 %."
    )


def quality(result: Result) -> str:
    """Does training explain why our candidates are farther apart than the paper's?"""
    said = []
    for name, rows in result["table"].items():
        usual, better, theirs = rows["usual"], rows["paper's budget"], result["paper"][name]["span_over_best"]
        spans = [row["span_over_best"] for row in (usual, better)]
        nearer = abs(math.log(spans[1] / theirs)) < abs(math.log(spans[0] / theirs))
        ratios = [row["validation"]["ratio"] for row in (usual, better)]
        said.append(
            f"{titled(name)}: with the larger budget the best validation error falls from "
            f"{usual['validation']['best']:.4f} to {better['validation']['best']:.4f}, and losses span {spans[1]:.2g} "
            f"times the best one, {spans[0]:.2g} with the usual budget, {theirs:.2g} in the paper: training "
            f"{'explains some' if nearer else 'does not explain any'} of the difference. Validation errors differ by a "
            f"factor of {ratios[1]:.2g} within the library, {ratios[0]:.2g} before; ties are {better['tie_share']:.1%} of "
            f"pairs, {usual['tie_share']:.1%} before."
        )
    least, most = result["paper"]["validation_ratio"]
    return " ".join(said) + (
        f" In the paper validation errors differ by factors of {least} to {most}, and "
        f"{result['paper']['tie_share']['all']:.1%} of pairs are ties."
    )


WORDS = {
    f.__name__: f for f in (primary, additional, composition, variational, panels, direct, certificates, race, quality)
}


def figures(index: Mapping[str, Result]) -> str:
    """Every figure with caption, source and command; what cannot be drawn yet, and what it waits for."""
    parts = []
    for name, row in index.items():
        parts.append(f"## {row['paper']}: {row['title']}\n")
        if row["drawn"]:
            parts.append(f"![{row['title']}](assets/figures/{name}.png)\n")
        parts.append(f"{row['caption']}\n")
        sources = ", ".join(f"`results/{path}`" for path in row["drawn_from"])
        waits = (
            f"{'To be drawn anew after' if row['drawn'] else '*Not drawn: it waits for'} {', '.join(row['waits_for'])}"
        )
        said = [f"From {sources} by `physrank figures`." if row["drawn"] else "", waits if row["waits_for"] else ""]
        parts.append("<sub>" + " ".join(part for part in said if part) + ("" if row["drawn"] else "*") + "</sub>\n")
    return "\n".join(parts).rstrip()
