"""Coarser statements of every equation: the same problem, compiled or not, whose solutions converge to the fine one."""

import equinox as eqx
import exponax as ex
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import laws
import physrank as pr
from physrank import scorers
from physrank.equations import (
    Burgers,
    CompressibleFlow,
    DiffusionReaction,
    ExponaxStepper,
    ReactionDiffusion,
    SineGordon,
)
from physrank.physics import capabilities
from problems import burgers, flow, reaction_diffusion, shock_tube, sine_gordon

SOLVED = scorers.DirectSolve()


@pytest.fixture
def promotion():
    return "standard"  # exponax itself mixes real and complex


def waves(cells, dims=2):
    x = np.meshgrid(*[(np.arange(cells) + 0.5) / cells] * dims, indexing="ij")
    fields = np.stack([np.cos(np.pi * x[0]) * np.cos(2 * np.pi * x[1]), 0.3 * np.cos(np.pi * x[1])])
    return DiffusionReaction(fields, np.linspace(0, 1, 11), diffusion=(0.05, 0.1))


def vortices(points=64, count=2):
    with pr.double():
        x = np.asarray(ex.make_grid(2, 2 * np.pi, points))
        stepper = ex.stepper.NavierStokesVorticity(2, 2 * np.pi, points, 0.02, diffusivity=0.02, order=4)
        repeated = ex.RepeatedStepper(stepper, count) if count > 1 else stepper
        return ExponaxStepper(repeated, np.sin(3 * x[:1]) * np.cos(2 * x[1:]) + np.cos(x[:1] + 2 * x[1:]))


PROBLEMS = {  # with the order of the scheme in space, None for spectral ones
    "Burgers": (burgers(128), None),
    "reaction–diffusion 1-D": (reaction_diffusion(1, 127), 2),
    "reaction–diffusion 2-D": (reaction_diffusion(2, 63), 2),
    "Sine–Gordon": (sine_gordon(64, 4), None),
    "diffusion–reaction": (waves(64), 2),
    "flow 1-D": (flow(1, 256, shear=1e-3, bulk=0.0, substeps=32), 1),
    "flow 2-D": (flow(2, 64, shear=1e-3, bulk=0.0, substeps=16), 1),
    "exponax": (vortices(), None),
}
each = pytest.mark.parametrize("problem, order", PROBLEMS.values(), ids=PROBLEMS.keys())


def shape_of(problem, rows=7):
    return tuple(rows if n is None else n for n in problem.state_shape)


@each
def test_coarse_solutions_converge_at_the_order_of_the_scheme(problem, order):
    laws.coarse_solutions_converge(problem, shape_of(problem), order)


@each
def test_coarsening_inside_a_compiled_program_is_the_same(problem, order):
    for level in (1, 2):
        laws.coarsening_can_be_compiled(problem, level)


@each
def test_levels_end(problem, order):
    laws.levels_end(problem)
    for wrong in (-1, 1.5, True, None):
        with pytest.raises(ValueError, match="level must be"):
            capabilities.coarser(problem, wrong)


@each
def test_sizes_out_of_range_are_refused(problem, order):
    most = problem.grid.shape[-1]
    for points in (0, most + 2, 8.0, "8", True):
        with pytest.raises(ValueError, match="points must be"):
            problem.coarsen(points=points)
    same = problem.coarsen()
    assert all(np.array_equal(a, b) for a, b in zip(*map(leaves, (problem, same)), strict=True))


def leaves(problem):
    return jax.tree.leaves(problem)


