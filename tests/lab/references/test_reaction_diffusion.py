"""Reaction–diffusion references: two grids, and a spectral method."""

import numpy as np
import pytest

from physrank.lab.inputs import ReactionDiffusionInput
from physrank.lab.references import chebyshev, reaction_diffusion


def test_reaction_diffusion_reference_against_chebyshev():
    case = ReactionDiffusionInput.sample("development", 2, "combined")
    coarse = reaction_diffusion.solve(case, 127)
    fine = reaction_diffusion.solve(case, 255, reaction_diffusion.interpolate(coarse, 255)[1:-1, 1:-1])
    spectral = chebyshev.evaluate(chebyshev.solve(case, 36), np.linspace(0, 1, 66))
    errors = [np.abs(reaction_diffusion.interpolate(u, 64) - spectral).max() for u in (coarse, fine)]
    assert 3.8 < errors[0] / errors[1] < 4.2  # second order
    assert errors[1] < 1e-4 * np.abs(spectral).max()


def test_reaction_diffusion_pair_solves_on_both_grids(monkeypatch):
    levels = {"first": (31, 63), "second": (63, 127)}
    monkeypatch.setattr(reaction_diffusion, "LEVELS", levels)
    case = ReactionDiffusionInput.sample("development", 1, "training")
    differences = []
    for level, (coarse, fine) in levels.items():
        found = reaction_diffusion.reference(case, 15, level)
        assert found.coarse.shape == (17, 17)
        for values, n in ((found.coarse, coarse), (found.fine, fine)):
            stride = (n + 1) // 16
            inner = reaction_diffusion.solve(case, n)[stride - 1 :: stride, stride - 1 :: stride]
            np.testing.assert_allclose(values, np.pad(inner, 1), atol=1e-9 * np.abs(inner).max())
        differences.append(found.difference)
    assert 3.5 < differences[0] / differences[1] < 4.5  # second order
    assert reaction_diffusion.reference(case, 15).difference == differences[0]
    with pytest.raises(ValueError, match=r"no level 'third' of resolution here"):
        reaction_diffusion.reference(case, 15, "third")
