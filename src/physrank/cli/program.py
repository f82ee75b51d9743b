"""All commands, in the order of `--help`.

Help must come at once, so nothing here imports JAX, SciPy or the laboratory: they load when a command uses them.
"""

from physrank.cli import rank, check, select, certify, advise, report, init, lab  # isort: skip
from physrank.cli.door import app

__all__ = ["advise", "app", "certify", "check", "init", "lab", "rank", "report", "select"]
