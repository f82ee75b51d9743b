"""What explicit steps can carry: a refused number of substeps names one that works; fields a grid cannot carry warn."""

import re
import warnings

import jax.numpy as jnp
import numpy as np
import pytest

import physrank as pr
from physrank.equations import (
    Burgers,
    CompressibleFlow,
    DiffusionReaction,
    ExponaxStepper,
    SineGordon,
    UnderResolvedWarning,
    conservative,
)
from physrank.equations._checks import under_resolved
from physrank.ranking.diagnosis import LARGE_CORRECTION


def solve(problem):
    state, failed = pr.scorers.DirectSolve().solution(problem, problem.state_shape)
    assert failed is None
    assert np.all(np.isfinite(state))
    return state


def named_substeps(build):
    """What the refusal of a single substep asks for; one less must be refused too."""
    with pytest.raises(ValueError, match=r"1 substeps per row are unstable.*Use substeps=\d+ or more\.") as refused:
        build(1)
    found = re.search(r"substeps=(\d+) or more", str(refused.value))
    assert found
    number = int(found[1])
    with pytest.raises(ValueError, match=f"Use substeps={number} or more"):
        build(number - 1)
    return number


def relative_error(build, number):
    """Of the named number against eight times as many."""
    fine = solve(build(8 * number))
    return np.linalg.norm(solve(build(number)) - fine) / np.linalg.norm(fine)


# -- compressible flow -------------------------------------------------------------------------------------------------


def tube(substeps, times=np.linspace(0, 0.2, 9), **options):  # noqa: B008 - never changed
    x = (np.arange(64) + 0.5) / 64
    start = np.stack([np.where(x < 0.5, 1.0, 0.125), 0 * x, np.where(x < 0.5, 1.0, 0.1)])
    return CompressibleFlow(conservative(start, 1.4), times, "outflow", gamma=1.4, substeps=substeps, **options)


def test_flow_names_substeps_that_work():
    number = named_substeps(tube)
    assert relative_error(tube, number) < 0.05
    assert number <= 6  # not by asking for far too many: two are unstable


@pytest.mark.parametrize("shear, bulk", [(0.05, 0.0), (0.5, 0.25), (0.0, 0.3)])
def test_viscous_flow_names_substeps_that_work(shear, bulk):
    """Also where the density jumps: a light cell next to a heavy one takes up momentum through a heavy face."""
    build = lambda n: tube(n, np.linspace(0, 0.05, 3), shear=shear, bulk=bulk)  # noqa: E731
    number = named_substeps(build)
    assert number > 5 * named_substeps(tube)
    assert relative_error(build, number) < 0.05


def test_the_viscous_limit_is_sharp_in_uniform_gas():
    """Diffusion alone: SSPRK2 is stable up to Δt = h² / (2ν), ν = 4η/3 + ζ, halved in two dimensions."""
    for dims in (1, 2):
        rest = np.stack([np.ones((16,) * dims), *[np.zeros((16,) * dims)] * dims, np.full((16,) * dims, 1e-8)])
        build = lambda n, rest=rest: CompressibleFlow(  # noqa: E731
            conservative(rest, 1.4), [0.0, 0.1], "periodic", gamma=1.4, shear=0.3, bulk=0.1, substeps=n
        )
        assert named_substeps(build) == int(np.ceil(0.1 * 2 * dims * 0.5 * 16**2 + 1e-2))


def test_candidates_with_faster_waves_are_noted():
    problem = tube(4)
    rows = solve(problem)
    fast = rows.copy()
    fast[4, 2] *= 9  # three times the speed of sound
    notes = pr.rank(problem, {"calm": rows, "fast": fast}, allow_unresolved=True).notes
    assert any(re.match(r"fast: its waves need substeps=\d+: the flow is unstable around it", note) for note in notes)
    assert not any(note.startswith(("calm", "all")) for note in notes)


def test_flow_refuses_other_shapes_and_lengths():
    start = np.stack([np.ones((4, 6)), np.zeros((4, 6)), np.zeros((4, 6)), np.ones((4, 6))])
    with pytest.raises(ValueError, match=r"as many cells along every axis, shape \(4, n, n\); got \(4, 4, 6\)"):
        CompressibleFlow(start, [0, 0.01], "periodic")
    for length in (0.0, -1.0):
        with pytest.raises(ValueError, match="length must be positive"):
            CompressibleFlow(start[:, :, :4], [0, 0.01], "periodic", length=length)


# -- the others --------------------------------------------------------------------------------------------------------


