"""The code on the pages of certificates runs as it stands, with what each page leaves to its reader."""

import re
from pathlib import Path

import jax.numpy as jnp
import numpy as np
import pytest

import physrank as pr

PAGES = Path(__file__).parents[2] / "docs" / "certificates"
CELLS = 6
POINTS = np.linspace(0, 1, CELLS)


@pytest.fixture
def promotion():
    return "standard"  # as users have it


def quadratic(u):
    return u + 0.1 * u**2 - jnp.asarray(POINTS)


def stiffness(z):
    return 2 * z - jnp.pad(z[1:], (0, 1)) - jnp.pad(z[:-1], (1, 0))


def monotone(u):
    return stiffness(u) + 0.5 * u + 0.2 * u**3 - jnp.asarray(POINTS)


def around(problem, size=1e-3, **options):
    """The problem and a ranking of states near its solution."""
    shape = problem.state_shape if isinstance(problem, pr.equations.Burgers) else (CELLS,)
    state, failed = pr.scorers.DirectSolve().solution(problem, shape)
    assert failed is None
    wave = np.cos(np.arange(state.shape[-1]))
    return {"problem": problem, "ranking": pr.rank(problem, [state + k * size * wave for k in (1, 3)], **options)}


def of_burgers():
    problem = pr.equations.Burgers(np.sin, 0.1, np.linspace(0, 0.2, 5), points=16, substeps=4)
    return around(problem, effort="response")


# page → what it speaks of
READER = {
    "newton": lambda: around(pr.Stationary(quadratic), corrections=2),
    "own": lambda: {"f": POINTS, "predictions": {"a": 0.8 * POINTS, "b": 0.5 * POINTS}},
    "reaction_diffusion": lambda: {
        **around(pr.Stationary(monotone), corrections=2),
        "stiffness": stiffness,
        "lam": 0.5,
        "gam": 0.2,
        "smallest_eigenvalue": 2 - 2 * np.cos(np.pi / (CELLS + 1)),
    },
    "burgers": of_burgers,
}


def blocks(page):
    return re.findall(r"```python\n(.*?)```", (PAGES / f"{page}.md").read_text(encoding="utf-8"), re.DOTALL)


@pytest.mark.parametrize("page", READER)
def test_the_page_runs_as_it_stands(page, capsys):
    known = {"pr": pr, "np": np} | READER[page]()
    (code,) = blocks(page)[:1]
    exec(compile(code, f"{page}.md", "exec"), known)
    match page:
        case "own":
            assert "validated" in capsys.readouterr().out
        case "burgers":
            assert 0 < known["enclosure"].state_bound < 1 and known["enclosure"].gaps.signs[0, 1] == 1
        case "reaction_diffusion":
            assert known["certificate"].settled


def test_no_page_is_left_out():
    """The index is tried with README; what is certified for functions takes long, and is tried in a test of its own."""
    shown = {path.stem for path in PAGES.glob("*.md") if blocks(path.stem)}
    assert shown == {*READER, "index", "reaction_diffusion_continuum", "reaction_diffusion_rough"}
