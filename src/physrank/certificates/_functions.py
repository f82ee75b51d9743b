"""What a proof is given that is not ours: whether methods and grids can be used, and what functions say."""

from dataclasses import MISSING, fields, is_dataclass
from typing import Any

import numpy as np

from physrank.certificates.enclosures.programs import read
from physrank.certificates.ranked import Ranked
from physrank.geometry import Grid
from physrank.physics import Problem, capabilities


def check_method(by: Any) -> None:
    """Whether `by` is a method, ready to be used."""
    if isinstance(by, type):
        given = [f for f in fields(by) if f.init] if is_dataclass(by) else []
        needed = [f.name for f in given if f.default is MISSING and f.default_factory is MISSING]
        made = f"{by.__name__}({', '.join(f'{name}=…' for name in needed)})"
        raise ValueError(f"by must be a method, not its class: write by={made} instead of by={by.__name__}.")
    if by is not None and not callable(by):
        raise ValueError(f"by must be a method such as physrank.certificates.EnclosedZero(); got {by!r}.")


def own_grid(problem: Problem) -> Grid:
    """Of a problem of one's own, whose grid tells where its boundary is."""
    grid = capabilities.grid(problem)
    if grid is None or grid.layout != "nodes":
        raise ValueError("A problem of your own needs grid=Grid.nodes(shape, lengths), boundary nodes included.")
    return grid


def said_by(problem: Problem, ranking: Ranked, method: Any) -> tuple[str, str]:
    """What functions that are not ours say, read twice: one that answers differently each time states no problem, and one
    that says something else than when it was compiled is compiled anew. What runs on the host is not read."""
    found: list[tuple[Any, ...]] = []
    if not getattr(problem, "host", False) and not type(problem).__module__.startswith("physrank.equations"):
        found.append((_defect, problem))
    if not ranking.task.selects:
        found.append((lambda at: ranking.task.map(at),))
    if (metric := getattr(method, "metric", None)) is not None:
        found.append((lambda at: metric(at)(at),))
    if callable(coercivity := getattr(method, "coercivity", None)):
        found.append((lambda at: coercivity(at),))
    first, again = (" ".join(read(*of, np.asarray(ranking.state)) for of in found) for _ in range(2))
    return first, again


def _defect(problem: Problem, state: Any) -> Any:
    return problem.defect(state)
