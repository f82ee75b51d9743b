"""The `physrank` command: the only room that sees instrument and laboratory alike."""

import importlib
import sys

from physrank.cli import interrupts


def app(*arguments: object, **options: object) -> None:
    """The program of this process. It hears Ctrl-C from its first import to its end."""
    with interrupts.heard():
        sys.exit(importlib.import_module("physrank.cli.program").app(*arguments, **options))
