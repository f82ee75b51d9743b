"""The paper's raw product norms, written out by hand; adjoints and round-off."""

import inspect

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import physrank as pr
from physrank.physics.problem import Problem, Tangent, all_following, pullback, roundoff_floor


def test_raw_norms_are_the_papers():
    random = np.random.default_rng(0)
    times = np.array([0.0, 0.1, 0.3])
    problem = pr.equations.Burgers(np.zeros(8), 0.1, times, points=8)
    map_defect = random.standard_normal((3, 8))
    dx = 2 * np.pi / 8
    pde_defect = [map_defect[1] / 0.1, map_defect[2] / 0.2]
    expected = dx * np.sum(map_defect[0] ** 2) + dx * (
        0.1 * np.sum(pde_defect[0] ** 2) + 0.2 * np.sum(pde_defect[1] ** 2)
    )
    np.testing.assert_allclose(problem.residual_energy(jnp.asarray(map_defect)), expected, rtol=1e-13)
    field = pr.equations.ReactionDiffusion(np.ones((5, 5)), np.ones((5, 5)), 1.0, 1.0)
    r = random.standard_normal((5, 5))
    inner = r[1:-1, 1:-1]
    boundary = np.sum(r**2) - np.sum(inner**2)
    np.testing.assert_allclose(
        field.residual_energy(jnp.asarray(r)), 0.25 * boundary + 0.25**2 * np.sum(inner**2), rtol=1e-13
    )
    wave = pr.equations.SineGordon(np.zeros(8), np.zeros(8), times, points=8)
    r = random.standard_normal((3, 2, 8))
    np.testing.assert_allclose(wave.residual_energy(jnp.asarray(r)), dx * np.sum(r**2), rtol=1e-13)
    march = pr.Marching(lambda u: u, np.zeros(4))
    r = random.standard_normal((3, 4))
    np.testing.assert_allclose(march.residual_energy(jnp.asarray(r)), np.sum(r**2) / 4, rtol=1e-13)


def test_round_off_excuses_no_more_than_round_off():
    """Of a tangent of size one: a few units in the last place of the state; of a broken estimate: nothing."""
    state = np.linspace(1, 2, 50)
    floor = float(roundoff_floor(np.asarray(1.0), state))
    assert 1e-15 * np.linalg.norm(state) < floor < 1e-12 * np.linalg.norm(state)
    assert float(roundoff_floor(np.asarray(1e3), state)) == pytest.approx(1e3 * floor)
    for broken in (np.inf, np.nan):
        assert float(roundoff_floor(np.asarray(broken), state)) == 0


def test_pullback_is_the_adjoint_of_complex_maps_too():
    random = np.random.default_rng(0)
    at, h, z = random.standard_normal((3, 4, 2)) @ np.array([1, 1j])
    function = lambda u: (1 + 2j) * u**2 + jnp.conj(u)  # noqa: E731
    pushed = jax.jvp(function, (at,), (h,))[1]
    (pulled,) = pullback(function, at)(jnp.asarray(z))
    np.testing.assert_allclose(np.real(np.vdot(pushed, z)), np.real(np.vdot(h, pulled)), rtol=1e-13)


def test_corrections_that_shrink_ever_more_slowly_are_not_taken_for_a_series():
    """Far from the zero of a power, Newton takes away a third each time: from 3 to 2, and 2 is what is left."""
    left = all_following(lambda r: r / 27.0, lambda u: u**3, np.array([3.0]), np.array([2.0]))
    assert 2 * abs(left[0]) >= 2.0  # twice that is what doubts count
    near = all_following(lambda r: r / 3.0, lambda u: u**3 - 1, np.array([1.0 + 1e-3]), np.array([1.0 + 1e-6]))
    np.testing.assert_allclose(near, -1e-6, rtol=0.01)


def kinds(of):
    """Every class below one, of the package's own."""
    for below in of.__subclasses__():
        if below.__module__.startswith("physrank."):
            yield below
            yield from kinds(below)


@pytest.mark.parametrize("root", [Problem, Tangent])
def test_classes_are_abstract_or_final_and_call_nobody_above_them(root):
    found = list(kinds(root))
    assert len(found) > 4
    for kind in found:
        assert inspect.isabstract(kind) or not list(kinds(kind)), f"{kind.__name__} is neither"
        assert len(kind.__mro__) - len(root.__mro__) <= 2, f"{kind.__name__} stands on more than one abstract class"
        assert "super()" not in inspect.getsource(kind), kind.__name__
