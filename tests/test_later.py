"""A field given as a function is asked once, and only when somebody asks."""

from dataclasses import dataclass, replace
from typing import Any

from physrank._later import WhenAsked


@dataclass(frozen=True)
class Found:
    name: str
    doubt: Any = WhenAsked()  # noqa: RUF009


def test_what_nobody_asks_for_is_not_computed():
    asked = []
    found = Found("a", lambda: asked.append(1) or 7)
    assert not asked
    assert found.doubt == 7 and found.doubt == 7 and len(asked) == 1
    assert replace(found, name="b").doubt == 7 and len(asked) == 1


def test_values_and_nothing_are_what_they_are():
    assert Found("a").doubt is None and Found("a", 3).doubt == 3
