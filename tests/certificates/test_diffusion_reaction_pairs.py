"""Directions of pairs in diffusion–reaction: the identity, what it gains, and that adjoint states may be anything."""

import mpmath
import numpy as np
import pytest

import physrank as pr
from digits import mp
from physrank.certificates import DiffusionReactionEnergy, diffusion_reaction, diffusion_reaction_pairs
from physrank.certificates.diffusion_reaction_pairs import Rows, along
from physrank.equations import DiffusionReaction
from trapezoids import CELLS, trapezoid_in_many_digits
from trials import terminal

ROWS = 8


@pytest.fixture(autouse=True)
def _many_digits():
    with mpmath.workdps(60):
        yield


def case(seed, error, size=0.8, times=None):
    """Two cells by two: the trapezoidal solution in many digits, a state around it, candidates."""
    random = np.random.default_rng(seed)
    times = np.linspace(0, 2, ROWS + 1) if times is None else times
    problem = DiffusionReaction(size * random.standard_normal((2, CELLS, CELLS)), times, length=2.0)
    exact = trapezoid_in_many_digits(problem)
    truth = np.array([[float(x) for x in row] for row in exact]).reshape(len(times), 2, CELLS, CELLS)
    state = truth + error * random.standard_normal(truth.shape)
    state[0] = truth[0]
    outputs = truth[-1] + 0.1 * random.standard_normal((4, 2, CELLS, CELLS))
    return problem, terminal(problem, state, outputs), exact


def rows_of(problem, state, widened=1.0):
    defect, doubt = diffusion_reaction.row_defects(problem, state)
    energies, each = diffusion_reaction.carry(problem, state, defect, doubt)
    whole, activator = (
        widened * np.min(each * energies.factors(form), axis=1) / problem.spacing
        for form in ((1.0, 0.0, 1.0), (1.0, 0.0, 0.0))
    )
    return Rows(state, defect, doubt, whole, activator)


def in_many_digits(ranking, exact):
    """⟨W (y_i − y_j), s − u⟩ for all pairs."""
    error = np.array([mp(float(s)) - t for s, t in zip(np.ravel(ranking.state[-1]), exact[-1], strict=True)])
    w, outputs = ranking.space.weights, ranking.outputs
    pairs = zip(*np.triu_indices(len(outputs), 1), strict=True)
    return [float(sum(np.ravel(w * (outputs[i] - outputs[j])) * error)) for i, j in pairs]


UNEVEN = np.array([0.0, 0.1, 0.5, 0.6, 1.4, 1.5, 2.0])


@pytest.mark.parametrize("error", [1e-9, 1e-4, 1e-2])
@pytest.mark.parametrize("times", [None, UNEVEN])
def test_the_error_along_a_pair_is_what_is_known_up_to_second_order(error, times):
    problem, ranking, exact = case(1, error, times=times)
    rows = rows_of(problem, ranking.state)
    known, off = along(problem, ranking, rows)
    missed = np.abs(known - in_many_digits(ranking, exact))
    assert np.all(missed <= off)
    assert np.all(off <= 10 * np.max(rows.whole) ** 2 + 1e-12)


def test_round_off_of_the_known_part_is_charged():
    """The defect of the solution, rounded: it is all round-off, and so is what is known."""
    problem, ranking, exact = case(4, 0.0)
    rows = rows_of(problem, ranking.state)
    known, off = along(problem, ranking, Rows(rows.state, rows.defect, rows.doubt, 0 * rows.whole, 0 * rows.activator))
    assert np.all(np.abs(known - in_many_digits(ranking, exact)) <= off)
    assert np.all(off < 1e-12)


@pytest.mark.parametrize("share", [0.0, 0.9, 3.0])
def test_adjoint_states_may_be_anything(share, monkeypatch):
    """What they miss is charged, with what is known of every row."""
    honest = diffusion_reaction_pairs._adjoints
    problem, ranking, exact = case(2, 1e-3)
    rows, truth = rows_of(problem, ranking.state), in_many_digits(ranking, exact)
    monkeypatch.setattr(diffusion_reaction_pairs, "_adjoints", lambda *given: share * honest(*given))
    known, off = along(problem, ranking, rows)
    assert np.all(np.abs(known - truth) <= off)
    assert np.all(np.isfinite(off))


@pytest.mark.parametrize("cells", [slice(None), (0, 0)], ids=["everywhere", "in one cell"])
def test_the_curvature_of_the_reaction_is_charged(cells):
    """Far from the solution the second-order part is what the bound is made of: it is needed, and not much too large."""
    random, used = np.random.default_rng(3), 0.0
    for seed in range(12):
        problem, ranking, exact = case(seed, 0.0, size=1.5, times=np.array([0.0, 0.4]))
        ranking.state[-1, 0][cells] += random.uniform(0.05, 0.4) * random.choice([-1, 1])
        rows = rows_of(problem, ranking.state)
        error = np.ravel(ranking.state[-1]) - np.array([float(t) for t in exact[-1]])
        tight = Rows(
            rows.state,
            rows.defect,
            rows.doubt,
            np.array([np.linalg.norm(error)]),
            np.array([np.linalg.norm(error[:4])]),
        )
        known, off = along(problem, ranking, tight)  # as if the errors of the rows were known
        missed = np.abs(known - in_many_digits(ranking, exact))
        assert np.all(missed <= off)
        used = max(used, float(np.max(missed / off)))
    assert used > 0.1


def test_pairs_that_the_energies_leave_open_are_decided():
    problem, ranking, _ = case(5, 3e-3)
    near = ranking.outputs.copy()  # candidates so close to each other that the radius leaves them open
    near[1] = near[0] + 0.05 * (near[1] - near[0])
    ranking = terminal(problem, ranking.state, near)
    coarse, fine = (pr.certify(problem, ranking, by=by) for by in (DiffusionReactionEnergy(pairs=False), None))
    assert coarse.open_pairs
    assert not fine.failed
    assert not fine.open_pairs
    widths = [c.gaps.high[0, 1] - c.gaps.low[0, 1] for c in (coarse, fine)]
    assert widths[1] < widths[0] / 10
    assert fine.enclosure.solves == 3


def test_corrections_come_before_adjoint_states():
    assert DiffusionReactionEnergy().quick == DiffusionReactionEnergy(pairs=False)
