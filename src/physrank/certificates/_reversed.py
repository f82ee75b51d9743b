"""What is proved the other way round than a ranking has it, in words: the two may be about different targets."""

SHOWN = 3  # pairs that are named
RANKED = "the solution on the problem's own grid, as far as the proxy has it"  # what a ranking's order is about


def in_words(pairs: list[tuple[str, str]], best: str | None, first: str, target: str) -> str:
    """Pairs (better, worse), the proved winner's before others; whether it takes the place of the ranking's `first`."""
    ordered = sorted(pairs, key=lambda pair: pair[0] != best)
    shown = ", ".join(f"{better!r} is better than {worse!r}" for better, worse in ordered[:SHOWN])
    more = f" (and {len(pairs) - SHOWN} more)" if len(pairs) > SHOWN else ""
    winner = f"; {best!r} is the best candidate, not the ranking's {first!r}" if best not in (None, first) else ""
    return (
        f"THE OTHER WAY ROUND than the ranking: {shown}{more}{winner}. This is proved against {target}; the ranking is about "
        f"{RANKED}."
    )
