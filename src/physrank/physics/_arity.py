"""A check that a user's function can be called the way a problem will call it."""

import inspect
from collections.abc import Callable
from typing import Any


def check_call(what: str, function: Any, arguments: tuple[str, ...], hint: str) -> None:
    """Raise a ValueError that shows the call, if `function` cannot take that many arguments."""
    call = f"{what}({', '.join(arguments)})"
    if not isinstance(function, Callable):
        raise ValueError(f"{what} must be a function, called as {call}; got {function!r:.60}.")
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):  # built-ins without a signature
        return
    try:
        signature.bind(*arguments)
    except TypeError:
        raise ValueError(f"{what} will be called as {call}, but its signature is {signature}. {hint}") from None
