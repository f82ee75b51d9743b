"""Names and values as people type them: the nearest valid one where a name is not known."""

import math
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from typing import Any

Value = float | int | str | tuple[float, ...]


def unknown(what: str, name: str, known: Iterable[str]) -> ValueError:
    """There is no such name: an error with the nearest one and the others."""
    names = sorted(known)
    return ValueError(
        f"{what} {name!r} is not known.{meant(name, names)} Expected one of: {', '.join(names) or 'none'}."
    )


def meant(name: str, names: Sequence[str]) -> str:
    """The nearest of some names, as a question; nothing where none is near."""
    near = get_close_matches(name, names, 1)
    return f" Did you mean {near[0]!r}?" if near else ""


def pairs(option: str, given: Sequence[str] | None) -> dict[str, str]:
    """NAME=VALUE, each name once."""
    found: dict[str, str] = {}
    for text in given or ():
        name, sign, value = text.partition("=")
        name = name.strip().replace("-", "_")
        if not (sign and name and value.strip()):
            raise ValueError(f"{option} {text!r}: expected NAME=VALUE, such as {option} viscosity=0.01.")
        if name in found:
            raise ValueError(f"{option} {name} is given twice: {found[name]} and {value}.")
        found[name] = value.strip()
    return found


def value_of(text: str) -> Value:
    """A number, several with commas between, or else the word itself."""
    parts = [_number(part) for part in text.split(",")]
    if any(part is None for part in parts):
        return text
    found = tuple(part for part in parts if part is not None)
    return found[0] if len(found) == 1 else found


def _number(text: str) -> float | int | None:
    try:
        return int(text) if text.strip().lstrip("+-").isdecimal() else float(text)
    except ValueError:
        return None


def number_of(option: str, text: str) -> float:
    value = value_of(text)
    if not isinstance(value, float | int) or not math.isfinite(value):
        raise ValueError(f"{option}={text}: expected a number.")
    return float(value)


def plain(value: Any) -> bool:
    """What a problem file may hold as a value: a number, a word, or a list of numbers."""
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return number or isinstance(value, str) or (isinstance(value, list) and bool(value) and all(map(plain, value)))