def test_burgers_names_substeps_that_work():
    build = lambda n: Burgers(lambda x: 2 * np.sin(x), 0.05, np.linspace(0, 1, 5), substeps=n)  # noqa: E731
    number = named_substeps(build)
    assert relative_error(build, number) < 1e-3
    assert number <= 30  # |u| k Δt = 2.8 with k = 128 and |u| = 2
    # A force speeds the flow up later; candidates that show it are named.
    forced = Burgers(lambda x: 0.1 * np.sin(x), 0.05, np.linspace(0, 1, 5), lambda t, x: 2 * np.cos(x) + 0 * t)
    faster = np.linspace(0.1, 2, 5)[:, None] * np.sin(forced.grid.axes[0])
    assert forced.concerns(faster) == ["its speeds need substeps=23: the flow is unstable around it"]
    assert forced.concerns(np.tile(faster[0], (5, 1))) == []


def test_sine_gordon_names_substeps_that_keep_the_energy():
    build = lambda n: SineGordon(  # noqa: E731
        np.full(8, 0.1), np.zeros(8), np.linspace(0, 140, 21), points=8, length=100.0, substeps=n
    )
    number = named_substeps(build)
    u, v = np.moveaxis(solve(build(number)), 1, 0)
    u_x = np.fft.irfft(2j * np.pi / 100 * np.arange(5) * np.fft.rfft(u), n=8)
    energy = np.mean(v**2 / 2 + u_x**2 / 2 + 1 - np.cos(u), axis=-1)
    assert energy.max() < 1.1 * energy[0]
    assert energy.min() > 0.1 * energy[0]
    assert number <= 4  # a substep below 2 / √(1 + (π/12.5)²), seven per row


def test_diffusion_reaction_refuses_long_steps_and_no_length():
    start = np.zeros((2, 4, 4))
    with pytest.raises(ValueError, match=r"times are up to 2\.5 apart; expected less than 2"):
        DiffusionReaction(start, [0.0, 0.1, 2.6])
    DiffusionReaction(start, [0.0, 1.9])
    with pytest.raises(ValueError, match="length must be positive"):
        DiffusionReaction(start, [0.0, 0.1], length=0)


# -- resolution --------------------------------------------------------------------------------------------------------


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


def test_exponax_noise_warns():
    ex = pytest.importorskip("exponax")
    with pr.double():
        stepper = ex.stepper.Burgers(1, 2 * np.pi, 64, 0.01, diffusivity=0.1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for smooth in (np.full((1, 64), 1 / 3), np.sin(np.arange(64) * 2 * np.pi / 64)[None]):
            ExponaxStepper(stepper, smooth)
    with pytest.warns(UnderResolvedWarning, match="initial is under-resolved"):
        ExponaxStepper(stepper, np.random.default_rng(0).standard_normal((1, 64)))


# -- corrections that reach far ----------------------------------------------------------------------------------------

REMARK = r"the correction changes the anchor's output by (\d+)%: a linearisation may not reach that far"


def remarked(ranking):
    found = [re.match(REMARK, note) for note in ranking.notes]
    return [int(match[1]) for match in found if match]


def growing(start, rows=10):
    states = [np.asarray(start, float)]
    for _ in range(rows - 1):
        states.append(1.5 * states[-1] - 0.1 * states[-1] ** 3)
    return np.stack(states)


def test_a_correction_that_changes_the_output_strongly_is_noted():
    """Small differences grow by half per step, towards ±√5: a slightly wrong start ends on the wrong side."""
    start = 0.05 * np.array([1.0, 1.2, 0.9])
    problem = pr.Marching(lambda u: 1.5 * u - 0.1 * u**3, start)
    astray = {"a": growing(-start), "b": growing(-0.9 * start)}
    ranking = pr.rank(problem, astray, task=pr.tasks.terminal(), allow_unresolved=True)
    anchor = np.mean([rows[-1] for rows in astray.values()], axis=0)
    change = np.linalg.norm(ranking.state[-1] - anchor) / np.linalg.norm(anchor)
    assert change > LARGE_CORRECTION
    assert remarked(ranking) == [pytest.approx(100 * change, abs=1)]
    near = {"a": growing(1.01 * start), "b": growing(0.98 * start)}
    assert remarked(pr.rank(problem, near, task=pr.tasks.terminal())) == []


def test_the_note_is_about_the_output_that_is_compared():
    """Only the last of three components grows: a task that looks at the others has nothing to note."""
    start = np.array([1.0, 1.0, 0.01])
    growth = jnp.array([1.0, 1.0, 2.0])
    problem = pr.Marching(lambda u: growth * u, start)
    rows = np.stack([np.array([1.0, 1.0, 0.01 * 2.0**n]) for n in range(5)])
    wrong = {"a": rows * np.array([1.0, 1.0, 0.1]), "b": rows * np.array([1.0, 1.01, 0.2])}
    last, others = (pr.tasks.linear(lambda s, i=i: s[-1, i]) for i in (slice(2, 3), slice(0, 2)))
    ranking = pr.rank(problem, wrong, task=last)
    assert remarked(ranking) == [567]  # 0.15 of the truth, corrected to all of it
    assert remarked(ranking.rescore(others)) == []
    assert remarked(pr.rank(problem, wrong)) == []  # the whole state hardly changes
