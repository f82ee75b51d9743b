"""When to stop correcting: rules that judge a ranking and say whether a decision is still open."""

from collections.abc import Callable
from typing import Any, Protocol, cast

from physrank.physics import Problem
from physrank.ranking.result import Ranking


class Verdict(Protocol):
    """What a rule returns: at least whether nothing is open. A certificate is one."""

    @property
    def settled(self) -> bool: ...


Rule = Callable[[Problem, Ranking], Verdict]

# Rules by name. Certificates come after rankings in the order of imports, so they enter their rule here themselves.
NAMED: dict[str, Rule] = {}


def resolve(rule: Any) -> Rule:
    """A rule, or the name of one."""
    if isinstance(rule, str) and rule in NAMED:
        return NAMED[rule]
    if callable(rule):
        return cast(Rule, rule)
    names = ", ".join(repr(name) for name in NAMED)
    raise ValueError(f"until must be {names} or a rule such as physrank.certificates.until(...); got {rule!r}.")
