"""A field of a dataclass that may be given as a function without arguments: it is called when somebody asks."""

from typing import Any


class WhenAsked:
    """Descriptor of such a field; None where nothing is given."""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = f"_{name}"

    def __get__(self, instance: Any, owner: type) -> Any:
        if instance is None:
            return None  # the default
        value = vars(instance)[self.name]
        if callable(value):
            value = vars(instance)[self.name] = value()
        return value

    def __set__(self, instance: Any, value: Any) -> None:
        vars(instance)[self.name] = value
