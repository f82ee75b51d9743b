"""Burgers flows whose solution is known, and what an enclosure of them must satisfy."""

import numpy as np

import physrank as pr
from physrank.geometry.lifts import lift

NU, POINTS = 0.1, 96
TIMES = np.linspace(0, 0.5, 9)
GRID, FINE = (np.arange(n) * 2 * np.pi / n for n in (POINTS, 2048))
T = TIMES[:, None] / TIMES[-1]


def cole_hopf(c):
    """u = −2ν φ_x / φ with φ = c + e^{−νt} cos x solves u_t + u u_x = ν u_xx; steeper as c comes closer to one."""

    def u(t, x):
        decay = np.exp(-NU * t)
        return 2 * NU * decay * np.sin(x) / (c + decay * np.cos(x))

    return u


def problem_of(u, forcing=None, viscosity=NU, substeps=4):
    return pr.equations.Burgers(lambda x: u(0.0, x), viscosity, TIMES, forcing, points=POINTS, substeps=substeps)


def library_of(u, size=0.15):
    """Three smooth candidates, wrong by about this much."""
    exact = u(TIMES[:, None], GRID)
    return {
        "loud": (1 + size * T) * exact,
        "wavy": exact + size * T * (0.6 * np.sin(2 * GRID) + 0.3 * np.sin(5 * GRID)),
        "late": exact + size * T**2 * np.cos(3 * GRID) - 0.5 * size * T * np.cos(GRID),
    }


def fine(row):
    return lift(row, (len(FINE),), "fourier")


def norm(values):
    return np.sqrt(2 * np.pi * np.mean(values**2, axis=-1))


def true_gaps(outputs, truth):
    """R_j − R_i in L², on a grid that resolves everything."""
    losses = norm(fine(outputs) - truth) ** 2
    return losses[None, :] - losses[:, None]


def holds(enclosure, ranking, truth, slack=1e-13):
    """The state's true error is within its bound, and every true gap in its interval; `slack`: the truth's own error."""
    assert all(a.holds for a in enclosure.assumptions)
    error = norm(fine(ranking.state[-1]) - truth)
    assert error <= enclosure.state_bound + slack
    gaps = true_gaps(ranking.outputs, truth)
    room = 1e-13 + slack * norm(fine(ranking.outputs)).max()
    assert np.all((enclosure.gaps.low - room <= gaps) & (gaps <= enclosure.gaps.high + room))
    assert np.all(enclosure.gaps.signs * np.where(np.abs(gaps) > room, np.sign(gaps), 0) >= 0)
    return error
