"""Solve or rank: what measured numbers say about solving the equation instead of ranking its candidates."""

from collections.abc import Mapping

Measured = tuple[int, float]  # pairs decided correctly, seconds per input


def solve_or_rank(ranked: Measured, solves: Mapping[str, Measured]) -> str:
    """One sentence: the cheapest direct solve that is no more expensive than ranking and recovers no fewer pairs, if any."""
    pairs, seconds = ranked
    rivals = {name: cost for name, (found, cost) in solves.items() if found >= pairs and cost <= seconds}
    if not rivals:
        return "Rank: no direct solve in the table is both cheaper and as accurate."
    name = min(rivals, key=lambda solve: rivals[solve])
    ratio = seconds / rivals[name]
    return f"Solve: {name} is {ratio:.1f} times cheaper than ranking and recovers no fewer pairs."
