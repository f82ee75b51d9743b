"""The enclosed march of your own map: against the map in many digits, closed with a reason where it cannot be proved."""

import jax.numpy as jnp
import mpmath
import numpy as np
import pytest

import physrank as pr
from physrank.certificates import EnclosedMarch
from physrank.certificates.enclosures.rounding import Interval
from physrank.certificates.own_marching import Tube
from trials import Judged, judged, mp

M, ROWS = 6, 12
START = np.sin(2 * np.pi * np.arange(M) / M) + 0.3


def step(u, data):
    return u + (jnp.roll(u, 1) - 2 * u + jnp.roll(u, -1)) / 4 + (u - u**3) / 64 + data


def march_in_many_digits(data):
    u = [mp(float(v)) for v in START]
    rows = [u]
    for _ in range(ROWS - 1):
        u = [
            u[k] + (u[k - 1] - 2 * u[k] + u[(k + 1) % M]) / 4 + (u[k] - u[k] ** 3) / 64 + mp(float(data[k]))
            for k in range(M)
        ]
        rows.append(u)
    return [v for row in rows for v in row]


def library_of(truth):
    random = np.random.default_rng(0)
    ramp = np.linspace(0, 1, ROWS)[:, None]
    return {f"m{k}": truth + 0.02 * ramp * random.standard_normal(M) for k in range(5)}


@pytest.mark.parametrize("task", [None, pr.tasks.terminal(), pr.tasks.linear(lambda u: u[3:, 1] - u[3:, 2])])
@pytest.mark.parametrize("corrections", [1, 2])
def test_it_is_found_without_being_asked_for(corrections, task):
    data = np.linspace(0, 0.01, M)
    problem = pr.Marching(step, START, data)
    with mpmath.workdps(40):
        exact = march_in_many_digits(data)
        truth = np.array([float(v) for v in exact]).reshape(ROWS, M)
        ranking = pr.rank(problem, library_of(truth), corrections=corrections, task=task)
        certificate = pr.certify(problem, ranking)
        assert certificate.kind == "validated" and certificate.settled
        seen = exact
        if ranking.task.name == "terminal":
            seen = exact[-M:]
        elif ranking.task.name == "linear":
            seen = [exact[n * M + 1] - exact[n * M + 2] for n in range(3, ROWS)]
        outputs = ranking.outputs.reshape(len(ranking.outputs), -1)
        weights = np.ravel(np.broadcast_to(ranking.space.weights, ranking.outputs.shape[1:]))
        assert judged(certificate, outputs, seen, weights).false == 0
        off = [t - mp(float(s)) for t, s in zip(exact, np.ravel(ranking.state), strict=True)]
        distance = mpmath.sqrt(mpmath.fsum(e**2 for e in off))
    assert distance <= certificate.enclosure.state_bound <= max(20 * float(distance), 1e-13)


def forced(u, row, time):
    return u * 0.5 + row + 0.1 * jnp.cos(time)


def test_forcing_and_times():
    times, force = np.linspace(0, 1, 4), np.arange(3.0)[:, None] * np.ones(2)
    problem = pr.Marching(forced, np.ones(2), forcing=force, times=times)
    rows = [np.ones(2)]
    for n in range(3):
        rows.append(rows[-1] * 0.5 + force[n] + 0.1 * np.cos(times[n]))
    truth = np.stack(rows)
    ramp = np.arange(4.0)[:, None] / 3
    certificate = pr.certify(problem, pr.rank(problem, {"a": truth + 0.01 * ramp, "b": truth - 0.02 * ramp}))
    assert certificate.best == "a" and certificate.enclosure.state_bound < 1e-13


def of(problem, state, **settings):
    ranking = Judged(problem, state, np.stack([state, state + 1, state - 0.5]), pr.tasks.field())
    found = EnclosedMarch(**settings)(problem, ranking)
    assert not found.gaps.signs.any() and found.state_bound == np.inf
    return " ".join(str(a) for a in found.assumptions if not a.holds)


def test_what_cannot_be_proved_says_why():
    rows = np.ones((5, 2))
    assert "at most 3 entries" in of(pr.Marching(lambda u: u, np.ones(2)), rows, most=3)
    assert "explicit" in of(pr.Marching(lambda v, u: v - u, np.ones(2), implicit=True), rows)
    assert "explicit" in of(pr.Stationary(lambda u: u), rows)
    assert "'fft'" in of(pr.Marching(lambda u: jnp.fft.irfft(jnp.fft.rfft(u), n=2), np.ones(2)), rows)
    growing = pr.Marching(lambda u: 1e30 * u**3, np.full(2, 1e20))
    assert "stay bounded" in of(growing, np.full((12, 2), 1e20))


def test_round_off_is_not_zero_where_it_grows():
    """The marched solution as the anchor: its defect is rounding, which doubles at every step."""
    problem = pr.Marching(lambda u: 4 * u * (1 - u), np.array([0.3]))
    rows = [0.3]
    for _ in range(40):
        rows.append(4 * rows[-1] * (1 - rows[-1]))
    state = np.array(rows)[:, None]
    with mpmath.workdps(60):
        u = mp(0.3)
        for _ in range(40):
            u = 4 * u * (1 - u)
        off = abs(u - mp(float(state[-1, 0])))
    ranking = Judged(problem, state, [state[-1] + 1e-5, state[-1] - 1e-5], pr.tasks.terminal())
    assert pr.certify(problem, ranking).enclosure.state_bound >= off > 1e-7


def test_the_derivative_counts_all_over_the_box():
    """u ↦ u² from 1.1 beside a trajectory at rest at 1: the next error is 0.21, more than the derivative at 1 says."""
    tube = Tube.of(pr.Marching(lambda u: u**2, np.array([1.1])), np.ones((2, 1)))
    assert 0.21 <= tube.radii[1] <= 0.23 and tube.entries[1, 0] >= 0.21


def test_functionals_know_the_first_row_and_the_second_order():
    """e = (1, ½, ¼) of u ↦ u/2 beside zero; e = (0.1, 0.21) of u ↦ u² beside 1, where the derivative at 1 says 0.2."""
    halved = Tube.of(pr.Marching(lambda u: 0.5 * u, np.ones(1)), np.zeros((3, 1)))
    found = halved.functionals(Interval.of(np.array([[1.0, 2.0, 4.0]])))
    assert found.low[0] <= 3 <= found.high[0] and found.high[0] - found.low[0] < 1e-13
    squared = Tube.of(pr.Marching(lambda u: u**2, np.array([1.1])), np.ones((2, 1)))
    found = squared.functionals(Interval.of(np.array([[0.0, 1.0]])))
    assert 0.17 < found.low[0] <= 0.21 <= found.high[0] < 0.23
