"""Sixteen candidates: the two ensembles of one equation and architecture in turn."""

from typing import Any

from physrank.geometry.space import Array
from physrank.lab.libraries import GROUPS, Library
from physrank.lab.studies._kit.cases import Context, problems_and_candidates

Case = tuple[Any, dict[str, Array]]


def pools() -> list[tuple[Library, Library]]:
    """The two ensembles of each equation and architecture."""
    primary = GROUPS["primary"]
    return [(primary[k], primary[k + 1]) for k in range(0, len(primary), 2)]


def interleaved(context: Context, pool: tuple[Library, Library], count: int) -> list[Case]:
    """The cases of both with their candidates in turn; the problems are those of the first."""
    both = [list(problems_and_candidates(context, library, "evaluation", limit=count)) for library in pool]
    cases = []
    for (problem, first), (_, second) in zip(*both, strict=True):
        merged: dict[str, Array] = {}
        for (name_a, a), (name_b, b) in zip(first.items(), second.items(), strict=True):
            merged |= {f"{pool[0].member}-{name_a}": a, f"{pool[1].member}-{name_b}": b}
        cases.append((problem, merged))
    return cases
