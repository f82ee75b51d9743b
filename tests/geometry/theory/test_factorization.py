"""J = T L: the least constant against an independent formula, tasks that a singular L determines, and the radius."""

import numpy as np
import pytest
import scipy.linalg
from hypothesis import given, settings
from hypothesis import strategies as st

from physrank.geometry.theory import Factorization, holder_radius


def setting(seed):
    random = np.random.default_rng(seed)
    return random, random.standard_normal((3, 5)), random.standard_normal((6, 5))


def largest_ratio(task, operator):
    """κ_*² is the largest eigenvalue of the pencil (JᵀJ, LᵀL), for an injective L."""
    return np.sqrt(scipy.linalg.eigh(task.T @ task, operator.T @ operator, eigvals_only=True)[-1])


@given(st.integers(0, 10**6))
@settings(max_examples=30, deadline=None)
def test_the_constant_is_the_largest_ratio_and_the_norm_of_the_factor(seed):
    random, task, operator = setting(seed)
    found = Factorization.of(task, operator)
    np.testing.assert_allclose(found.constant, largest_ratio(task, operator), rtol=1e-8)
    assert found.factor is not None
    np.testing.assert_allclose(found.factor @ operator, task, atol=1e-8)
    np.testing.assert_allclose(np.linalg.norm(found.factor, 2), found.constant, rtol=1e-9)
    np.testing.assert_allclose(np.linalg.norm(task @ found.direction), found.constant, rtol=1e-7)
    np.testing.assert_allclose(np.linalg.norm(operator @ found.direction), 1, rtol=1e-7)
    free = random.standard_normal((3, 6)) @ (np.eye(6) - operator @ np.linalg.pinv(operator))
    assert np.linalg.norm(found.factor + free, 2) >= found.constant * (1 - 1e-12)  # all other factors


def test_a_norm_of_the_task_alone_is_no_constant():
    """Sabotage: ‖J‖/σ_min(L) bounds the ratio and is not the least; ‖J‖/‖L‖ does not even bound it."""
    _, task, operator = setting(0)
    singular = np.linalg.svd(operator, compute_uv=False)
    size, least = np.linalg.norm(task, 2), Factorization.of(task, operator).constant
    assert size / singular[0] < 0.9 * least < 0.9 * 0.95 * size / singular[-1]


def test_a_task_can_be_determined_where_the_state_is_not():
    """L sees x₁ + x₂ and 2x₃ of three unknowns: tasks on these factor, the state does not."""
    operator = np.array([[1.0, 1.0, 0.0], [0.0, 0.0, 2.0]])
    seen = Factorization.of([[3.0, 3.0, 0.0]], operator)
    assert seen.constant == pytest.approx(3) and seen.factor is not None
    np.testing.assert_allclose(seen.factor, [[3.0, 0.0]], atol=1e-12)
    whole = Factorization.of(np.eye(3), operator)
    assert whole.constant == np.inf and whole.factor is None
    np.testing.assert_allclose(operator @ whole.direction, 0, atol=1e-12)
    assert np.linalg.norm(whole.direction) == pytest.approx(1)
    assert Factorization.of(np.zeros((1, 3)), np.zeros((2, 3))).constant == 0  # L = 0 = J
    assert Factorization.of([[1.0, 0, 0]], np.zeros((2, 3))).constant == np.inf
    with pytest.raises(ValueError, match="same unknowns"):
        Factorization.of(np.eye(2), operator)


def test_scalar_task_is_the_adjoint_equation():
    """Lᵀz = J has the solution T of least norm."""
    _, task, operator = setting(3)
    found = Factorization.of(task[:1], operator)
    assert found.factor is not None
    z = np.linalg.lstsq(operator.T, task[0], rcond=None)[0]
    np.testing.assert_allclose(found.factor[0], z, atol=1e-9)


def estimate_error(exponent, distance, constant=0.7):
    """A(x) = x + c|x|^{1+α}/(1 + α), Q(x) = x, v = 0 and its zero shifted to u = R: |−T A(v) − (u − v)| in closed form."""
    curve = lambda x: x + constant * np.abs(x) ** (1 + exponent) / (1 + exponent)  # noqa: E731
    return np.abs(-(curve(0.0) - curve(distance)) - distance)


@pytest.mark.parametrize("exponent", [0.25, 0.5, 1.0])
def test_the_radius_is_attained_for_every_exponent(exponent):
    sizes = np.array([1e-3, 1e-2, 0.1, 1.0])
    bound = holder_radius(sizes, factor_norm=1.0, operator_constant=0.7, exponent=exponent)
    np.testing.assert_allclose(estimate_error(exponent, sizes), bound, rtol=1e-9)
    for wrong in (
        holder_radius(sizes, factor_norm=1.0, operator_constant=0.7, exponent=exponent) * (1 + exponent) / 2.5,
        holder_radius(sizes, factor_norm=0.5, operator_constant=0.7, exponent=exponent),
    ):
        assert np.any(estimate_error(exponent, sizes) > wrong * (1 + 1e-9))


def test_mismatch_and_task_curvature_add():
    both = holder_radius(0.2, factor_norm=2.0, operator_constant=3.0, task_constant=4.0, mismatch=0.1)
    assert both == pytest.approx(0.1 * 0.2 + (2 * 3 + 4) / 2 * 0.2**2)
    with pytest.raises(ValueError, match="operator_constant"):
        holder_radius(0.2, factor_norm=2.0, operator_constant=-3.0)
    with pytest.raises(ValueError, match="exponent"):
        holder_radius(0.2, factor_norm=2.0, operator_constant=3.0, exponent=1.5)
