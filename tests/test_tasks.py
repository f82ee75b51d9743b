"""Tasks: defaults, metrics, linear and nonlinear ones, and candidates lost to them."""

import jax.numpy as jnp
import numpy as np
import pytest

import physrank as pr
from libraries import SMALL, library
from physrank import tasks


def test_burgers_default_task_is_the_terminal_state_in_periodic_l2():
    ranking = pr.rank(SMALL["burgers"].problem, library("burgers"))
    expected = [2 * np.pi / 32 * np.sum((ranking.state[-1] - v[-1]) ** 2) for v in library("burgers").values()]
    np.testing.assert_allclose(ranking.scores, expected, rtol=1e-12)


def test_plain_tasks_use_the_mean_square():
    ranking = pr.rank(SMALL["burgers"].problem, library("burgers"), task=tasks.terminal())
    expected = [np.mean((ranking.state[-1] - v[-1]) ** 2) for v in library("burgers").values()]
    np.testing.assert_allclose(ranking.scores, expected, rtol=1e-12)


def test_nonlinear_task_keeps_both_proxies():
    case = SMALL["reaction-diffusion 2-D"]
    energy = tasks.nonlinear(lambda u: u**2)
    ranking = pr.rank(case.problem, library("reaction-diffusion 2-D"), task=energy)
    w = np.asarray(ranking.response.base)
    delta = ranking.state - w
    np.testing.assert_allclose(ranking.proxy_linear, w**2 + 2 * w * delta, rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(ranking.proxy_evaluated, (w + delta) ** 2, rtol=1e-12, atol=1e-15)
    assert np.abs(ranking.proxy_linear - ranking.proxy_evaluated).max() > 1e-6
    np.testing.assert_array_equal(ranking.proxy, ranking.proxy_evaluated)


def test_candidates_lost_to_a_task_are_named():
    logs = pr.tasks.nonlinear(jnp.log)
    with np.errstate(all="ignore"):
        ranking = pr.rank(
            pr.Stationary(lambda u: u - 2.0), {"neg": -np.ones(3), "a": 5 * np.ones(3), "b": 8 * np.ones(3)}, task=logs
        )
    assert ranking.order == ["a", "b"]
    assert ranking.to_dict()["candidates"]["neg"]["excluded"] == "its score is not finite"


def test_a_nonlinear_map_declared_linear_is_caught():
    with pytest.raises(ValueError, match="declared linear"):
        pr.rank(SMALL["burgers"].problem, library("burgers"), task=tasks.linear(lambda s: s[-1] ** 2))


def test_a_linear_task_whose_output_is_round_off_is_still_linear():
    problem = SMALL["burgers"].problem
    x = problem.grid.axes[0]
    rows = np.tile(np.sin(x), (6, 1))
    candidates = {f"m{k}": rows + 0.1 * (k + 1) * np.cos((k + 1) * x) for k in range(3)}
    task = pr.tasks.linear(lambda u: u[-1].mean())
    assert pr.rank(problem, candidates, task=task, allow_unresolved=True).proxy.shape == ()