@pytest.mark.parametrize("name", ["Burgers", "Sine–Gordon", "flow 1-D", "exponax"])
def test_fewer_rows_keep_the_time_step(name):
    """With so many times the substeps the march is the same: every so manieth row of it is what it was."""
    problem = PROBLEMS[name][0]
    rows = len(problem.times) if hasattr(problem, "times") else 5
    step = {6: 5, 5: 2, 3: 2}[rows]
    coarse = problem.coarsen(rows=step)
    all_rows = SOLVED.solution(problem, shape_of(problem, rows))[0]
    few = SOLVED.solution(coarse, shape_of(coarse, (rows - 1) // step + 1))[0]
    even = name != "flow 1-D"  # whose rows are not equally far apart
    np.testing.assert_allclose(few, all_rows[::step], atol=1e-10 if even else 1e-5)


def test_fewer_rows_where_every_row_is_a_step():
    problem = waves(16)
    fine, five = (scorers.DirectSolve(rows=k).solution(problem, problem.state_shape)[0] for k in (None, 2))
    assert problem.coarsen(rows=2).state_shape == (6, 2, 16, 16)
    assert problem.coarsen(rows=3).times[-1] == 1.0  # three do not divide ten: the last row stays all the same
    two = scorers.DirectSolve(rows=5).solution(problem, problem.state_shape)[0]
    errors = [np.linalg.norm(u[-1] - fine[-1]) / np.linalg.norm(fine[-1]) for u in (five, two)]
    assert errors[0] < 5e-3
    assert 5 < errors[1] / errors[0] < 12  # (5² − 1) / (2² − 1) = 8: second order in time
    assert np.abs(five - fine).max() < 1e-2  # the rows left out, too


def test_force_on_fewer_rows_is_interpolated():
    """Rows that do not divide, and a force that changes in time: a march with other steps, not another problem."""
    times = np.linspace(0, 0.3, 12) ** 1.2
    for make in (
        lambda **o: Burgers(np.sin, 0.1, times, lambda t, x: np.sin(x + 9 * t), points=32, **o),
        lambda **o: SineGordon(np.sin, np.cos, times, 1.0, lambda t, x: np.sin(x + 9 * t), points=32, **o),
    ):
        problem = make(substeps=4)
        fine, coarse = (SOLVED.solution(p, p.state_shape)[0] for p in (problem, problem.coarsen(rows=3)))
        np.testing.assert_allclose(coarse[-1], fine[-1], atol=2e-4)
        forceless = problem.coarsen(rows=3)
        np.testing.assert_array_less(
            1e-2, np.abs(SOLVED.solution(still(forceless), coarse.shape)[0][-1] - fine[-1]).max()
        )


@pytest.mark.parametrize("kind", [Burgers, SineGordon])
def test_fewer_substeps_are_those_that_a_constructor_would_take(kind):
    """The same numbers at fewer moments: nothing is interpolated, and nothing is left from before."""
    fields = (np.sin, 0.1) if kind is Burgers else (np.sin, np.cos)
    time = {"forcing": lambda t, x: np.sin(x + 9 * t), "times": np.linspace(0, 0.2, 5), "points": 16}
    stated = {} if kind is SineGordon else {"viscosity": fields[1]}
    build = lambda n: kind(fields[0], *(() if stated else fields[1:]), **stated, **time, substeps=n)  # noqa: E731
    fewer, built = build(8).coarsen(substeps=4), build(4)
    assert fewer.substeps == built.substeps == 4
    for a, b in zip(*map(leaves, (fewer, built)), strict=True):
        np.testing.assert_allclose(a, b, atol=1e-12)
    with pytest.raises(ValueError, match="substeps must divide 8"):
        build(8).coarsen(substeps=3)


def still(problem):
    return eqx.tree_at(lambda p: p.forcing, problem, jnp.zeros_like(problem.forcing))


def test_unstable_choices_are_refused():
    with pytest.raises(ValueError, match="unstable"):
        sine_gordon(64, 4).coarsen(rows=5, substeps=1)
    with pytest.raises(ValueError, match="unstable"):
        Burgers(lambda x: 3 * np.sin(x), 0.05, [0, 0.05, 0.1], points=64, substeps=4).coarsen(rows=2, substeps=1)
    with pytest.raises(ValueError, match="unstable"):
        flow(1, 64, substeps=8).coarsen(substeps=1)
    with pytest.raises(ValueError, match="less than 2"):
        DiffusionReaction(np.zeros((2, 4, 4)), np.linspace(0, 4, 5)).coarsen(rows=2)
    with pytest.raises(ValueError, match="one step per row"):
        waves(16).coarsen(substeps=2)
    with pytest.raises(ValueError, match="rows must be 1 to 10"):
        waves(16).coarsen(rows=11)
    with pytest.raises(ValueError, match="no time"):
        reaction_diffusion().coarsen(rows=2)


def test_flow_keeps_what_is_conserved_and_stays_admissible_across_shocks():
    problem, _ = shock_tube(80)
    coarse = problem.coarser(2)
    assert (coarse.grid.shape, coarse.substeps) == ((20,), 2)
    np.testing.assert_allclose(np.mean(coarse.initial, -1), np.mean(problem.initial, -1), rtol=1e-14)
    lifted = scorers.DirectSolve(points=20, substeps=2).solution(problem, problem.state_shape)[0]
    assert bool(problem.admissible(jnp.asarray(lifted)))
    with pytest.raises(ValueError, match="must divide the 80 cells"):
        problem.coarsen(points=30)
    assert CompressibleFlow(np.ones((3, 9)) + np.array([[0], [0], [1]]), [0, 0.01], "periodic").coarser(1) is None


def test_a_coefficient_that_jumps_stays_a_diffusion():
    a = np.where(np.arange(66) < 33, 1e-3, 1.0)
    assert float(ReactionDiffusion(a, np.ones(66), 0.5, 0.0).coarsen(points=40).diffusion.min()) > 0


def test_scheme_that_removes_aliases_is_judged_by_what_it_carries():
    """Burgers leaves its top third empty: on a grid far too coarse only the part that it carries shows it."""
    problem = burgers(128)
    rough, fine = (problem.coarser(level) for level in (4, 1))
    states = [SOLVED.solution(p, p.state_shape)[0][-1] for p in (rough, fine)]
    assert rough.grid.tail(states[0]) < 1e-20
    assert capabilities.tail(rough, states[0]) > 1e-2
    assert capabilities.tail(fine, states[1]) < 1e-8


def test_stepper_that_cannot_be_built_anew_has_no_levels():
    class Own:
        num_channels, num_points, num_spatial_dims, domain_extent, dt = 1, 32, 1, 1.0, 0.1

        def __call__(self, u):
            return 0.9 * u

    problem = ExponaxStepper(Own(), np.zeros((1, 32)))
    assert problem.coarser(1) is None
    with pytest.raises(ValueError, match="cannot be built anew"):
        problem.coarsen(points=16)
    assert vortices(count=1).coarsen(rows=4).steps_per_row == 4


def test_implicit_marches_leap_before_they_lose_points():
    """Every fourth row on all points, then half of both; few rows are all kept. In time the order is two as well."""
    few, many = waves(32), DiffusionReaction(waves(32).initial, np.linspace(0, 4, 81), diffusion=(0.05, 0.1))
    assert [few.coarser(k).state_shape for k in (1, 2)] == [(11, 2, 16, 16), (11, 2, 8, 8)]
    assert [many.coarser(k).state_shape for k in (1, 2, 3)] == [(21, 2, 32, 32), (11, 2, 16, 16), (6, 2, 8, 8)]
    assert many.coarser(4) is None
    full, every_fourth, every_eighth = (
        np.asarray(p.solve(np.zeros(p.state_shape)).state[-1]) for p in (many, many.coarser(1), many.coarsen(rows=8))
    )
    ratio = np.linalg.norm(every_eighth - full) / np.linalg.norm(every_fourth - full)
    assert 3.5 < ratio < 5.5  # (64 − 1) / (16 − 1) = 4.2
