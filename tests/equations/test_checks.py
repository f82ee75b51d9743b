"""What equations refuse, and fields that a grid cannot carry."""

import re

import numpy as np
import pytest

import physrank as pr
from physrank.equations import Burgers, SineGordon, UnderResolvedWarning
from physrank.equations._checks import under_resolved


@pytest.mark.parametrize(
    "build, message",
    [
        (
            lambda: pr.equations.Burgers(np.zeros(8), -0.1, [0, 1]),
            "viscosity must be positive everywhere; got a minimum of -0.1",
        ),
        (lambda: pr.equations.Burgers(np.zeros(8), 0.0, [0, 1]), "viscosity must be positive"),
        (lambda: pr.equations.Burgers(np.zeros(8), [0.1, 0.2], [0, 1]), "viscosity must be one number"),
        (
            lambda: pr.equations.Burgers(np.zeros(8), 0.1, [0, 1, 0.5]),
            "times must increase strictly; got times[1] = 1, times[2] = 0.5",
        ),
        (lambda: pr.equations.Burgers(np.zeros(8), 0.1, [0.0]), "at least two entries"),
        (lambda: pr.equations.Burgers(np.zeros((8, 8)), 0.1, [0, 1]), "initial must be one-dimensional"),
        (lambda: pr.equations.Burgers([np.nan] * 8, 0.1, [0, 1]), "initial must be finite; got 8 NaN"),
        (lambda: pr.equations.Burgers(np.zeros(8), 0.1, [0, 1], np.full(8, np.inf)), "forcing must be finite"),
        (lambda: pr.equations.Burgers(np.zeros(8), 0.1, [0, 1], lambda t, x: t * x / 0 * 0), "forcing must be finite"),
        (lambda: pr.equations.Burgers(np.zeros(8), 0.1, [0, 1], np.zeros((5, 8))), "with 2 rows; got shape (5, 8)"),
        (lambda: pr.equations.Burgers(np.zeros(8) * 1j, 0.1, [0, 1]), "initial is complex"),
        (
            lambda: pr.equations.ReactionDiffusion(np.zeros((4, 4)), np.ones((4, 4)), 1, 1),
            "diffusion must be positive everywhere",
        ),
        (
            lambda: pr.equations.ReactionDiffusion(np.ones((4, 4)), np.ones((4, 5)), 1, 1),
            "forcing has shape (4, 5); expected (4, 4)",
        ),
        (
            lambda: pr.equations.ReactionDiffusion(np.ones((4, 4)), np.full((4, 4), np.nan), 1, 1),
            "forcing must be finite",
        ),
        (
            lambda: pr.equations.ReactionDiffusion(np.ones((4, 4)), np.ones((4, 4)), -1, 1),
            "linear must be one number ≥ 0",
        ),
        (
            lambda: pr.equations.ReactionDiffusion(np.ones((4, 4)), np.ones((4, 4)), 1, -1),
            "cubic must be one number ≥ 0",
        ),
        (lambda: pr.equations.ReactionDiffusion(np.ones((2, 2)), np.ones((2, 2)), 1, 1), "at least one interior node"),
        (lambda: pr.Correction(count=0), "whole number ≥ 1"),
        (lambda: pr.Correction(backtrack=(-1.0,)), "multipliers ≥ 0"),
        (lambda: pr.Correction(step=0.5, backtrack=(1.0,)), "either step or backtrack"),
    ],
)
def test_bad_physics(build, message):
    with np.errstate(all="ignore"), pytest.raises(ValueError, match=re.escape(message)):
        build()


def test_under_resolved_fields_warn_and_are_noted():
    zigzag = np.array([1.0, -1.0] * 16)
    for build in (
        lambda u: pr.equations.Burgers(u, 0.1, [0.0, 0.1], points=32),
        lambda u: SineGordon(u, np.zeros(32), [0.0, 0.1], points=32),
    ):
        with pytest.warns(pr.equations.UnderResolvedWarning, match="initial is under-resolved"):
            build(zigzag)
        smooth = build(np.sin(np.arange(32) * 2 * np.pi / 32))  # no warning: warnings are errors here
        rows = np.broadcast_to(np.asarray(smooth.initial), smooth.state_shape)
        ranking = pr.rank(smooth, {"rough": rows + 0.2 * zigzag, "smooth": rows})
        assert any(note == "rough: under-resolved on this grid" for note in ranking.notes)


BUILDERS = {
    "burgers": lambda u: Burgers(u, 0.1, [0.0, 0.01], points=len(u)),
    "sine-gordon": lambda u: SineGordon(u, np.zeros(len(u)), [0.0, 0.01], points=len(u)),
    "its velocity": lambda u: SineGordon(np.zeros(len(u)), u, [0.0, 0.01], points=len(u)),
}


@pytest.mark.parametrize("name", BUILDERS)
def test_constants_do_not_warn_and_noise_does(name):
    noise = np.random.default_rng(0).standard_normal(64)
    for constant in (0.0, 0.1, 1 / 3, -7e-3):
        BUILDERS[name](np.full(64, constant))  # warnings are errors here
        BUILDERS[name](np.full(64, constant or 1.0) + 1e-17 * noise)
    with pytest.warns(UnderResolvedWarning, match=r"under-resolved.*64 points"):
        BUILDERS[name](noise)
    with pytest.warns(UnderResolvedWarning):
        BUILDERS[name](1.0 + 1e-6 * noise)  # small, but far above round-off


def test_one_rough_row_is_enough():
    x = np.arange(64) * 2 * np.pi / 64
    rows = np.stack([np.sin(x), np.cos(3 * x), np.random.default_rng(0).standard_normal(64)])
    assert not under_resolved(rows[:2])
    assert under_resolved(rows)
