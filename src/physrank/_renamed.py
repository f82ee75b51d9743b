"""Names that changed: for one version the old one raises and says the new one."""

from collections.abc import Callable, Mapping
from difflib import get_close_matches
from typing import Any


def moved(module: str, names: Mapping[str, str]) -> Callable[[str], Any]:
    """A module's `__getattr__` that knows what its former names are called now."""

    def __getattr__(name: str) -> Any:
        if name in names:
            raise AttributeError(f"{module}.{name} is now {names[name]}.")
        raise AttributeError(f"module {module!r} has no attribute {name!r}")

    return __getattr__


def refuse_keywords(what: str, given: Mapping[str, Any], known: tuple[str, ...], names: Mapping[str, str]) -> None:
    """Raise for keywords that are not known, with the new name or the nearest one."""
    for name in given:
        if name in names:
            raise TypeError(f"{what}: {name}= is now {names[name]}.")
        near = get_close_matches(name, known, 1)
        hint = f" Did you mean {near[0]}=?" if near else f" Expected some of {', '.join(known)}."
        raise TypeError(f"{what} has no argument {name}=.{hint}")
