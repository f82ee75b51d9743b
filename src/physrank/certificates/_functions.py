"""What the functions that a proof rests on say, where they are not ours."""

from typing import Any

import numpy as np

from physrank.certificates.enclosures.programs import read
from physrank.certificates.ranked import Ranked
from physrank.physics import Problem


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
