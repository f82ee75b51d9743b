"""The examples run, and what they find is pinned."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest


@pytest.fixture
def promotion():
    return "standard"  # as users have it


EXAMPLES = Path(__file__).parent.parent / "examples"


def load(name):
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_own_stationary_problem():
    ranking = load("own_stationary").ranking
    assert ranking.order == ["close", "steep", "flat"]
    # Bratu with λ = 2 has the closed-form lower branch u = 2 ln(cosh θ / cosh(θ(1 − 2x))), θ = cosh(θ)/2.
    theta = 0.5
    for _ in range(200):
        theta = np.cosh(theta) / 2
    x = np.linspace(0, 1, 41)
    exact = 2 * np.log(np.cosh(theta) / np.cosh(theta * (1 - 2 * x)))
    assert np.abs(ranking.state - exact).max() < 2e-3


def test_own_stepper():
    module = load("own_stepper")
    ranking = module.ranking
    true = np.sqrt([np.mean((v[-1] - module.waves[-1]) ** 2) for v in module.candidates.values()])
    assert ranking.order == [ranking.names[i] for i in np.argsort(true)]
    np.testing.assert_allclose(ranking.error_estimates, true, rtol=0.05)


@pytest.mark.parametrize("name", ["own_stationary", "own_stepper"])
def test_examples_stay_short(name):
    body = [
        line
        for line in (EXAMPLES / f"{name}.py").read_text().split("if __name__")[0].splitlines()
        if line.strip() and not line.lstrip().startswith(("#", '"""', "import", "from"))
    ]
    assert len(body) <= 15
