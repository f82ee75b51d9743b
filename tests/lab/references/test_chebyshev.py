"""Chebyshev collocation on a manufactured solution, and the instrument's differences against it."""

import numpy as np

import physrank as pr
from physrank.lab.inputs import ReactionDiffusionInput
from physrank.lab.references import chebyshev


def test_reaction_diffusion_agrees_with_an_independent_spectral_method():
    """The instrument's differences against Chebyshev collocation, on the inputs of the study."""
    for index, stratum in enumerate(("training", "frequency", "parameter", "combined")):
        case = ReactionDiffusionInput.sample("development", index, stratum)
        reference = chebyshev.solve(case, 28, rtol=1e-9)
        errors = []
        for points in (31, 63):
            problem = pr.equations.ReactionDiffusion(
                case.diffusion, case.forcing, case.linear, case.cubic, points=points
            )
            state, _ = pr.scorers.DirectSolve().solution(problem, (points + 2,) * 2)
            errors.append(np.abs(state - chebyshev.evaluate(reference, np.linspace(0, 1, points + 2))).max())
        assert 3.5 < errors[0] / errors[1] < 4.5
        assert errors[1] < 3e-3 * np.abs(reference).max()


def test_chebyshev_reference_on_a_manufactured_solution():
    case = ReactionDiffusionInput(np.zeros(8), np.zeros(9), 0.9, 0.7, "training")  # a = 1.25, f replaced below
    exact = lambda x, y: np.sin(np.pi * x) * np.sin(2 * np.pi * y)  # noqa: E731
    object.__setattr__(case, "forcing", lambda x, y: (1.25 * 5 * np.pi**2 + 0.9) * exact(x, y) + 0.7 * exact(x, y) ** 3)
    solution = chebyshev.solve(case, 24)
    x = np.linspace(0, 1, 33)
    grid = np.meshgrid(x, x, indexing="ij")
    np.testing.assert_allclose(chebyshev.evaluate(solution, x), exact(*grid), atol=1e-9)
