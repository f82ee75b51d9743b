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


def test_finite_elements():
    module = load("finite_elements")
    solution = module.problem.solve(np.zeros(len(module.load))).state
    # ∫u over the L-shape for −Δu = 1 is 0.2141, from below in a conforming space.
    assert 0.205 < float(module.load @ solution) < 0.2141
    mass = module.mass.assemble(module.basis)
    true = {name: np.sqrt((v - solution) @ mass @ (v - solution)) for name, v in module.candidates.items()}
    assert module.ranking.order == sorted(true, key=true.__getitem__) and module.ranking.settled
    np.testing.assert_allclose(module.ranking.error_estimates, list(true.values()), rtol=1e-9)


def test_helmholtz():
    module = load("helmholtz")
    ranking, matrix = module.ranking, module.matrix.toarray()[:400:7, :400:7]
    assert np.linalg.eigvalsh(matrix).min() < 0 or module.wavenumber**2 > 2 * np.pi**2  # indefinite
    assert len(ranking.names) == 19 and ranking.settled and ranking.settled_pairs.all()
    np.testing.assert_allclose(module.matrix @ ranking.state.ravel(), module.source.ravel(), atol=1e-11)


def test_navier_stokes():
    module = load("navier_stokes")
    solution, ranking = module.solution, module.ranking
    assert solution.converged and np.abs(module.residual(solution.state)).max() < 1e-10
    # The flow backwards on the vertical centre line at Re = 100: −0.2109 at y = 0.4531 (Ghia, Ghia and Shin, 1982).
    line = np.stack([np.full(200, 0.5), np.linspace(0.01, 0.99, 200)])
    along = module.velocity.interpolator(solution.state[: module.number])(line)[0]
    assert along.min() == pytest.approx(-0.2109, rel=0.03) and line[1, along.argmin()] == pytest.approx(
        0.4531, abs=0.02
    )
    differences = {name: (v - solution.state)[: module.number] for name, v in module.candidates.items()}
    true = {name: np.sqrt(d @ module.mass @ d) for name, d in differences.items()}
    assert ranking.order == sorted(true, key=true.__getitem__) and ranking.settled
    np.testing.assert_allclose(ranking.error_estimates, list(true.values()), rtol=0.05)
