"""Pairs of references: their grids, the points they are read at, and what their error bars leave open."""

import numpy as np
import pytest

import physrank as pr
from physrank.lab.inputs import BurgersInput, SineGordonInput
from physrank.lab.references import burgers, reaction_diffusion, sine_gordon
from physrank.lab.references.reference import Reference, unresolved_pairs, unresolved_top1


def test_the_levels_are_the_stated_ones():
    assert burgers.LEVELS == {"first": ((768, 10), (1536, 20)), "second": ((1536, 20), (3072, 40))}
    assert reaction_diffusion.LEVELS == {"first": (511, 767), "second": (767, 1023)}
    assert sine_gordon.LEVELS == {"first": ((384, 6144), (768, 12288))}


LINES = {
    "burgers": (
        burgers,
        [BurgersInput.sample("development", k, "training") for k in range(2)],
        np.linspace(0, 0.2, 3),
        {"first": ((48, 4), (96, 8)), "second": ((96, 8), (192, 16))},
    ),
    "sine-gordon": (
        sine_gordon,
        [SineGordonInput.sample("development", k, "training") for k in range(2)],
        np.linspace(0, 1, 3),
        {"first": ((24, 40), (48, 80)), "second": ((48, 80), (96, 160))},
    ),
}


@pytest.mark.parametrize("name", LINES)
def test_pairs_solve_on_both_grids_and_keep_the_common_points(name, monkeypatch):
    module, cases, times, levels = LINES[name]
    monkeypatch.setattr(module, "LEVELS", levels)
    assert [r.difference for r in module.references(cases, times, 12)] == [
        r.difference for r in module.references(cases, times, 12, "first")
    ]
    for level, grids in levels.items():
        solved = [module.solve(cases, times, *grid)[..., :: grid[0] // 12] for grid in grids]
        found = module.references(cases, times, 12, level)
        assert len(found) == 2
        for reference, coarse, fine in zip(found, *solved, strict=True):
            np.testing.assert_array_equal(reference.coarse, coarse)
            np.testing.assert_array_equal(reference.fine, fine)
            assert reference.difference > 0
    first, second = (max(r.difference for r in module.references(cases, times, 12, level)) for level in levels)
    assert second < first / 3
    # A row starts as the input says, at the points of the small grid.
    x = np.arange(12) * 2 * np.pi / 12
    start = found[1].fine[0] if name == "burgers" else found[1].fine[0, 0]
    np.testing.assert_allclose(start, cases[1].initial(x), atol=1e-12)


@pytest.mark.parametrize("name", LINES)
def test_pairs_refuse_other_levels_and_points(name, monkeypatch):
    module, cases, times, levels = LINES[name]
    monkeypatch.setattr(module, "LEVELS", levels)
    with pytest.raises(ValueError, match=r"no level 'third' of resolution here; expected one of first, second"):
        module.references(cases, times, 12, "third")
    for points in (0, 7, 36, levels["first"][1][0]):  # the last divides only the fine grid
        with pytest.raises(ValueError, match=rf"points must divide the reference grid of \d+; got {points}\."):
            module.references(cases, times, points)


def test_what_is_not_a_number_is_unresolved():
    losses, changes = np.array([1.0, 2.0, 9.0]), np.array([0.1, 0.1, 0.1])
    assert not unresolved_pairs(losses, changes)[~np.eye(3, dtype=bool)].any()
    assert not unresolved_top1(losses, changes)
    for values, bars in (([1.0, np.nan, 9.0], changes), (losses, np.array([0.1, np.nan, 0.1]))):
        pairs = unresolved_pairs(np.array(values), np.asarray(bars))
        assert pairs[1].all()
        assert pairs[:, 1].all()
        assert not pairs[0, 2]
    for values, bars in (
        ([1.0, np.nan], [0.1, 0.1]),
        ([np.nan, np.nan, np.nan], [0.1, 0.1, 0.1]),
        ([1.0, 2.0, 9.0], [np.nan, 0.1, 0.1]),
        ([1.0, 2.0, 9.0], [0.1, np.nan, 0.1]),
    ):
        assert unresolved_top1(np.array(values), np.array(bars))
    # A reference with one NaN decides nothing.
    broken = Reference(coarse=np.array([0.0, 0.0]), fine=np.array([np.nan, 0.0]))
    found = broken.losses(pr.geometry.TaskSpace(np.ones(2)), np.array([[1.0, 0.0], [5.0, 0.0]]))
    assert unresolved_pairs(*found).all()
    assert unresolved_top1(*found)


def test_references_of_another_shape_are_refused():
    space = pr.geometry.TaskSpace(np.ones(2))
    trajectory = Reference(coarse=np.zeros((3, 2)), fine=np.ones((3, 2)))
    with pytest.raises(ValueError, match=r"reference has shape \(3, 2\), a candidate's output \(2,\)"):
        trajectory.losses(space, np.zeros((4, 2)))
    with pytest.raises(ValueError, match=r"reference has shape \(1,\), a candidate's output \(2,\)"):
        Reference(np.zeros(1), np.ones(1)).losses(space, np.zeros((4, 2)))  # would broadcast
    with pytest.raises(ValueError, match=r"coarse has shape \(3,\), fine \(2,\)"):
        Reference(np.zeros(3), np.zeros(2))


def test_error_bars_decide_what_is_unresolved():
    space = pr.geometry.TaskSpace(np.ones(1))
    outputs = np.array([[1.0], [1.1], [3.0]])
    reference = Reference(coarse=np.array([0.2]), fine=np.array([0.1]))
    losses, changes = reference.losses(space, outputs)
    np.testing.assert_allclose(losses, [0.81, 1.0, 8.41])
    np.testing.assert_allclose(changes, [0.17, 0.19, 0.57])
    pairs = unresolved_pairs(losses, changes)
    assert pairs[0, 1]
    assert not pairs[0, 2]
    assert unresolved_top1(losses, changes)
    assert not unresolved_top1(losses, changes / 10)
    assert reference.difference == pytest.approx(0.1)
