"""Progress on a terminal: what it says while a program is compiled."""

import io

import jax.numpy as jnp
import numpy as np
from rich.console import Console

from physrank import compute
from physrank.cli import progress


def _twice(x):
    return 2 * jnp.sin(x)


def test_compiling_is_said_once_and_then_the_work_itself(monkeypatch):
    said = []

    class Status:
        def __enter__(self):
            return self

        def __exit__(self, *_):
            return None

        def update(self, text):
            said.append(text)

    terminal = Console(file=io.StringIO(), force_terminal=True)
    monkeypatch.setattr(terminal, "status", lambda text: said.append(text) or Status())
    monkeypatch.setattr(progress, "errors", terminal)
    with progress.working("ranking"):
        compute.run(_twice, np.ones(3))
        compute.run(_twice, np.zeros(3))
    assert said[0] == "ranking …" and "compiling" in said[1]
    assert said[2:] == ["ranking …"] * 2
    compute.run(_twice, np.ones(4))  # compiled again, and nobody listens any more
    assert len(said) == 4
