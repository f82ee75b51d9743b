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


def explicit(kind, speed, substeps):
    """Each equation whose scheme has a stability limit, with waves of about the given speed."""
    x, times = np.linspace(0, 1, 32, endpoint=False), np.linspace(0, 0.5, 3)
    wave = np.sin(2 * np.pi * x)
    options = {"length": 1.0, "substeps": substeps}
    if kind == "burgers":
        return Burgers(speed * wave, 0.01, times, points=96, **options)
    if kind == "sine-gordon":
        return SineGordon(wave, 0 * x, times, speed=speed, points=96, **options)
    gas = pr.equations.conservative(np.stack([1 + 0 * x, 0 * x, speed**2 * (1 + 0.1 * wave)]), 5 / 3)
    return pr.equations.CompressibleFlow(gas, times, "periodic", **options)


@pytest.mark.parametrize("kind", ["burgers", "sine-gordon", "compressible-flow"])
def test_automatic_substeps_follow_the_data(kind):
    """Twice as fast, about twice as many; always more than the least that is stable, and not many times more."""
    slow, fast = (explicit(kind, speed, "auto").substeps for speed in (2.0, 4.0))
    assert 1.7 <= fast / slow <= 2.3
    with pytest.raises(ValueError, match="unstable") as refused:
        explicit(kind, 4.0, 1)
    needed = int(re.search(r"substeps=(\d+)", str(refused.value)).group(1))
    assert needed < fast <= 2.5 * needed
    solved, failed = pr.scorers.DirectSolve().solution(problem := explicit(kind, 2.0, "auto"), problem.state_shape)
    assert failed is None and np.isfinite(solved).all()


def test_what_automatic_cannot_be():
    with pytest.raises(ValueError, match="a whole number ≥ 1 or \"auto\"; got 'Auto'"):
        explicit("burgers", 1.0, "Auto")
    with pytest.raises(ValueError, match="units of times"):
        explicit("burgers", 1e6, "auto")


@pytest.mark.parametrize(
    "kind", ["Burgers", "SineGordon", "DiffusionReaction", "ReactionDiffusion", "CompressibleFlow"]
)
def test_misspelt_keywords_name_the_nearest(kind):
    with pytest.raises(TypeError, match=f"{kind} has no argument lenght=. Did you mean length="):
        getattr(pr.equations, kind)(lenght=1.0)  # before the missing ones, which are many
