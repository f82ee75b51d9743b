"""Functions that are not what they were, or not what they seem, constants that were set later: nothing false is proved."""

import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import physrank as pr
from physrank.certificates import BurgersEnergy, LocalNewton, StronglyMonotone, ValidatedBurgers
from physrank.certificates.enclosures.programs import program_of
from physrank.certificates.enclosures.ranges import over
from trials import Judged


def judged(problem, state, outputs, base=None):
    return Judged(problem, np.asarray(state, float), np.asarray(outputs, float), pr.tasks.field(), base)


RIVALS = [[1.1, 1.2], [0.7, 0.9]]


@pytest.mark.parametrize(
    "by", [LocalNewton(degree=1), StronglyMonotone(metric=lambda s: lambda z: z, coercivity=1.0), None]
)
def test_an_array_that_a_function_closes_over_may_change(by):
    """What was compiled with the old one would certify the wrong winner."""
    force = np.ones(2)
    problem = pr.Stationary(lambda u: u - force)
    assert pr.certify(problem, judged(problem, [1, 1], RIVALS), by=by).best == "c0"
    force[:] = 0.8, 0.95
    after = pr.certify(problem, judged(problem, [1, 1], RIVALS), by=by)
    assert after.best in ("c1", None)
    assert after.enclosure.state_bound >= np.hypot(0.2, 0.05)


def test_a_function_with_a_state_of_its_own_states_no_problem():
    calls = itertools.count()
    problem = pr.Stationary(lambda u: u - next(calls))
    found = pr.certify(problem, judged(problem, [1, 1], RIVALS))
    assert not found.signs.any()
    assert "each time" in str(found.failed)


def test_what_python_is_asked_for_has_no_enclosure():
    shape = jax.ShapeDtypeStruct((2,), jnp.float64)
    problem = pr.Stationary(lambda u: u - jax.pure_callback(lambda: np.random.default_rng().random(2), shape))
    found = pr.certify(problem, judged(problem, [1, 1], RIVALS))
    assert not found.signs.any()
    assert "callback" in str(found.failed)


@jax.custom_jvp
def weakly(x):
    return jnp.stack([x[0], 1e-6 * x[1] + 1e-9])


weakly.defjvp(lambda primals, tangents: (weakly(*primals), tangents[0]))


def test_a_derivative_that_lies_proves_nothing():
    """β from the custom derivative is 1, from the function's own 10⁶: the zero is 1e-3 away, the bound says 1e-9."""
    problem = pr.Stationary(weakly)
    base, state = np.array([4.5e-5, 0.0]), np.array([0.0, -1e-9])
    ranking = judged(problem, state, [[1e-6, 0.0], [0.0, -1e-3]], base)
    found = pr.certify(problem, ranking, by=LocalNewton(lipschitz=1.0))
    assert found.kind == "estimate" or not found.signs.any()


def test_whole_numbers_that_no_double_holds():
    large = np.array([2**53 + 1, 2**53 + 1])
    program = program_of(lambda u, k: u - k.astype(float), np.ones(2), large)[0]
    found = over(program, [np.full(2, 2.0**53), large])[0]
    assert np.all(found.low <= -1)
    assert np.all(found.high >= -1)


def reduced(u):
    """u + Σu/2 − c, the sum by a reduction whose function JAX does not know."""
    return u + 0.5 * jax.lax.reduce(u, 0.0, lambda a, b: a + b, (0,)) - jnp.array([1.0, 1.4])


def test_a_reduction_is_no_call_of_what_is_inside_it():
    """Read as a call, Σu would be u, and the zero (2/3, 14/15) instead of (0.4, 0.8)."""
    problem = pr.Stationary(reduced)
    found = pr.certify(problem, judged(problem, [2 / 3, 14 / 15], [[2 / 3, 0.9], [0.4, 0.8]]))
    assert not found.signs.any()
    assert "'reduce'" in str(found.failed)


