"""Files as users have them: predictions of two inputs in PDEBench's layout, and a way to run the command on them."""

from dataclasses import dataclass

import numpy as np
import pytest
from typer.testing import CliRunner

import physrank as pr
from physrank.cli.program import app
from predictions import ERRORS, FIRST, FRAMES, TIMES, smooth, store


@pytest.fixture
def promotion():
    return "standard"  # as users have it


@dataclass(frozen=True)
class Run:
    code: int
    out: str
    err: str


@pytest.fixture
def physrank():
    """`physrank("rank", "a.h5", …)`, in this process."""

    def run(*arguments):
        found = CliRunner().invoke(app, [str(a) for a in arguments])
        if found.exception is not None and not isinstance(found.exception, SystemExit):
            raise found.exception
        return Run(found.exit_code, found.stdout, found.stderr)

    return run


@pytest.fixture(scope="session")
def solved():
    """(sample, time, 2, x, y): solutions of two inputs."""
    rng = np.random.default_rng(3)
    found = []
    for _ in range(2):
        problem = pr.equations.DiffusionReaction(np.stack([smooth(rng), smooth(rng)]), TIMES)
        state, failed = pr.scorers.DirectSolve().solution(problem, problem.state_shape)
        assert failed is None
        found.append(state)
    return np.stack(found)


@pytest.fixture(scope="session")
def predictions(solved, tmp_path_factory):
    """A folder with fno.h5, cno.h5, unet.h5, from best to worst, and truth.h5."""
    folder, rng = tmp_path_factory.mktemp("predictions"), np.random.default_rng(4)
    growing = np.maximum(np.arange(FRAMES) - FIRST, 0) / (FRAMES - 1)
    shape = np.stack([smooth(rng), smooth(rng)])
    for name, size in ERRORS.items():
        store(folder / f"{name}.h5", solved + size * growing[:, None, None, None] * shape)
    store(folder / "truth.h5", solved)
    return folder


@pytest.fixture
def here(predictions, monkeypatch):
    """The folder of predictions, as where the command runs."""
    monkeypatch.chdir(predictions)
    return predictions
