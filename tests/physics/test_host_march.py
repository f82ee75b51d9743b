"""Black-box steps: the same ranking as the same step in JAX, also in time, with complex states and in single precision."""

import jax.numpy as jnp
import numpy as np
import pytest

import physrank as pr
from physrank import compute
from problems import TIMES, host_step, host_timed_step, timed_step


@pytest.fixture
def promotion():
    return "standard"  # complex states mix with real coefficients


RNG = np.random.default_rng(0)
INITIAL = RNG.standard_normal(12)
FORCING = 0.1 * RNG.standard_normal((5, 12))


def jax_step(u, data, forcing):
    return u - 0.1 * data * (u**3 - jnp.roll(u, 1)) + forcing


def marched(step, initial, rows, *more):
    states = [initial]
    for n in range(rows - 1):
        states.append(step(states[-1], *(given[n] if np.ndim(given) else given for given in more)))
    return np.stack(states)


def library(truth):
    noise = RNG.standard_normal((3, *truth.shape)) + (
        1j * RNG.standard_normal(truth.shape) if truth.dtype.kind == "c" else 0
    )
    return {name: truth + size * noise[k] for k, (name, size) in enumerate({"a": 0.01, "b": 0.05, "c": 0.02}.items())}


TRUTH = marched(host_step, INITIAL, 6, 0.8, FORCING)
LIBRARY = library(TRUTH)


@pytest.mark.parametrize("effort", ["auto", "response", "solve"])
@pytest.mark.parametrize("anchor", [None, "mean"])
def test_the_same_as_the_step_in_jax(effort, anchor):
    problems = (
        pr.Marching(host_step, INITIAL, 0.8, forcing=FORCING, host=True),
        pr.Marching(jax_step, INITIAL, 0.8, forcing=FORCING),
    )
    found, same = (pr.rank(problem, LIBRARY, effort=effort, anchor=anchor) for problem in problems)
    np.testing.assert_allclose(found.scores, same.scores, rtol=1e-6)
    assert found.order == ["a", "c", "b"] and found.settled and not found.doubts


def test_everything_that_takes_a_march_takes_it():
    problem = pr.Marching(host_step, INITIAL, 0.8, forcing=FORCING, host=True)
    same = pr.Marching(jax_step, INITIAL, 0.8, forcing=FORCING)
    rankings = list(pr.rank_panel([problem] * 2, [LIBRARY] * 2, task=pr.tasks.terminal()))
    assert pr.select(rankings).best == "a"
    assert pr.check(problem, TRUTH).passes and not pr.check(problem, TRUTH * 1.2).passes
    doubted = [pr.rank(p, LIBRARY, uncertainty={"data": 0.05}).data_uncertainty for p in (problem, same)]
    np.testing.assert_allclose(*doubted, rtol=1e-5, atol=1e-12)
    assert pr.rank(problem, LIBRARY, corrections=2).corrections == 2
    np.testing.assert_allclose(
        problem.glance(TRUTH * 1.1), compute.run(pr.Marching.glance, same, TRUTH * 1.1), rtol=1e-9
    )
    with pytest.raises(ValueError, match="forcing has 5 rows"):
        pr.rank(problem, np.zeros((2, 4, 12)))


def test_coefficients_that_depend_on_time():
    truth = marched(host_timed_step, INITIAL, 6, 0.8, TIMES)
    candidates = library(truth)
    for step, host in ((timed_step, False), (host_timed_step, True)):
        ranking = pr.rank(pr.Marching(step, INITIAL, 0.8, times=TIMES, host=host), candidates, corrections=3)
        np.testing.assert_allclose(ranking.state, truth, atol=1e-9)
    plain = pr.Marching(lambda u, t: u * jnp.exp(-t), INITIAL, times=TIMES)
    np.testing.assert_allclose(
        pr.rank(plain, candidates).state, marched(lambda u, t: u * np.exp(-t), INITIAL, 6, TIMES), atol=1e-9
    )
    with pytest.raises(ValueError, match="times has 6 rows"):
        pr.rank(plain, np.zeros((2, 4, 12)))
    with pytest.raises(ValueError, match=r"step will be called as step\(state, time\)"):
        pr.Marching(lambda u: u, INITIAL, times=TIMES)


def test_a_noisy_step_ranks_and_says_so():
    noisy = pr.Marching(lambda u: np.round(host_step(u, 0.8, FORCING[0]), 3), INITIAL, host=True)
    ranking = pr.rank(noisy, LIBRARY)
    assert "noisy or has kinks" in " ".join(ranking.doubts)
    given = pr.rank(pr.Marching(lambda u: 0.9 * u, INITIAL, host=True, difference=1e-3), LIBRARY)
    assert given.problem.memory.size == 1e-3 and "noisy" not in " ".join(given.doubts)


def test_a_step_may_change_its_argument_and_return_lists():
    def rude(u):
        u *= 0.9
        return list(u)

    found = pr.rank(pr.Marching(rude, INITIAL, host=True), LIBRARY)
    np.testing.assert_allclose(
        found.scores, pr.rank(pr.Marching(lambda u: 0.9 * u, INITIAL), LIBRARY).scores, rtol=1e-8
    )
    np.testing.assert_array_equal(found.problem.initial, INITIAL)


def test_what_a_black_box_cannot_do():
    large = pr.Marching(lambda u, data: data * u, np.ones(2000), 0.9, host=True)
    with pytest.raises(ValueError, match="a difference for each of its 2000 numbers"):
        pr.rank(large, {"a": np.ones((2, 2000)), "b": np.zeros((2, 2000))}, uncertainty={"data": 0.1})


def schroedinger(xp):
    wavenumbers = np.fft.fftfreq(16, 1 / 16)
    free = np.exp(-0.01j * wavenumbers**2)
    x = np.linspace(0, 2 * np.pi, 16, endpoint=False)

    def step(psi):
        psi = xp.fft.ifft(xp.asarray(free) * xp.fft.fft(psi))
        return psi * xp.exp(-0.02j * (xp.abs(psi) ** 2 + np.cos(x)).astype(complex))

    return step, np.exp(np.sin(x) + 1j * x)


@pytest.mark.parametrize(
    "options",
    [{}, {"grid": pr.Grid.periodic(16, 2 * np.pi)}, {"host": True}],
    ids=lambda given: getattr(given, "__name__", str(given)),
)
def test_complex_states_as_they_are(options):
    step, psi = schroedinger(np if options.get("host") else jnp)
    truth = marched(schroedinger(np)[0], psi, 8)
    candidates = library(truth)
    ranking = pr.rank(pr.Marching(step, psi, **options), candidates, corrections=3)
    errors = np.array([np.mean(np.abs(v - truth) ** 2) for v in candidates.values()])
    errors *= 8 * 2 * np.pi if "grid" in options else 1.0  # the grid's metric adds up rows
    np.testing.assert_allclose(ranking.scores, errors, rtol=1e-4)
    assert ranking.order == ["a", "c", "b"] and ranking.settled and ranking.state.dtype == np.complex128
    once = pr.rank(pr.Marching(step, psi, **options), candidates, effort="response")
    assert pr.adjoint_gap(once, "a", "b") == pytest.approx(float(once.gaps[0, 1]), rel=1e-6)
    ranking.to_dict(), ranking.to_xarray(), ranking.plot()
