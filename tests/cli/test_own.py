"""An equation of one's own from a Python file on the line."""

import json

import numpy as np
import pytest

PDE = """
import jax.numpy as jnp
import physrank as pr

def step(u, rate):
    return u - rate * u**3

def problem_of(initial, rate, power: float = 3.0):
    return pr.Marching(step, initial, data=jnp.asarray(rate))

def stationary(shape, level):
    return pr.Stationary(lambda u, level: u**3 - level, level)

def wrong(initial):
    return 1 / 0

def nothing(initial):
    return None
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my_pde.py").write_text(PDE)
    (tmp_path / "broken.py").write_text("x = 1\ny = = 2\n")
    rows = [np.linspace(1, 2, 5)]
    for _ in range(3):
        rows.append(rows[-1] - 0.1 * rows[-1] ** 3)
    for name, size in (("near", 1e-3), ("far", 1e-2)):
        np.save(tmp_path / f"{name}.npy", np.array(rows) + size * np.arange(4)[:, None])
    return tmp_path


def test_a_march_of_ones_own(folder, physrank):
    run = physrank(
        "rank", "far.npy", "near.npy", "--python", "my_pde.py:problem_of", "--set", "rate=0.1", "--json", "-"
    )
    assert run.code == 0
    assert json.loads(run.out)["order"] == ["near", "far"]
    assert "rate = 0.1 (--set rate)" in run.err
    later = physrank(
        "rank", "far.npy", "near.npy", "--python", "my_pde.py:stationary", "--set", "level=1.5", "--task", "field"
    )
    assert "Stationary" in later.out


@pytest.mark.parametrize(
    "named, more, said",
    [
        ("my_pde.py", [], "FILE.py:FUNCTION"),
        ("no.py:problem_of", [], "there is no file no.py"),
        ("my_pde.py:problem", [], "Did you mean 'problem_of'?"),
        ("my_pde.py:problem_of", [], "wants rate"),
        ("my_pde.py:problem_of", ["--set", "rat=0.1"], "Did you mean 'rate'?"),
        ("my_pde.py:wrong", [], "my_pde.py, line 15: ZeroDivisionError"),
        ("my_pde.py:nothing", [], "returned None"),
        ("broken.py:f", [], "broken.py, line 2: SyntaxError"),
    ],
)
def test_what_is_wrong_is_said(folder, physrank, named, more, said):
    run = physrank("rank", "near.npy", "--python", named, *more)
    assert run.code == 2
    assert said in run.err
