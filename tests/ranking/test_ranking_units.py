"""Numbers of any size rank alike: all of them tiny, or unknowns in units that are sixteen orders of magnitude apart."""

import numpy as np
import pytest

import physrank as pr


def solution(problem, shape):
    state, failed = pr.scorers.DirectSolve().solution(problem, shape)
    assert failed is None
    return state


def in_units(u, d):
    """C (u / D) + (u / D)³ for unknowns that are measured in units D."""
    return d["matrix"] @ (u / d["units"]) + (u / d["units"]) ** 3 - d["load"]


SMALL = pr.tasks.linear(lambda u: 1e8 * u[:2])
SOLVED = {"gmres": {"solver": pr.Krylov()}, "host": {"host": True}}
CASES = [("gmres", "auto"), ("gmres", "solve"), ("host", "response"), ("host", "auto"), ("host", "solve")]


@pytest.mark.parametrize("how, effort", CASES)
def test_unknowns_in_very_different_units_are_not_settled_by_a_tolerance_that_excuses_everything(how, effort):
    random, wrong, settled = np.random.default_rng(1), 0, 0
    matrix, units = np.eye(10) + 0.1 * random.standard_normal((10, 10)), 10.0 ** np.linspace(-8, 8, 10)
    for _ in range(3):
        plain = random.standard_normal(10)
        data = {"matrix": matrix, "units": units, "load": matrix @ plain + plain**3}
        truth = units * plain
        library = np.stack([truth * (1 + 0.1 * (k + 1) * random.standard_normal(10)) for k in range(4)])
        problem = pr.Stationary(in_units, data, **SOLVED[how])
        for task in (None, SMALL):
            ranking = pr.rank(problem, library, effort=effort, task=task, allow_unresolved=True)
            target = ranking.task.outputs(truth[None])[0]
            losses = ranking.space.norm_squared(ranking.outputs - target)
            off = np.sign(ranking.gaps) != np.sign(pr.geometry.gap_matrix(losses))
            wrong, settled = wrong + (off & ranking.settled_pairs).sum(), settled + ranking.settled_pairs.sum() - 4
    assert wrong == 0
    assert settled > 0 or effort != "solve"


def scaled_cubic(u, d):
    return u + d[1] * (u / d[1]) ** 3 - d[0]


def scaled_rule(after, now, size):
    return after - now + 0.1 * size * (after / size) ** 3


def scaled_step(u, size):
    return u - 0.1 * size * (u / size) ** 3


@pytest.mark.parametrize("how", ["solve", "host march", "host march, implicit", "implicit", "differences"])
def test_tiny_numbers_rank_like_ordinary_ones_however_they_are_solved(how):
    start, orders = np.array([1.0, -0.5, 0.7]), []
    for size in (1.0, 1e-165, 1e-300):
        initial = size * start
        if how == "solve":
            problem = pr.Stationary(scaled_cubic, (initial, size))
        else:
            options = {"host": "host" in how, "implicit": "implicit" in how}
            options |= {"difference": 1e-6} if how == "differences" else {}
            problem = pr.Marching(scaled_rule if options["implicit"] else scaled_step, initial, size, **options)
        shape = (3,) if how == "solve" else (4, 3)
        truth = solution(problem, shape)
        library = {"near": 1.01 * truth, "far": 1.5 * truth, "middle": 1.1 * truth}
        ranking = pr.rank(problem, library, effort="solve" if how == "solve" else "response")
        assert ranking.settled
        orders.append(ranking.order)
        np.testing.assert_allclose(ranking.state / size, truth / size, rtol=0.2)
    assert orders == [["near", "middle", "far"]] * 3
