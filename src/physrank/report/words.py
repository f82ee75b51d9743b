"""A ranking's dictionary in words, as a terminal shows it."""

from typing import Any

APART = 6  # pairs of candidates apart from each other that are named


def headline(result: dict[str, Any]) -> str:
    """The verdict in a few words. "Trust" is said only of what is settled."""
    if result["unresolved"]:
        return "Unresolved"
    order = result["order"]
    if len(order) == 1:
        return order[0]
    if result["best_settled"]:
        return f"Trust {order[0]}"
    groups = [*result["open_groups"], *result["open_apart"]]
    group = next((g for g in groups if order[0] in g), order)
    shown = ", ".join(group[:3]) + (" …" if len(group) > 3 else "")
    return f"Not settled between {shown}"


def standing(result: dict[str, Any]) -> str:
    """What is settled and what is not, as a sentence."""
    if result["unresolved"]:
        return f"UNRESOLVED: {result['unresolved']}"
    if len(result["order"]) == 1:
        return "one candidate: nothing to settle"
    if result["settled"] and result["decide"] == "order":
        return "settled: the whole order"
    said = f"settled: {result['order'][0]} is best" if result["best_settled"] else "the best candidate is not settled"
    order, apart = result["order"], result["open_apart"]
    groups = [_group(group, order) for group in result["open_groups"]] + [_pair(pair, order) for pair in apart[:APART]]
    groups += [f"and {len(apart) - APART} pairs more"] if len(apart) > APART else []
    return said + (f"; not settled between them: {', '.join(groups)}" if groups else "")


def _group(group: list[str], order: list[str]) -> str:
    """2–4 (fno, cno, unet): neighbours by their places."""
    first = order.index(group[0]) + 1
    return f"{first}–{first + len(group) - 1} ({', '.join(group)})"


def _pair(pair: list[str], order: list[str]) -> str:
    """1 and 4 (fno, unet): two that are settled against one of those between them, and not against each other."""
    return " and ".join(str(order.index(name) + 1) for name in pair) + f" ({', '.join(pair)})"


def estimate(entry: dict[str, Any], reach: float | None) -> str:
    """0.36 ± 0.01 (31 %)."""
    share = entry["relative_error"]
    spread = "" if reach is None else f" ± {reach:.2g}"
    return f"{entry['error_estimate']:.4g}{spread}" + ("" if share is None else f" ({share:.2g} of the solution)")


def in_words(result: dict[str, Any]) -> str:
    """Verdict, candidates best to worst, doubts and notes."""
    lines = [
        f"{result['method']}: {about(result)}" + _step(result),
        standing(result),
    ]
    candidates = result["candidates"]
    scored = [name for name, entry in candidates.items() if entry["score"] is not None]
    if not result["unresolved"]:  # scores of tiny numbers underflow; decisions are made before
        scored.sort(key=result["order"].index)
    else:
        scored.sort(key=lambda name: candidates[name]["score"])
    width = max(map(len, candidates))
    for place, name in enumerate(scored, start=1):
        mark = "  ?" if result["unresolved"] else f"{place:3d}"
        shown = estimate(candidates[name], result["error_uncertainty"])
        lines.append(f"{mark}  {name:<{width}}  estimated error {shown}")
    lines += [f"  –  {name:<{width}}  excluded: {e['excluded']}" for name, e in candidates.items() if e["excluded"]]
    if not result["unresolved"]:
        lines += [f"doubt: {doubt}" for doubt in result["doubts"]]
    lines += [f"note: {note}" for note in result["notes"]]
    lines += [f"effort: {climbed(result)}"] if len(result["effort"]) > 1 else []
    return "\n".join(lines + ([f"holds for: {stated}, as stated"] if (stated := result.get("stated")) else []))


def about(result: dict[str, Any]) -> str:
    """Equation, task, metric; anchor and corrections where there were any."""
    how = "" if result["correction"] is None else f", anchor {result['anchor']}, {result['correction']}"
    return f"{result['equation']}, task {result['task']} ({result['metric']}){how}"


def climbed(result: dict[str, Any], timed: bool = False) -> str:
    """The way up: grid of 48 × 48 → grid of 48 × 96 (0 open) → …"""
    steps = [
        step["rung"]
        + (f" in {duration(step['seconds'])}" if timed and step["seconds"] else "")
        + ("" if step["open_pairs"] is None else f" ({step['open_pairs']} open)")
        for step in result["effort"]
    ]
    return " → ".join(steps)


def duration(seconds: float) -> str:
    return f"{seconds:.1f} s" if seconds >= 1 else f"{1e3 * seconds:.3g} ms"


def _step(result: dict[str, Any]) -> str:
    return f", step {result['response']['step']:g} taken" if "backtracking" in (result["correction"] or "") else ""
