"""What a response misses is L⁻¹[ℓ + R(e)], to the last bits, and what of it a linear or nonlinear task sees."""

import numpy as np
import pytest

from physrank.geometry import ComparisonSubspace, TaskSpace
from physrank.geometry.theory import proxies, proxy_errors, remainder, state_error

MATRIX = np.random.default_rng(0).standard_normal((6, 6)) + 4 * np.eye(6)
TASK = np.random.default_rng(1).standard_normal((4, 6))


def case(algebraic=0.05, size=0.4):
    """A(u) = Mu + sin u − f with the zero u, an anchor off by e, and a response with an algebraic defect ℓ."""
    random = np.random.default_rng(2)
    u, e = random.standard_normal(6), size * random.standard_normal(6)
    w, force = u - e, MATRIX @ u + np.sin(u)
    defect = lambda x: MATRIX @ x + np.sin(x) - force  # noqa: E731
    tangent = MATRIX + np.diag(np.cos(w))
    ell = algebraic * random.standard_normal(6)
    return u, w, e, defect, tangent, ell, np.linalg.solve(tangent, -defect(w) + ell)


def test_the_state_misses_exactly_that():
    _, w, e, defect, tangent, ell, delta = case()
    beyond = remainder(defect, lambda h: tangent @ h, w, e)
    solve = lambda r: np.linalg.solve(tangent, r)  # noqa: E731
    np.testing.assert_allclose(delta - e, state_error(solve, ell, beyond), rtol=0, atol=1e-14)
    for wrong in (
        state_error(solve, 0 * ell, beyond),
        state_error(solve, ell, 0 * beyond),
        state_error(solve, -ell, beyond),
    ):
        assert np.abs(delta - e - wrong).max() > 1e-3


@pytest.mark.parametrize("curved", [0.0, 0.3], ids=["linear task", "nonlinear task"])
def test_the_task_sees_its_projection(curved):
    """Q(u) = Tu + c (Tu)³; q_lin and q_eval are one exactly where c = 0."""
    u, w, e, defect, tangent, ell, delta = case()
    task = lambda x: TASK @ x + curved * (TASK @ x) ** 3  # noqa: E731
    slope = lambda h: (1 + 3 * curved * (TASK @ w) ** 2) * (TASK @ h)  # noqa: E731
    of_state = state_error(lambda r: np.linalg.solve(tangent, r), ell, remainder(defect, lambda h: tangent @ h, w, e))
    found = proxies(task, slope, w, delta)
    said = proxy_errors(task, slope, w, e, delta, of_state)
    scale = np.abs(task(u)).max()
    outputs = task(u) + np.random.default_rng(3).standard_normal((3, 4))
    seen = ComparisonSubspace.of(TaskSpace(np.linspace(1, 2, 4)), outputs)
    for proxy, error in zip(found, said, strict=True):
        np.testing.assert_allclose(proxy - task(u), error, rtol=0, atol=1e-13 * scale)
        np.testing.assert_allclose(seen.project(proxy - task(u)), seen.project(error), rtol=0, atol=1e-13 * scale)
    linear, evaluated = said
    assert (np.abs(linear - evaluated).max() < 1e-13 * scale) == (curved == 0)
    if curved:  # the one is not the other's error, and what the task bends cannot be left out
        assert np.abs(found[0] - task(u) - evaluated).max() > 1e-2
        assert np.abs(found[0] - task(u) - slope(of_state)).max() > 1e-2