@pytest.mark.parametrize("mode", ["drop", "clip"])
def test_a_derivative_is_not_that_of_a_program_that_only_looks_alike(mode):
    """Beyond the end, one of them adds to nothing and the other to the last entry: x₁ = 2 or 4/3."""
    where = np.array([1, 5])
    problem = pr.Stationary(lambda u: u + 0.5 * jnp.zeros(2).at[where].add(u[::-1], mode=mode) - jnp.array([2.0, 3.0]))
    matrix = np.array([[1, 0], [0, 1.5]]) if mode == "drop" else np.array([[1, 0], [0.5, 1.5]])
    truth = np.linalg.solve(matrix, [2.0, 3.0])
    state = truth + np.array([0.3, 0.0])  # so far that the derivative matters
    found = pr.certify(problem, judged(problem, state, [truth, truth + np.array([0.1, 0.01])]))
    assert found.enclosure.state_bound >= 0.3
    assert found.signs[0, 1] >= 0


COMPLEX = (
    None,
    LocalNewton(inverse=1.0, lipschitz=0.0),
    StronglyMonotone(metric=lambda s: lambda z: z, coercivity=1.0),
)


@pytest.mark.parametrize("by", COMPLEX)
def test_complex_states_are_not_taken_for_their_real_parts(by):
    problem = pr.Stationary(lambda z: z - (1 + 2j))
    with jax.numpy_dtype_promotion("standard"):
        ranking = pr.rank(problem, {"real": np.array([1.1 + 0j]), "near": np.array([1.2 + 2j])})
    found = pr.certify(problem, ranking, by=by)
    assert not found.signs.any()
    assert "are real" in str(found.failed)


def test_complex_candidates_are_not_compared_by_their_real_parts():
    """−u″ + u = (π² + 1) sin πx: half an imaginary unit is further off than a tenth."""
    x = np.linspace(0, 1, 9)
    problem = pr.Stationary(lambda u: u, grid=pr.Grid.nodes((9,), (1.0,)))
    by = pr.certificates.ContinuumReactionDiffusion(
        1.0, lambda x: (np.pi**2 + 1) * np.sin(np.pi * x), reaction=lambda u: u
    )
    ranking = judged(problem, np.sin(np.pi * x), [np.sin(np.pi * x), 0.9 * np.sin(np.pi * x)])
    assert pr.certify(problem, ranking, by=by).best == "c0"
    ranking.outputs = ranking.outputs * np.array([[1 + 0.5j], [1.0]])
    found = by(problem, ranking)
    assert not found.gaps.signs.any()
    assert any("are real" in a.statement for a in found.assumptions if not a.holds)


def changed(method, **values):
    """Past what its constructor checks."""
    for name, value in values.items():
        object.__setattr__(method, name, value)
    return method


def test_constants_below_zero_prove_nothing():
    problem = pr.Stationary(lambda u: u + 0.1 * u**2 - 1.1)
    ranking = judged(problem, [1.0, 1.0], RIVALS, np.array([1.01, 1.0]))
    for constants in ({"lipschitz": -1e-6}, {"inverse": -1.0}):
        found = pr.certify(problem, ranking, by=changed(LocalNewton(inverse=1.0, lipschitz=0.2), **constants))
        assert any("not negative" in a.statement for a in found.failed)
    x = np.arange(8) * np.pi / 4
    burgers = pr.equations.Burgers(np.sin(x), 0.1, np.linspace(0, 0.1, 3), points=8)
    of_it = Judged(burgers, np.zeros((3, 8)), np.stack([x, -x]), pr.tasks.terminal(burgers.metric()))
    for by in (BurgersEnergy(), ValidatedBurgers()):
        found = pr.certify(burgers, of_it, by=changed(by, forcing_error=-1e-3))
        assert any("forcing_error" in a.statement for a in found.failed)


def test_a_metric_needs_a_problem_that_jax_can_trace():
    problem = pr.Linear(2 * np.eye(2), np.ones(2))
    ranking = pr.rank(problem, {"a": np.full(2, 0.6), "b": np.full(2, 0.7)})
    with pytest.raises(ValueError, match="lives on the host"):
        pr.certify(problem, ranking, by=COMPLEX[2])


@pytest.mark.parametrize("kind", [pr.certificates.ContinuumReactionDiffusion, pr.certificates.RoughReactionDiffusion])
@pytest.mark.parametrize("grid", [None, pr.Grid.cells(2)])
def test_a_reaction_of_ones_own_needs_nodes_on_the_boundary(kind, grid):
    problem = pr.Stationary(lambda u: u - 1.0, grid=grid)
    with pytest.raises(ValueError, match=r"needs grid=Grid\.nodes"):
        pr.certify(problem, judged(problem, [1, 1], RIVALS), by=kind(1.0, 1.0, reaction=lambda u: u))
