"""Where an iteration does not converge, a sparse factorisation takes over and is told; where it does, nothing changes."""

import numpy as np
import pytest

import physrank as pr
from physrank.physics import rescue
from problems import bratu

X = np.linspace(0, 1, 202)[1:-1]
LIBRARY = {"a": 0.3 * X * (1 - X), "b": 0.45 * X * (1 - X), "c": X * (1 - X)}
WEAK = pr.Stationary(bratu, data=1.0, solver=pr.Krylov(max_steps=5))
SOUND = pr.Stationary(bratu, data=1.0)


@pytest.mark.parametrize(
    "options", [{"effort": "auto"}, {"effort": "response"}, {"effort": "solve"}, {"corrections": 2}]
)
def test_a_weak_solver_is_rescued(options):
    found, same = (pr.rank(problem, LIBRARY, **options) for problem in (WEAK, SOUND))
    assert not found.unresolved and any("sparse factorisation" in doubt for doubt in found.doubts)
    assert not any("sparse factorisation" in doubt for doubt in same.doubts)
    np.testing.assert_allclose(found.scores, same.scores, rtol=1e-8)
    assert found.settled == same.settled
    np.testing.assert_allclose(found.corrected().scores, same.corrected().scores, rtol=1e-6)


def test_so_it_is_in_panels():
    found = list(pr.rank_panel([WEAK] * 3, [LIBRARY] * 3))
    assert [ranking.order for ranking in found] == [pr.rank(SOUND, LIBRARY).order] * 3


def test_what_does_not_fit_stays_unresolved(monkeypatch):
    monkeypatch.setattr(rescue, "UNKNOWNS", 100)
    assert "did not converge" in pr.rank(WEAK, LIBRARY, effort="response").unresolved
    monkeypatch.undo()
    monkeypatch.setattr(rescue, "ENTRIES", 100)
    assert "did not converge" in pr.rank(WEAK, LIBRARY, effort="response").unresolved


def test_many_entries_are_factored_incompletely(monkeypatch):
    monkeypatch.setattr(rescue, "FILLS", 100)
    found = pr.rank(WEAK, LIBRARY, effort="response")
    assert not found.unresolved and any("sparse factorisation" in doubt for doubt in found.doubts)
    np.testing.assert_allclose(found.scores, pr.rank(SOUND, LIBRARY, effort="response").scores, rtol=1e-8)
