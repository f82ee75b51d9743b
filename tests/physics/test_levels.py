"""Levels of a user's own problems: what `coarsen=` gives, what it may not give, and that a wrong one is noticed."""

import jax.numpy as jnp
import numpy as np
import pytest

import laws
import physrank as pr
from physrank.physics import Problem, capabilities
from physrank.physics.levels import altered, every, halved


def residual(u, f):
    """−u'' + u³ = f on [0, 1], zero at both ends, which are rows too."""
    h = 1 / (len(u) - 1)
    inside = -(u[2:] - 2 * u[1:-1] + u[:-2]) / h**2 + u[1:-1] ** 3 - f[1:-1]
    return jnp.concatenate([u[:1], inside, u[-1:]])


def half(level, problem):
    return stationary(problem.data[:: 2**level]) if len(problem.data) > 2 ** (level + 3) else None


def wrong_half(level, problem):
    return stationary(1.01 * problem.data[:: 2**level])


def stationary(f, coarsen=half):
    return pr.Stationary(residual, f, grid=pr.Grid.nodes(len(f)), shape=(len(f),), coarsen=coarsen)


def step(u, dt):
    return u - dt * (jnp.roll(u, -1) - jnp.roll(u, 1)) * len(u) / (4 * np.pi)


def fewer(level, problem):
    n = len(problem.initial) >> level
    if n < 8:
        return None
    return pr.Marching(step, pr.Grid.periodic(n).lift(problem.initial), problem.data, grid=pr.Grid.periodic(n))


FORCE = 30 * np.sin(np.linspace(0, 3, 65)) ** 2
OWN = stationary(FORCE)
WAVE = pr.Marching(step, np.exp(np.sin(np.arange(64) * np.pi / 32)), 1e-3, grid=pr.Grid.periodic(64), coarsen=fewer)


@pytest.mark.parametrize("problem, shape", [(OWN, (65,)), (WAVE, (200, 64))], ids=["stationary", "marching"])
def test_own_problems_have_the_levels_they_say(problem, shape):
    laws.coarse_solutions_converge(problem, shape, 2)
    laws.coarsening_can_be_compiled(problem)
    laws.levels_end(problem)


def test_a_coarser_problem_that_is_another_is_noticed():
    with pytest.raises(AssertionError):
        laws.coarse_solutions_converge(stationary(FORCE, wrong_half), (65,), 2)


def test_a_function_of_the_level_alone_will_do():
    coarse = stationary(FORCE[::2])
    assert stationary(FORCE, lambda level: coarse if level == 1 else None).coarser(1) is coarse
    assert stationary(FORCE, {1: coarse}.get).coarser(2) is None


def test_a_function_may_keep_what_it_stated_while_a_program_was_traced():
    kept = {}

    def keeping(level):
        return kept.setdefault(level, stationary(FORCE[:: 2**level])) if level <= 2 else None

    truth = pr.scorers.DirectSolve().solution(stationary(FORCE, None), (65,))[0]
    shapes = np.sin(np.pi * np.linspace(0, 1, 65)), np.sin(2 * np.pi * np.linspace(0, 1, 65))
    library = {"near": truth + 0.01 * shapes[0], "far": truth + 0.05 * shapes[1]}
    assert pr.rank(stationary(FORCE, keeping), library).order == ["near", "far"]
    np.testing.assert_array_equal(kept[1].data, FORCE[::2])


def test_what_is_not_a_coarser_problem_is_refused():
    with pytest.raises(ValueError, match="coarsen must be a function, called as coarsen"):
        stationary(FORCE, coarsen=32)
    with pytest.raises(ValueError, match="also be a function of the level alone"):
        pr.Marching(step, np.ones(8), 0.1, coarsen=lambda a, b, c: None)
    with pytest.raises(ValueError, match=r"coarsen\(1\) returned .* \(ndarray\)"):
        stationary(FORCE, coarsen=lambda level: FORCE[::2]).coarser(1)


def test_problems_without_levels_have_none():
    assert pr.Stationary(lambda u: u - 1.0).coarser(1) is None
    assert pr.Marching(lambda u: u, np.ones(4)).coarser(2) is None
    assert capabilities.coarser(Bare(), 1) is None


class Bare(Problem):
    def defect(self, state):
        return state

    def linearise(self, at):
        raise NotImplementedError

    def residual_energy(self, defect):
        return jnp.sum(defect**2)

    def solve(self, guess):
        raise NotImplementedError

    @property
    def state_shape(self):
        return None


def test_halving_and_altering():
    assert [halved(48, level) for level in range(4)] == [48, 24, 12, None]
    copy = altered(OWN, data=jnp.ones(3), shape=(3,))
    assert (copy.shape, copy.data.shape, copy.residual, OWN.shape) == ((3,), (3,), OWN.residual, (65,))
    with pytest.raises(ValueError, match="Stationary has no force"):
        altered(OWN, force=1)


def test_rows_that_are_left_out_are_never_more_than_asked_for():
    for total in range(2, 30):
        for rows in range(1, total):
            kept = every(rows, total)
            assert kept[0] == 0 and kept[-1] == total - 1
            assert np.diff(kept).max() <= rows and np.diff(kept).min() >= 1
            assert len(kept) <= (total - 1) // rows + 2  # and hardly any is kept without need
