"""No certificate of diffusion–reaction is false: two cells by two, the trapezoidal solution in many digits."""

import numpy as np

import physrank as pr
from physrank.equations import DiffusionReaction
from trapezoids import CELLS, trapezoid_in_many_digits
from trials import Verdict, distance, judged, lane, mp, rivals, terminal, uneven

ROWS = 8


def trial(random):
    """Around rest, where the reaction is nilpotent, and far from it; the solution itself, rounded, as the anchor."""
    initial = random.choice([1e-200, 1e-12, 0.1, 1.0, 3.0, 100.0]) * random.standard_normal((2, CELLS, CELLS))
    times = 10.0 ** random.uniform(-1, 1) * np.concatenate([[0.0], np.cumsum(random.uniform(0.2, 1, ROWS))]) / ROWS
    problem = DiffusionReaction(
        initial,
        times,
        diffusion=tuple(10.0 ** random.uniform(-4, 2, 2) * random.choice([1e-200, 1.0, 1.0, 1.0])),
        threshold=random.choice([0.0, 5e-3, 10.0]),
        length=float(random.choice([0.1, 2.0, 10.0])),  # compiled for each
    )
    rows = trapezoid_in_many_digits(problem)
    if rows is None:
        return Verdict()
    truth, found = list(rows[-1]), Verdict()
    exact = np.array([[float(x) for x in row] for row in rows]).reshape(ROWS + 1, 2, CELLS, CELLS)
    for noise in (0.0, 1e-14, 1e-8, 1e-2):
        state = exact.copy()
        state[1:] += noise * random.standard_normal(state[1:].shape)
        outputs = rivals(random, truth, state[-1]).reshape(-1, 2, CELLS, CELLS)
        ranking = terminal(problem, state, outputs, uneven(random, outputs.shape[1:]))
        certificate = pr.certify(problem, ranking)
        flat, weights = ranking.outputs.reshape(-1, 2 * CELLS**2), np.ravel(ranking.space.weights)
        off = distance(truth, state[-1]) * mp(problem.length) / CELLS
        found += judged(certificate, flat, truth, weights).claiming(certificate.enclosure.state_bound >= off)
    return found


def test_a_few_trials():
    found = lane(trial, 16, 1)
    assert found.false == 0
    assert found.decided > 60  # not for want of certificates
